import { toTrustEntry } from '../rows.js'
import { isStorable, requireStorable } from '../storable.js'
import type { TrustStore } from '../trust-store.js'
import { administer } from './administer.js'
import type { Connection } from './connect.js'

export function createTrustStore(connection: Connection): TrustStore {
  const { query } = connection
  return {
    async list(kind, since = 0) {
      const rows = await query('SELECT * FROM trust WHERE kind = $1 AND at >= $2 ORDER BY key', [kind, since])
      return rows.map(toTrustEntry)
    },
    async get(kind, key) {
      if (!isStorable(key)) return undefined
      const [row] = await query('SELECT * FROM trust WHERE kind = $1 AND key = $2', [kind, key])
      return row && toTrustEntry(row)
    },
    async put({ kind, key, version, value, at, expiresAt }, audit) {
      requireStorable(key)
      const values = [kind, key, JSON.stringify(value), at, expiresAt, version]
      if (audit) return administer(connection, 'trust', putFrom(3), values, audit)
      return (await query(`${putFrom(1)} RETURNING 1`, values)).length > 0
    },
    async delete({ kind, key, version }, audit) {
      const statement = 'DELETE FROM trust WHERE kind = $3 AND key = $4 AND version = $5'
      return isStorable(key) && administer(connection, 'trust', statement, [kind, key, version], audit)
    },
  }
}

/** Inserts version 1, or updates the expected version; the parameters start at this number. */
function putFrom(first: number): string {
  const [kind, key, value, at, expiresAt, version] = [0, 1, 2, 3, 4, 5].map((i) => `$${first + i}`)
  return `
    INSERT INTO trust AS t (kind, key, version, value, at, expires_at)
    SELECT ${kind}::text, ${key}::text, 1, ${value}::text, ${at}::bigint, ${expiresAt}::bigint
    WHERE ${version}::bigint = 0 OR EXISTS (SELECT FROM trust WHERE kind = ${kind} AND key = ${key})
    ON CONFLICT (kind, key) DO UPDATE SET version = t.version + 1, value = excluded.value, at = excluded.at,
      expires_at = excluded.expires_at
    WHERE t.version = ${version}::bigint`
}
