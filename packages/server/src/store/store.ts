import type { DocumentFormat, JsonObject } from '@switchboard/protocol'
import type { CopyState, FederatedCopy, FederationStore, Origin } from './federation-store.js'
import type { LimitStore } from './limit-store.js'
import type { ReplicaStore } from './replica-store.js'
import type { SecretStore } from './secret-store.js'
import type { StatisticsStore } from './statistics-store.js'
import type { SubjectCounts, SubjectItem, SubjectStore } from './subject-store.js'
import type { TaskStore } from './task-store.js'
import type { TrustStore } from './trust-store.js'

export type { CopyState, FederatedCopy, Origin, SubjectCounts, SubjectItem }

/**
 * The source of truth: registrations with their owners and lifetimes, keys and grants. There are two drivers, SQLite and
 * PostgreSQL, and one test suite for both. Times are milliseconds since 1970.
 *
 * Writes are optimistic: a write names the revision that it is based on, and returns `conflict` if the agent has changed
 * since. So replicas can share a database without locks between them.
 */
export interface Store {
  load(): Promise<Loaded>
  get(id: string): Promise<StoredAgent | undefined>
  /** Milliseconds by which this machine's clock is ahead of the store's. */
  clockAhead(): Promise<number>
  /**
   * Writes record, lease, tombstone, change log and audit entry atomically; durable when it resolves. Drivers combine
   * concurrent writes into one transaction (group commit), so that they share an fsync.
   */
  write(change: AgentWrite): Promise<WriteResult>
  /** The last removed agent with this number or id, until its tombstone is pruned. */
  tombstone(of: { number: number } | { id: string }): Promise<Tombstone | undefined>
  /**
   * Changes committed after the cursor, each exactly once, in commit order as far as the driver knows it. Throws
   * StoreError `cursor_lost` if the log does not continue there: it was pruned, or the database is another or older one,
   * such as after a restore. Load again.
   */
  changes(cursor: string): Promise<{ cursor: string; changes: Change[] }>

  keys(): Promise<StoredKey[]>
  /** With `onlyNew`, returns false and changes nothing if the id exists: two replicas may start for the first time at once. */
  putKey(key: StoredKey, audit: AuditEntry, onlyNew?: boolean): Promise<boolean>
  deleteKey(id: string, audit: AuditEntry): Promise<boolean>

  grants(): Promise<StoredGrant[]>
  putGrant(grant: StoredGrant, audit: AuditEntry): Promise<void>
  deleteGrant(id: string, audit: AuditEntry): Promise<boolean>

  /** Replaces the vectors of these agents; agents that no longer exist are ignored. */
  putVectors(vectors: readonly StoredVectors[]): Promise<void>
  /** Vectors made by one model, in batches: of all agents, or of those with these numbers. */
  vectors(model: string, numbers?: readonly number[]): AsyncIterable<StoredVectors[]>

  appendAudit(entries: AuditEntry[]): Promise<void>
  /** Newest first; the cursors are for `before`. Throws StoreError `cursor_lost` if `before` is not one. */
  audit(filter: AuditFilter): Promise<LoggedEntry[]>
  /**
   * The next entries after a position in the log, in the order in which they became visible; `undefined` for the start of
   * the log, and an empty page at its end. Whoever continues after a position misses no entry and sees none twice. Throws
   * StoreError `cursor_lost` if this log never had the position.
   */
  auditAfter(cursor: string | undefined): Promise<LoggedEntry[]>

  /** Reserves the key for the first caller; others get the state of that request (C-61). */
  beginIdempotent(claim: IdempotencyClaim): Promise<IdempotencyState>
  /** Stores the response until `expiresAt`. Does nothing if the reservation has expired and another caller has the key. */
  finishIdempotent(hold: IdempotencyHold, response: string, expiresAt: number): Promise<void>
  /** Releases a key whose request was not carried out, so that it can be retried. */
  abandonIdempotent(hold: IdempotencyHold): Promise<void>

  /**
   * Stores a choice that the directory has made for all later starts and all replicas. With `onlyNew`, an earlier choice is
   * kept. Returns the stored one.
   */
  putSetting(name: string, value: string, onlyNew: boolean): Promise<string>

