import { setImmediate } from 'node:timers/promises'
import { readListCursor, toAuditEntry, toListedEntry } from '../audit-row.js'
import type { Row } from '../rows.js'
import { isStorable } from '../storable.js'
import { type AuditFilter, type LoggedEntry, matchesAuditFilter } from '../store.js'
import { StoreError } from '../store-error.js'
import { prepare, type Read, rowOf, rowsOf, type Sqlite } from './database.js'

/** Rows read at a time: about a millisecond, then the event loop runs. */
const PAGE = 200

export interface AuditLog {
  newest(filter: AuditFilter): Promise<LoggedEntry[]>
  after(cursor: string | undefined): Promise<LoggedEntry[]>
}

/** Reads the audit log in small pages, however few entries match: reads run in the thread that serves requests. */
export function createAuditLog(db: Sqlite, read: Read): AuditLog {
  const selectAfter = prepare(db, `SELECT * FROM audit WHERE entry > ? ORDER BY entry LIMIT ${PAGE}`)
  const selectLast = prepare(db, `SELECT seq FROM sqlite_sequence WHERE name = 'audit'`)

  return {
    async newest(filter) {
      const { subject, agent, action, text, limit } = filter
      if (!isStorable(subject, agent, action, text)) return []
      const found: LoggedEntry[] = []
      let before = filter.before
      for (;;) {
        const page = (await read(() => selectBefore(db, filter, before))).map(toListedEntry)
        found.push(...page.filter(({ entry }) => matchesAuditFilter(entry, filter)))
        before = page.at(-1)?.cursor
        if (page.length < PAGE || found.length >= limit) return found.slice(0, limit)
        await setImmediate()
      }
    },
    after: (cursor = '0') =>
      read(() => {
        const seen = /^\d{1,15}$/.test(cursor) ? Number(cursor) : Number.NaN
        // A cursor ahead of the log is from before the database was restored from a backup.
        if (!(seen <= Number(rowOf(selectLast)?.seq ?? 0)))
          throw new StoreError('cursor_lost', `the audit log has no position ${cursor}`)
        return rowsOf(selectAfter, [seen]).map((row) => ({ cursor: String(row.entry), entry: toAuditEntry(row) }))
      }),
  }
}

/** The next page, newest first, by conditions that an index serves; `newest` checks the others. */
function selectBefore(
  db: Sqlite,
  { since, until, subject, agent, action }: AuditFilter,
  before: string | undefined,
): Row[] {
  const isOnlyAction = subject === undefined && agent === undefined
  const all: [condition: string, values: unknown[]][] = [
    ['at >= ?', [since]],
    ['at < ?', [until]],
    ['actor = ?', [subject]],
    ['agent = ?', [agent]],
    ['action = ?', [isOnlyAction ? action : undefined]],
    ['(at, entry) < (?, ?)', before === undefined ? [undefined] : readListCursor(before)],
  ]
  const conditions = all.filter(([, [value]]) => value !== undefined)
  const where = conditions.length > 0 ? `WHERE ${conditions.map(([condition]) => condition).join(' AND ')}` : ''
  const select = prepare(db, `SELECT * FROM audit ${where} ORDER BY at DESC, entry DESC LIMIT ${PAGE}`)
  return rowsOf(
    select,
    conditions.flatMap(([, values]) => values),
  )
}
