import type { JsonObject } from '@switchboard/protocol'
import type { Row } from './rows.js'
import { replaceUnstorable } from './storable.js'
import type { AuditEntry, LoggedEntry } from './store.js'
import { StoreError } from './store-error.js'

/** The columns of the table `audit` that an entry fills, with their types in PostgreSQL. */
const COLUMNS = [
  ['at', 'bigint'],
  ['actor', 'text'],
  ['action', 'text'],
  ['outcome', 'text'],
  ['agent', 'text'],
  ['face', 'text'],
  ['request_id', 'text'],
  ['detail', 'text'],
  ['address', 'text'],
  ['times', 'bigint'],
  ['state_before', 'text'],
  ['state_after', 'text'],
] as const

/** An audit entry as both databases store it: all text can be stored, and the states are JSON text. */
export type AuditRow = { at: number } & { [Column in (typeof COLUMNS)[number][0]]?: string | number | undefined }

/** The names of the columns, for an INSERT. */
export const AUDIT_COLUMNS = COLUMNS.map(([name]) => name).join(', ')

/** The names of the columns with their types, for `json_to_recordset`. */
export const AUDIT_RECORD = COLUMNS.map((column) => column.join(' ')).join(', ')

/** The values of the columns, in the order of `AUDIT_COLUMNS`. */
export const auditValues = (row: AuditRow): unknown[] => COLUMNS.map(([name]) => row[name])

/** Replaces characters that cannot be stored: an entry may quote a caller's input, and must not be lost. */
export function toAuditRow(entry: AuditEntry): AuditRow {
  return {
    at: entry.at,
    actor: replaceUnstorable(entry.actor),
    action: replaceUnstorable(entry.action),
    outcome: entry.outcome,
    agent: cleaned(entry.agent),
    face: cleaned(entry.format),
    request_id: cleaned(entry.requestId),
    detail: cleaned(entry.detail),
    address: cleaned(entry.address),
    times: entry.count,
    state_before: entry.before && JSON.stringify(entry.before),
    state_after: entry.after && JSON.stringify(entry.after),
  }
}

const cleaned = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : replaceUnstorable(text)

export function toAuditEntry(row: Row): AuditEntry {
  return {
    at: Number(row.at),
    actor: String(row.actor),
    action: String(row.action),
    outcome: row.outcome === 'refused' ? 'refused' : 'ok',
    ...(typeof row.agent === 'string' && { agent: row.agent }),
    ...(typeof row.face === 'string' && { format: row.face }),
    ...(typeof row.request_id === 'string' && { requestId: row.request_id }),
    ...(typeof row.detail === 'string' && { detail: row.detail }),
    ...(typeof row.address === 'string' && { address: row.address }),
    ...(row.times !== null && row.times !== undefined && { count: Number(row.times) }),
    ...(typeof row.state_before === 'string' && { before: toState(row.state_before) }),
    ...(typeof row.state_after === 'string' && { after: toState(row.state_after) }),
  }
}

const toState = (text: string): JsonObject => JSON.parse(text)

/** An entry of a list that is ordered by time; the number orders entries of the same millisecond. */
export const toListedEntry = (row: Row): LoggedEntry => ({ cursor: `${row.at}.${row.entry}`, entry: toAuditEntry(row) })

/** The time and the number in a cursor of such a list. */
export function readListCursor(cursor: string): [at: number, entry: number] {
  const [, at, entry] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (at === undefined) throw new StoreError('cursor_lost', `the audit log has no entry ${cursor}`)
  return [Number(at), Number(entry)]
}
