import { toAuditRow } from '../audit-row.js'
import { toTrustEntry } from '../rows.js'
import { isStorable, requireStorable } from '../storable.js'
import type { TrustStore } from '../trust-store.js'
import { prepare, type Read, rowOf, rowsOf, type Sqlite } from './database.js'
import type { Writer } from './start-writer.js'

export function createTrustStore(db: Sqlite, read: Read, writer: Writer): TrustStore {
  const list = prepare(db, 'SELECT * FROM trust WHERE kind = ? AND at >= ? ORDER BY key')
  const get = prepare(db, 'SELECT * FROM trust WHERE kind = ? AND key = ?')
  return {
    list: (kind, since = 0) => read(() => rowsOf(list, [kind, since]).map(toTrustEntry)),
    get: (kind, key) =>
      read(() => {
        const row = isStorable(key) ? rowOf(get, [kind, key]) : undefined
        return row && toTrustEntry(row)
      }),
    async put(entry, audit) {
      requireStorable(entry.key)
      return writer.run('putTrust', { entry, ...(audit && { audit: toAuditRow(audit) }) })
    },
    async delete({ kind, key, version }, audit) {
      return isStorable(key) && writer.run('deleteTrust', { about: kind, key, version, audit: toAuditRow(audit) })
    },
  }
}
