import { readListCursor, toAuditEntry, toListedEntry } from '../audit-row.js'
import { isStorable } from '../storable.js'
import type { AuditFilter, LoggedEntry } from '../store.js'
import { StoreError } from '../store-error.js'
import type { Connection } from './connect.js'

/** Entries in one page. */
const PAGE = 500

const NEWEST = `
  SELECT * FROM audit
  WHERE ($1::bigint IS NULL OR at >= $1) AND ($2::text IS NULL OR actor = $2) AND ($3::text IS NULL OR agent = $3)
    AND ($4::text IS NULL OR action = $4) AND ($5::text IS NULL OR outcome = $5)
    AND ($6::bigint IS NULL OR at < $6) AND ($7::bigint IS NULL OR (at, entry) < ($7, $8::bigint))
    AND ($9::text IS NULL
      OR strpos(lower(concat_ws(E'\\n', actor, action, agent, detail, address, request_id)), lower($9)) > 0)
  ORDER BY at DESC, entry DESC LIMIT $10`

export async function newestAudit({ query }: Connection, filter: AuditFilter): Promise<LoggedEntry[]> {
  const { since, until, subject, agent, action, outcome, text, before, limit } = filter
  if (!isStorable(subject, agent, action, text)) return []
  const [at, entry] = before === undefined ? [] : readListCursor(before)
  return (await query(NEWEST, [since, subject, agent, action, outcome, until, at, entry, text, limit])).map(
    toListedEntry,
  )
}

/**
 * Transactions commit out of order, so a page ends before the oldest one that is still open: none can add an entry before
 * the end of the page any more. The cursor is the transaction and the number of the entry.
 */
const AFTER = `
  SELECT a.*, a.xid::text || '.' || a.entry AS cursor FROM audit a
  WHERE (a.xid, a.entry) > ($1::xid8, $2::bigint) AND a.xid < pg_snapshot_xmin(pg_current_snapshot())
  ORDER BY a.xid, a.entry LIMIT ${PAGE}`

const IS_AHEAD = 'SELECT $1::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) AS it'

export async function auditAfter({ query }: Connection, cursor = '0.0'): Promise<LoggedEntry[]> {
  const lost = () => new StoreError('cursor_lost', `the audit log has no position ${cursor}`)
  if (!/^\d{1,19}\.\d{1,18}$/.test(cursor)) throw lost()
  const [xid, entry] = cursor.split('.')
  const rows = await query(AFTER, [xid, entry])
  // A cursor ahead of the log is from before the database was restored from a backup.
  if (rows.length === 0 && (await query(IS_AHEAD, [xid]))[0]?.it === true) throw lost()
  return rows.map((row) => ({ cursor: String(row.cursor), entry: toAuditEntry(row) }))
}
