import { toAuditEntry } from '../audit-row.js'
import {
  AGENT_COLUMNS,
  type Row,
  toAgent,
  toCounts,
  toGrant,
  toKey,
  toLimit,
  toTombstone,
  toTrustEntry,
} from '../rows.js'
import type { SubjectItem, SubjectKind } from '../subject-store.js'
import { toTask } from '../task-rows.js'

/** A table with rows about subjects. Parameters are written `:name`, see `SubjectNames`. */
export interface SubjectTable {
  readonly kind: SubjectKind
  readonly table: string
  /** The rows of the subject. */
  readonly where: string
  /** An expression that is unique among the rows of the subject, and orders them. */
  readonly key: string
  readonly columns?: string
  readonly from?: string
  readonly show: (row: Row) => SubjectItem['value']
}

/** How a subject is named in different places. */
export interface SubjectNames {
  readonly subject: string
  /** The rule of its limits, and the key of its daily usage. */
  readonly limit: string
  /** The start of the key of a domain's claim, which is a JSON array of owner and domain. */
  readonly claim: string
  /** Members of a claim, and of an offer to hand an agent over, as JSON text. */
  readonly owner: string
  readonly from: string
  readonly to: string
  /** A member of the list of those who asked for a site to be crawled. */
  readonly by: string
}

export const namesOf = (subject: string): SubjectNames => {
  const text = JSON.stringify(subject)
  return {
    subject,
    limit: `subject:${subject}`,
    claim: `[${text},`,
    owner: `"owner":${text}`,
    from: `"from":${text}`,
    to: `"to":${text}`,
    by: `{"by":${text}}`,
  }
}

/** SQL for "the text contains"; LIKE ignores case in SQLite. */
const contains = (text: string, part: string): string => `replace(${text}, ${part}, '') <> ${text}`

/** Every table that has data about subjects, except the audit log. */
export const SUBJECT_TABLES: readonly SubjectTable[] = [
  {
    kind: 'agent',
    table: 'agents',
    where: 'a.owner = :subject',
    key: 'a.number',
    columns: AGENT_COLUMNS,
    from: 'agents a JOIN presence p ON p.number = a.number',
    show: (row) => ({ ...toAgent(row) }),
  },
  {
    kind: 'tombstone',
    table: 'tombstones',
    where: 'owner = :subject',
    key: 'number',
    show: (row) => ({ ...toTombstone(row) }),
  },
  {
    kind: 'key',
    table: 'keys',
    where: 'subject = :subject',
    key: 'id',
    show: (row) => {
      const { hash: _, ...shown } = toKey(row)
      return { ...shown }
    },
  },
  {
    kind: 'grant',
    table: 'grants',
    where: '(subject = :subject OR agent_owner = :subject)',
    key: 'id',
    show: (row) => ({ ...toGrant(row) }),
  },
  {
    kind: 'task',
    table: 'tasks',
    where: 'owner = :subject',
    key: 'id',
    show: (row) => {
      // The request is encrypted, and may have credentials.
      const { request: _request, holder: _holder, heldUntil: _until, answer, ...shown } = toTask(row)
      return { ...shown, ...(answer !== undefined && { answer: JSON.parse(answer) }) }
    },
  },
  {
    kind: 'rating',
    table: 'ratings',
    where: 'subject = :subject',
    key: 'agent',
    show: ({ agent, rating, comment, at }) => ({
      agent: String(agent),
      rating: Number(rating),
      ...(typeof comment === 'string' && { comment: JSON.parse(comment) }),
      at: Number(at),
    }),
  },
  {
    kind: 'idempotent_response',
    table: 'idempotency',
    where: 'client = :subject',
    key: `length(agent) || ' ' || agent || ' ' || key`,
    show: ({ agent, key, at, expires_at: expiresAt, response }) => ({
      agent: String(agent),
      key: String(key),
      at: Number(at),
      expiresAt: Number(expiresAt),
      ...(typeof response === 'string' && { response: JSON.parse(response) }),
    }),
  },
  { kind: 'limit', table: 'limits', where: 'id = :limit', key: 'id', show: (row) => ({ ...toLimit(row) }) },
  {
    kind: 'usage',
    table: 'usage',
    where: 'key = :limit',
    key: 'day',
    show: ({ day, calls }) => ({ day: Number(day), calls: Number(calls) }),
  },
  {
    kind: 'credential',
    table: 'credentials',
    where: 'owner = :subject',
    key: 'agent',
    show: ({ agent, at }) => ({ agent: String(agent), at: Number(at) }),
  },
  {
    kind: 'statistics',
    table: 'statistics',
    where: 'owner = :subject',
    key: `length(agent) || ' ' || agent || ' ' || operation`,
    show: (row) => ({ ...toCounts(row) }),
  },
  {
    kind: 'domain',
    table: 'trust',
    where: `kind = 'domain' AND substr(key, 1, length(:claim)) = :claim`,
    key: 'key',
    show: (row) => ({ ...toTrustEntry(row) }),
  },
  {
    kind: 'transfer',
    table: 'trust',
    where: `kind = 'transfer' AND (${contains('value', ':from')} OR ${contains('value', ':to')})`,
    key: 'key',
    show: (row) => ({ ...toTrustEntry(row) }),
  },
  {
    kind: 'site',
    table: 'trust',
    where: `kind = 'crawl' AND ${contains('value', ':by')}`,
    key: 'key',
    show: (row) => ({ ...toTrustEntry(row) }),
  },
]

/** The audit log, page by page in the order of its entries. */
export const AUDIT: SubjectTable = {
  kind: 'audit',
  table: 'audit',
  where: 'actor = :subject',
  key: 'entry',
  show: (row) => ({ ...toAuditEntry(row) }),
}
