import type { Row } from '../rows.js'
import type { AdministeredKind } from '../store.js'
import type { SubjectCounts, SubjectItem } from '../subject-store.js'
import { AUDIT, namesOf, SUBJECT_TABLES, type SubjectTable } from './subject-tables.js'

/** A statement for both databases; parameters are written `:name`. */
export interface SharedStatement {
  readonly sql: string
  readonly values: Readonly<Record<string, string | number | null>>
}

/** Steps of a transaction: yields statements, and gets the rows of each. The drivers run them, one in a thread, one over the network. */
export type Steps<T> = Generator<SharedStatement, T, Row[]>

/** The statement with numbered parameters, `$1` or `?1`, and their values in that order. */
export function bind({ sql, values }: SharedStatement, sign: '$' | '?'): [string, (string | number | null)[]] {
  const names: string[] = []
  const text = sql.replaceAll(/:([a-z]+)/gi, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `${sign}${names.indexOf(name) + 1}`
  })
  return [text, names.map((name) => values[name] ?? null)]
}

/** Rows in one page of an export. */
const PAGE = 200

/** One page of a table after a key, and the key to continue after. */
export function* readPage(
  { kind, table, from = table, columns = '*', where, key, show }: SubjectTable,
  subject: string,
  after: string | number | undefined,
): Steps<{ items: SubjectItem[]; last: string | number | undefined }> {
  const start = after === undefined ? '' : `AND ${key} > :after`
  const rows = yield {
    sql: `SELECT ${columns}, ${key} AS page_key FROM ${from} WHERE ${where} ${start} ORDER BY ${key} LIMIT ${PAGE}`,
    values: { ...namesOf(subject), after: after ?? null },
  }
  const last = rows.at(-1)?.page_key
  return {
    items: rows.map((row) => ({ kind, value: show(row) })),
    last: typeof last === 'number' || typeof last === 'string' ? last : undefined,
  }
}

/** All tables of an export, in order. */
export const EXPORTED: readonly SubjectTable[] = [...SUBJECT_TABLES, AUDIT]

export function* countRows(subject: string): Steps<SubjectCounts> {
  const counts: SubjectCounts = {}
  for (const { kind, table, from = table, where } of SUBJECT_TABLES) {
    const [row] = yield { sql: `SELECT count(*) AS rows FROM ${from} WHERE ${where}`, values: { ...namesOf(subject) } }
    if (Number(row?.rows) > 0) counts[kind] = Number(row?.rows)
  }
  return counts
}

/** Kinds of data that replicas read as a whole when they change, by the kinds of an export. */
const ADMINISTERED: Partial<Record<keyof SubjectCounts, AdministeredKind>> = {
  key: 'keys',
  grant: 'grants',
  credential: 'secrets',
  domain: 'trust',
  transfer: 'trust',
  site: 'trust',
  limit: 'limits',
}

function* announce(counts: SubjectCounts, at: number): Steps<void> {
  const changed = new Set(
    Object.entries(ADMINISTERED).flatMap(([kind, changes]) => (Object.hasOwn(counts, kind) ? [changes] : [])),
  )
  for (const kind of changed) yield { sql: 'INSERT INTO changes (kind, at) VALUES (:kind, :at)', values: { kind, at } }
}

/** Deletes what is kept about a subject; what others depend on stays under the name `alias`. */
export function* eraseRows(subject: string, alias: string, at: number): Steps<SubjectCounts> {
  const values = { ...namesOf(subject), alias, nextby: namesOf(alias).by, at }
  const counts = yield* countRows(subject)
  yield {
    sql: `INSERT INTO tombstones (number, id, owner, reason, marks, at)
      SELECT number, id, CAST(:alias AS text), 'removed', '{}', CAST(:at AS bigint) FROM agents WHERE owner = :subject`,
    values,
  }
  yield { sql: `UPDATE tombstones SET owner = :alias, marks = '{}' WHERE owner = :subject`, values }
  yield {
    sql: `INSERT INTO changes (kind, id, number, at)
      SELECT 'remove', id, number, CAST(:at AS bigint) FROM agents WHERE owner = :subject ORDER BY number`,
    values,
  }
  for (const table of ['presence', 'vectors'])
    yield { sql: `DELETE FROM ${table} WHERE number IN (SELECT number FROM agents WHERE owner = :subject)`, values }
  yield { sql: 'DELETE FROM agents WHERE owner = :subject', values }
  yield { sql: 'DELETE FROM ratings WHERE owner = :subject', values }
  yield { sql: 'UPDATE ratings SET subject = :alias, comment = NULL WHERE subject = :subject', values }
  yield { sql: RENAME_IN_SITES, values }
  for (const { kind, table, where } of SUBJECT_TABLES)
    if (!STAYS.has(kind)) yield { sql: `DELETE FROM ${table} WHERE ${where}`, values }
  yield* announce(counts, at)
  return counts
}

/** Handled by statements of their own. */
const STAYS: ReadonlySet<string> = new Set(['agent', 'tombstone', 'rating', 'site'])

/** With the time of the change, by which other replicas find it. */
const RENAME_IN_SITES = `UPDATE trust SET version = version + 1, at = :at, value = replace(value, :by, :nextby)
  WHERE kind = 'crawl' AND replace(value, :by, '') <> value`

