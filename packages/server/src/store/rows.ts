import type { JsonObject } from '@switchboard/protocol'
import { DOCUMENT_FORMATS, type DocumentFormat, keepText } from '@switchboard/protocol/stored-documents'
import type { CurrentAgent } from './agent-write.js'
import type { CopyCount, CopyState, FederatedCopy } from './federation-store.js'
import type { StoredLimit, UsageCount } from './limit-store.js'
import type { StoredCredential, StoredSigningKey } from './secret-store.js'
import type { RatingTotals, StoredChoice, StoredCounts } from './statistics-store.js'
import type {
  AdministeredKind,
  Change,
  IdempotencyState,
  Lease,
  Marks,
  StoredAgent,
  StoredGrant,
  StoredKey,
  StoredVectors,
  Tombstone,
} from './store.js'
import { StoreError } from './store-error.js'
import type { TrustEntry, TrustKind } from './trust-store.js'

/** A row of either database. Both use the same column names; PostgreSQL returns bigint as text. */
export type Row = Record<string, unknown>

export const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null

/** Columns of `agents a JOIN presence p`, as `toAgent` reads them. */
export const AGENT_COLUMNS = `a.id, a.number, a.owner, a.face, a.document, a.revision, a.created_at, a.modified_at, a.marks,
  p.received_at, p.lease_seconds, p.lease_expires_at`

export function toAgent(row: Row): StoredAgent {
  const lease = toLease(row)
  return {
    id: String(row.id),
    number: Number(row.number),
    owner: String(row.owner),
    format: toFormat(row.face),
    document: toDocument(String(row.document)),
    revision: Number(row.revision),
    createdAt: Number(row.created_at),
    modifiedAt: Number(row.modified_at),
    receivedAt: Number(row.received_at),
    ...(lease && { lease }),
    marks: row.marks === '{}' ? NO_MARKS : JSON.parse(String(row.marks)),
  }
}

/** The same with the text of the document at hand. It is not enumerable: the row is compared and copied without it. */
export const toLoadedAgent = (row: Row): StoredAgent =>
  Object.defineProperty(toAgent(row), 'text', { value: String(row.document) })

/** Most agents have none: all of these share one object. */
const NO_MARKS: Marks = Object.freeze({})

function toDocument(text: string): JsonObject {
  const document: JsonObject = JSON.parse(text)
  keepText(document, () => text)
  return document
}

export function toCurrentAgent(row: Row): CurrentAgent {
  return {
    number: Number(row.number),
    owner: String(row.owner),
    revision: Number(row.revision),
    createdAt: Number(row.created_at),
    receivedAt: Number(row.received_at),
    lease: toLease(row),
  }
}

export function toTombstone(row: Row): Tombstone {
  return {
    id: String(row.id),
    number: Number(row.number),
    owner: String(row.owner),
    reason: row.reason === 'expired' ? 'expired' : 'removed',
    marks: JSON.parse(String(row.marks)),
    at: Number(row.at),
  }
}

/** Built from a record, so that the compiler requires every kind to be listed. */
const ADMINISTERED = Object.values<AdministeredKind>({
  keys: 'keys',
  grants: 'grants',
  secrets: 'secrets',
  trust: 'trust',
  limits: 'limits',
} satisfies Record<AdministeredKind, AdministeredKind>)

export function toChange(row: Row): Change {
  const revision = Number(row.revision)
  const administered = ADMINISTERED.find((kind) => kind === row.kind)
  if (administered) return { kind: administered, revision }
  return { kind: row.kind === 'remove' ? 'remove' : 'put', revision, id: String(row.id), number: Number(row.number) }
}

export function toVectors(row: Row): StoredVectors {
  return { number: Number(row.number), model: String(row.model), digest: String(row.digest), data: toBytes(row.data) }
}

/** libsql returns a Buffer for a single row and ArrayBuffers for many. */
function toBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  throw new StoreError('unavailable', 'the database contains bytes in an unexpected form')
}

