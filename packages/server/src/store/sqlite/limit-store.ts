import { toAuditRow } from '../audit-row.js'
import type { LimitStore } from '../limit-store.js'
import { toLimit, toUsage } from '../rows.js'
import { isStorable, requireStorable } from '../storable.js'
import { prepare, type Read, rowsOf, type Sqlite } from './database.js'
import type { Writer } from './start-writer.js'

export function createLimitStore(db: Sqlite, read: Read, writer: Writer): LimitStore {
  const list = prepare(db, 'SELECT * FROM limits ORDER BY created_at, id')
  const usage = prepare(db, 'SELECT key, calls FROM usage WHERE day = ? AND key IN (SELECT value FROM json_each(?))')
  return {
    list: () => read(() => rowsOf(list).map(toLimit)),
    async put(limit, audit) {
      requireStorable(limit.id, limit.name)
      await writer.run('putLimit', { limit, audit: toAuditRow(audit) })
    },
    async delete(id, audit) {
      return isStorable(id) && writer.run('deleteLimit', { id, audit: toAuditRow(audit) })
    },
    async addUsage(day, counts) {
      for (const { key } of counts) requireStorable(key)
      return counts.length === 0 ? [] : writer.run('addUsage', { day, counts })
    },
    usage: (day, keys) => read(() => rowsOf(usage, [day, JSON.stringify(keys)]).map(toUsage)),
  }
}