/** Moves everything of a subject to another one; where there can be only one, that of the other stays. */
export function* renameRows(subject: string, to: string, at: number): Steps<SubjectCounts> {
  const next = namesOf(to)
  const values = {
    ...namesOf(subject),
    next: to,
    nextlimit: next.limit,
    nextclaim: next.claim,
    nextowner: next.owner,
    nextfrom: next.from,
    nextto: next.to,
    nextby: next.by,
    at,
  }
  const counts = yield* countRows(subject)
  const [row] = yield { sql: 'SELECT coalesce(max(revision), 0) AS revision FROM changes', values: {} }
  const revised = { ...values, revision: Number(row?.revision) }
  yield {
    sql: `INSERT INTO changes (kind, id, number, at)
      SELECT 'put', id, number, CAST(:at AS bigint) FROM agents WHERE owner = :subject ORDER BY number`,
    values,
  }
  yield {
    sql: `UPDATE agents SET owner = :next, revision = c.revision FROM changes c
      WHERE agents.owner = :subject AND c.number = agents.number AND c.revision > :revision AND c.kind = 'put'`,
    values: revised,
  }
  const moves: readonly string[] = [
    'UPDATE tombstones SET owner = :next WHERE owner = :subject',
    'UPDATE keys SET subject = :next WHERE subject = :subject',
    'UPDATE grants SET subject = :next WHERE subject = :subject',
    'UPDATE grants SET agent_owner = :next WHERE agent_owner = :subject',
    'UPDATE tasks SET owner = :next WHERE owner = :subject',
    'UPDATE statistics SET owner = :next WHERE owner = :subject',
    'UPDATE ratings SET owner = :next WHERE owner = :subject',
    'DELETE FROM credentials WHERE owner = :subject',
    'DELETE FROM ratings WHERE subject = :subject AND agent IN (SELECT agent FROM ratings WHERE subject = :next)',
    'UPDATE ratings SET subject = :next WHERE subject = :subject',
    `DELETE FROM idempotency WHERE client = :subject AND EXISTS (SELECT 1 FROM idempotency i
      WHERE i.client = :next AND i.agent = idempotency.agent AND i.key = idempotency.key)`,
    'UPDATE idempotency SET client = :next WHERE client = :subject',
    'DELETE FROM limits WHERE id = :limit AND EXISTS (SELECT 1 FROM limits l WHERE l.id = :nextlimit)',
    'UPDATE limits SET id = :nextlimit, name = :next WHERE id = :limit',
    `INSERT INTO usage (day, key, calls) SELECT day, CAST(:nextlimit AS text), calls FROM usage WHERE key = :limit
      ON CONFLICT (day, key) DO UPDATE SET calls = usage.calls + excluded.calls`,
    'DELETE FROM usage WHERE key = :limit',
    `DELETE FROM trust WHERE kind = 'domain' AND substr(key, 1, length(:claim)) = :claim AND EXISTS (SELECT 1 FROM trust t
      WHERE t.kind = 'domain' AND t.key = CAST(:nextclaim AS text) || substr(trust.key, length(:claim) + 1))`,
    `UPDATE trust SET key = CAST(:nextclaim AS text) || substr(key, length(:claim) + 1), version = version + 1,
      value = replace(value, :owner, :nextowner) WHERE kind = 'domain' AND substr(key, 1, length(:claim)) = :claim`,
    `UPDATE trust SET version = version + 1, value = replace(replace(value, :from, :nextfrom), :to, :nextto)
      WHERE kind = 'transfer' AND (replace(value, :from, '') <> value OR replace(value, :to, '') <> value)`,
    RENAME_IN_SITES,
  ]
  for (const sql of moves) yield { sql, values }
  yield* announce(counts, at)
  return counts
}

/** Entries of the audit log that are looked at in one transaction. */
const AUDIT_RANGE = 5000

/** Replaces a name in a range of the audit log; returns how many entries had it, and where to continue. */
export function* renameAuditRange(
  subject: string,
  to: string,
  { after, keepAddresses }: { after: number; keepAddresses: boolean },
): Steps<{ changed: number; last: number | undefined }> {
  const values = { subject, quoted: JSON.stringify(subject), after, until: after + AUDIT_RANGE }
  const rows = yield {
    sql: `SELECT entry, actor, detail, address, state_before, state_after FROM audit
      WHERE entry > :after AND entry <= :until AND (actor = :subject OR replace(detail, :subject, '') <> detail
        OR replace(state_before, :quoted, '') <> state_before OR replace(state_after, :quoted, '') <> state_after)
      ORDER BY entry`,
    values,
  }
  let changed = 0
  for (const row of rows) {
    const isOwn = row.actor === subject
    const renamed = {
      actor: isOwn ? to : String(row.actor),
      detail: textOf(row.detail, (text) => renameInText(text, subject, to)),
      address: isOwn && !keepAddresses ? null : textOf(row.address),
      before: textOf(row.state_before, (text) => text.replaceAll(JSON.stringify(subject), JSON.stringify(to))),
      after: textOf(row.state_after, (text) => text.replaceAll(JSON.stringify(subject), JSON.stringify(to))),
    }
    const before = [row.actor, row.detail, row.address, row.state_before, row.state_after]
    if (Object.values(renamed).every((value, i) => value === (before[i] ?? null))) continue
    changed++
    yield {
      sql: `UPDATE audit SET actor = :actor, detail = :detail, address = :address, state_before = :before,
        state_after = :after WHERE entry = :entry`,
      values: { ...renamed, entry: Number(row.entry) },
    }
  }
  const [rest] = yield { sql: 'SELECT min(entry) AS first FROM audit WHERE entry > :until', values }
  const first = rest?.first
  return { changed, last: first === null || first === undefined ? undefined : Number(first) - 1 }
}

const textOf = (value: unknown, change = (text: string): string => text): string | null =>
  typeof value === 'string' ? change(value) : null

/** Replaces a name, but not the same letters inside another one. */
function renameInText(text: string, name: string, to: string): string {
  const escaped = name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  return text.replaceAll(new RegExp(`(?<![\\w@.#-])${escaped}(?![\\w@#-]|\\.\\w)`, 'gu'), () => to)
}