export function toKey(row: Row): StoredKey {
  const expiresAt = numberOf(row.expires_at)
  return {
    id: String(row.id),
    hash: String(row.hash),
    subject: String(row.subject),
    scopes: JSON.parse(String(row.scopes)),
    ...(typeof row.names === 'string' && { names: JSON.parse(row.names) }),
    createdAt: Number(row.created_at),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

export function toGrant(row: Row): StoredGrant {
  return {
    id: String(row.id),
    subject: String(row.subject),
    scopes: JSON.parse(String(row.scopes)),
    ...(typeof row.agent === 'string' && { agent: { id: row.agent, owner: String(row.agent_owner) } }),
    ...(typeof row.tag === 'string' && { tag: row.tag }),
    createdAt: Number(row.created_at),
  }
}

export const toCredential = (row: Row): StoredCredential => ({
  agent: String(row.agent),
  owner: String(row.owner),
  secret: String(row.secret),
  at: Number(row.at),
})

export const toSigningKey = (row: Row): StoredSigningKey => ({
  id: String(row.id),
  publicKey: String(row.public_key),
  secret: String(row.secret),
  createdAt: Number(row.created_at),
})

export const toCounts = (row: Row): StoredCounts => ({
  agent: String(row.agent),
  owner: String(row.owner),
  operation: String(row.operation),
  at: Number(row.at),
  calls: Number(row.calls),
  failures: Number(row.failures),
  ms: Number(row.ms),
})

export const toRatingTotals = (row: Row): RatingTotals => ({
  agent: String(row.agent),
  owner: String(row.owner),
  count: Number(row.count),
  sum: Number(row.sum),
})

export const toChoice = (row: Row): StoredChoice => ({
  number: Number(row.number),
  term: String(row.term),
  at: Number(row.at),
  shown: Number(row.shown),
  chosen: Number(row.chosen),
})

export const toLimit = (row: Row): StoredLimit => ({
  id: String(row.id),
  kind: row.kind === 'scope' || row.kind === 'agent' ? row.kind : 'subject',
  name: String(row.name),
  values: JSON.parse(String(row.value)),
  createdAt: Number(row.created_at),
})

export const toUsage = (row: Row): UsageCount => ({ key: String(row.key), calls: Number(row.calls) })

export function toCopy(row: Row): FederatedCopy {
  const expiresAt = numberOf(row.expires_at)
  return {
    peer: String(row.peer),
    agent: String(row.agent),
    state: toCopyState(row.state),
    format: toFormat(row.face),
    document: JSON.parse(String(row.document)),
    origin: JSON.parse(String(row.origin)),
    seenAt: Number(row.seen_at),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

export const toCopyCount = (row: Row): CopyCount => ({
  peer: String(row.peer),
  state: toCopyState(row.state),
  count: Number(row.count),
})

/** An unknown state waits for a version that knows it. */
const toCopyState = (value: unknown): CopyState =>
  value === 'listed' || value === 'accepted' || value === 'rejected' ? value : 'quarantined'

export function toTrustEntry(row: Row): TrustEntry {
  const expiresAt = numberOf(row.expires_at)
  return {
    kind: toTrustKind(row.kind),
    key: String(row.key),
    version: Number(row.version),
    value: JSON.parse(String(row.value)),
    at: Number(row.at),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

const TRUST_KINDS = Object.values<TrustKind>({
  domain: 'domain',
  lease: 'lease',
  transfer: 'transfer',
  health: 'health',
  probe: 'probe',
  signature: 'signature',
  operations: 'operations',
  peer: 'peer',
  pull: 'pull',
  crawl: 'crawl',
  session: 'session',
} satisfies Record<TrustKind, TrustKind>)

function toTrustKind(value: unknown): TrustKind {
  const kind = TRUST_KINDS.find((known) => known === value)
  if (!kind) throw new StoreError('newer_version', `the database contains an unknown kind of entry: ${String(value)}`)
  return kind
}

/** The state of an idempotency key for a request with this fingerprint. */
export function toIdempotencyState(row: Row, fingerprint: string): IdempotencyState {
  if (row.fingerprint !== fingerprint) return { state: 'mismatch' }
  if (typeof row.response !== 'string') return { state: 'running' }
  return { state: 'finished', response: JSON.parse(row.response) }
}

function toLease(row: Row): Lease | undefined {
  const seconds = numberOf(row.lease_seconds)
  const expiresAt = numberOf(row.lease_expires_at)
  return seconds === undefined || expiresAt === undefined ? undefined : { seconds, expiresAt }
}

const numberOf = (value: unknown): number | undefined =>
  value === null || value === undefined ? undefined : Number(value)

function toFormat(value: unknown): DocumentFormat {
  const format = DOCUMENT_FORMATS.find((known) => known === value)
  if (!format)
    throw new StoreError('newer_version', `the database contains an agent of an unknown format: ${String(value)}`)
  return format
}