  readonly tasks: TaskStore
  readonly statistics: StatisticsStore
  readonly secrets: SecretStore
  readonly trust: TrustStore
  readonly limits: LimitStore
  readonly federation: FederationStore
  readonly subjects: SubjectStore
  /** Undefined if only one process at a time can open the store. */
  readonly replicas: ReplicaStore | undefined

  /**
   * Deletes audit entries, tombstones and change log rows older than the given times, idempotency records, tasks,
   * copies of agents of peers and entries about trust that expired before them, and data of agents that have no tombstone any more.
   */
  prune(before: PruneBefore): Promise<void>
  close(): Promise<void>
}

/** The state of the store at one moment. */
export interface Loaded {
  /** To pass to `changes`. */
  cursor: string
  /** The last revision that the store has assigned. */
  revision: number
  /** All live agents in registration order. */
  agents: AsyncIterable<StoredAgent[]>
}

export interface PruneBefore {
  audit: number
  tombstones: number
  changes: number
  idempotency: number
  /** Tasks, copies of agents of peers, and entries about trust. */
  tasks: number
}

/** A registered agent: its document as it was sent, and the directory's own data about it. */
export interface StoredAgent {
  id: string
  /** Assigned at registration and never reused: the registration order, and the n of /ad/r/{n}. */
  number: number
  owner: string
  format: DocumentFormat
  document: JsonObject
  /** The JSON text of the document, if it is at hand. */
  text?: string
  /** Increases with every put of this agent. */
  revision: number
  createdAt: number
  modifiedAt: number
  /** Time of the owner's last registration, update or refresh. */
  receivedAt: number
  /** Soft state (AD §2.1); without a lease, the agent stays until its document expires. */
  lease?: Lease
  marks: Marks
}

export interface Lease {
  seconds: number
  expiresAt: number
}

/** Statements about an agent by the operator and by the directory itself; publishers cannot set them. */
export interface Marks {
  verification?: { state: 'verified' | 'self-asserted'; by: string; at: string }
  certification?: JsonObject
  quality_score?: number
  unsafe?: boolean
  status?: string
  /** What the directory found out about the signature of the document when it was registered; absent: not signed. */
  signature?: SignatureFinding
  /** Set for an agent that is registered at another directory. */
  origin?: Origin
  /** Where the directory found the document, if it was not registered; `stale_since`: it is no longer there. */
  crawled?: { url: string; stale_since?: string }
}

export interface SignatureFinding {
  state: 'valid' | 'invalid' | 'unverifiable'
  /** Whose keys were used: a DID, or the URL of a key set. */
  by?: string
  /** The id of the key, as the signature names it. */
  key?: string
  algorithm?: string
  /** Whether the signer is the DID or the domain of the agent's id. */
  matches_id?: boolean
  /** Why it is not valid, or could not be verified. */
  reason?: string
  checked_at: string
}

/**
 * A change of one agent, based on the revision `expect`. `keep` means the lease at the time of the write, which another
 * replica may have renewed; a new agent then has none. `none` ends the lease: the agent stays.
 */
export type AgentWrite =
  | {
      kind: 'put'
      id: string
      /** The revision that the write is based on; undefined: the agent must not exist. */
      expect: number | undefined
      owner: string
      format: DocumentFormat
      document: JsonObject
      /** Bytes of the document that count towards the quota of its owner. */
      memory: number
      /**
       * What the owner may have, checked in the transaction of the write if several processes share the store; undefined: not
       * limited, or the only process checks it.
       */
      quota?: Usage
      lease: Lease | 'keep' | 'none'
      marks: Marks
      at: number
      /** Whether the owner sent it, which updates receivedAt; false for an operator's mark. */
      received: boolean
      audit: AuditEntry
    }
  | {
      /** Renews lease and receivedAt, without a new revision or change log entry. Conflict: the number no longer exists. */
      kind: 'refresh'
      id: string
      number: number
      lease: Lease | 'keep'
      at: number
      audit: AuditEntry
    }
  | {
      kind: 'remove'
      id: string
      expect: number
      reason: 'removed' | 'expired'
      at: number
      /** Removes only if the stored lease still ends at this time: another replica may have renewed it. */
      ifLeaseEnds?: number
      audit: AuditEntry
    }

/** Agents of one owner, and the bytes of their documents. */
export interface Usage {
  readonly agents: number
  readonly bytes: number
}

