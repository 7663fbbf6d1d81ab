import type { LimitStore } from '../limit-store.js'
import { toLimit, toUsage } from '../rows.js'
import { isStorable, requireStorable } from '../storable.js'
import { administer } from './administer.js'
import type { Connection } from './connect.js'

export function createLimitStore(connection: Connection): LimitStore {
  const { query } = connection
  return {
    async list() {
      return (await query('SELECT * FROM limits ORDER BY created_at, id')).map(toLimit)
    },
    async put({ id, kind, name, values, createdAt }, audit) {
      requireStorable(id, name)
      await administer(connection, 'limits', PUT, [id, kind, name, JSON.stringify(values), createdAt], audit)
    },
    async delete(id, audit) {
      return isStorable(id) && administer(connection, 'limits', 'DELETE FROM limits WHERE id = $3', [id], audit)
    },
    async addUsage(day, counts) {
      for (const { key } of counts) requireStorable(key)
      return counts.length === 0 ? [] : (await query(ADD_USAGE, [day, JSON.stringify(counts)])).map(toUsage)
    },
    async usage(day, keys) {
      return (await query('SELECT key, calls FROM usage WHERE day = $1 AND key = ANY ($2)', [day, keys])).map(toUsage)
    },
  }
}

const PUT = `
  INSERT INTO limits (id, kind, name, value, created_at) VALUES ($3, $4, $5, $6, $7)
  ON CONFLICT (id) DO UPDATE SET value = excluded.value, created_at = excluded.created_at`

/** All replicas lock rows in the order of their keys, so that they cannot deadlock. */
const ADD_USAGE = `
  INSERT INTO usage AS u (day, key, calls)
  SELECT $1, key, calls FROM json_to_recordset($2::json) AS c (key text COLLATE "C", calls bigint) ORDER BY key
  ON CONFLICT (day, key) DO UPDATE SET calls = u.calls + excluded.calls
  RETURNING key, calls`