/** `agent` is the agent after the write; absent after a removal. */
export type WriteResult =
  | { outcome: 'done'; agent?: StoredAgent }
  | { outcome: 'conflict' }
  | ({ outcome: 'over_quota' } & OverQuota)

/** Why nothing was written: what the owner has, and what the write would add, is more than its quota. */
export interface OverQuota {
  readonly usage: Usage
  readonly growth: Usage
}

export interface Tombstone {
  id: string
  number: number
  owner: string
  reason: 'removed' | 'expired'
  marks: Marks
  at: number
}

export type Change =
  | { kind: 'put' | 'remove'; revision: number; id: string; number: number }
  | { kind: AdministeredKind; revision: number }

/** Kinds of data that are read as a whole when they change. */
export type AdministeredKind = 'keys' | 'grants' | 'secrets' | 'trust' | 'limits'

/** The embeddings of one agent. They are derived data, stored so that a restart need not compute them again. */
export interface StoredVectors {
  /** Number of the agent. */
  number: number
  model: string
  /** Digest of the embedded texts, to detect that they have changed. */
  digest: string
  data: Uint8Array
}

export interface StoredKey {
  id: string
  /** SHA-256 of the secret, in hex; the secret itself is not stored. */
  hash: string
  subject: string
  scopes: string[]
  /** Agent names or prefixes ("corp-*") this key is limited to. */
  names?: string[]
  createdAt: number
  expiresAt?: number
}

export interface StoredGrant {
  id: string
  subject: string
  scopes: string[]
  /** One agent, and its owner when the grant was created: it does not extend to a later owner of the name. */
  agent?: { id: string; owner: string }
  tag?: string
  createdAt: number
}

/** Who did what, and whether it was allowed. */
export interface AuditEntry {
  /** Of a merged entry: the time of the last occurrence. */
  at: number
  /** Subject of the caller; `anonymous`, or `switchboard` for actions of the directory itself. */
  actor: string
  /** A verb: register, update, refresh, remove, expire, mark, key.create … */
  action: string
  outcome: 'ok' | 'refused'
  agent?: string
  format?: string
  requestId?: string
  detail?: string
  /** IP address of the caller; for sign-ins and refusals. */
  address?: string
  /** Set if the entry stands for this many more occurrences like an earlier entry. */
  count?: number
  /** What the action changed: small, and without secrets and private data. */
  before?: JsonObject
  after?: JsonObject
}

/** An entry and its position in the log. */
export interface LoggedEntry {
  cursor: string
  entry: AuditEntry
}

export interface AuditFilter {
  since?: number
  /** Only entries before this time. */
  until?: number
  subject?: string
  agent?: string
  action?: string
  outcome?: AuditEntry['outcome']
  /** Part of who, what, which agent, the detail, the address or the request id; upper and lower case are the same. */
  text?: string
  /** The cursor of an entry: only older ones. */
  before?: string
  limit: number
}

/** What a filter says about single entries. */
export type EntryFilter = Omit<AuditFilter, 'limit' | 'before'>

/** Whether an entry is one of those that the filter selects. */
export function matchesAuditFilter(entry: AuditEntry, filter: EntryFilter): boolean {
  const { since, until, subject, agent, action, outcome, text } = filter
  return (
    (since === undefined || entry.at >= since) &&
    (subject === undefined || entry.actor === subject) &&
    (agent === undefined || entry.agent === agent) &&
    (action === undefined || entry.action === action) &&
    (until === undefined || entry.at < until) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (text === undefined || containsText(entry, text.toLowerCase()))
  )
}

const containsText = ({ actor, action, agent, detail, address, requestId }: AuditEntry, text: string): boolean =>
  [actor, action, agent, detail, address, requestId].some((part) => part?.toLowerCase().includes(text))

export interface IdempotencyId {
  client: string
  agent: string
  key: string
}

/** A reserved key and the time of the reservation, which distinguishes it from a later one. */
export interface IdempotencyHold extends IdempotencyId {
  at: number
}

export interface IdempotencyClaim extends IdempotencyHold {
  /** Hash of the request; reusing the key for another request is an error. */
  fingerprint: string
  /** When the key is released if the request is never finished, such as after a crash. */
  expiresAt: number
}

export type IdempotencyState =
  | { state: 'begun' }
  | { state: 'running' }
  | { state: 'mismatch' }
  | { state: 'finished'; response: string }
