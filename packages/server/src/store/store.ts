import type { DocumentFormat, JsonObject } from '@switchboard/protocol'
import type { SecretStore } from './secret-store.js'
import type { StatisticsStore } from './statistics-store.js'
import type { TaskStore } from './task-store.js'

/**
 * The truth: what was registered, by whom, until when, and who may do what. Two drivers keep it, SQLite and
 * PostgreSQL; one test suite holds both to this interface. Times are milliseconds since 1970.
 *
 * Decisions are made by services on what they read; a write names the revision it was decided on and is refused with
 * `conflict` when the agent has changed since. So no decision needs a lock, and replicas may share a database.
 */
export interface Store {
  /** All live agents in order of registration, from one snapshot, and the cursor from which `changes` goes on. */
  load(): Promise<{ cursor: string; agents: AsyncIterable<StoredAgent[]> }>
  get(id: string): Promise<StoredAgent | undefined>
  /**
   * Durable when it resolves: record, lease, tombstone, change log and audit entry together or not at all. Drivers put
   * concurrent writes into one transaction (group commit), so that many callers share one fsync.
   */
  write(change: AgentWrite): Promise<WriteResult>
  /** The last agent that had this number or id and is gone, while it is remembered. */
  tombstone(of: { number: number } | { id: string }): Promise<Tombstone | undefined>
  /**
   * What was committed after the cursor, in commit order as far as the driver knows it; each change exactly once. Throws
   * StoreError `cursor_lost` where the log no longer reaches back that far: load anew.
   */
  changes(cursor: string): Promise<{ cursor: string; changes: Change[] }>

  keys(): Promise<StoredKey[]>
  /** `onlyNew`: an existing key of that id wins, and `false` comes back (two replicas at their first start). */
  putKey(key: StoredKey, audit: AuditEntry, onlyNew?: boolean): Promise<boolean>
  deleteKey(id: string, audit: AuditEntry): Promise<boolean>

  grants(): Promise<StoredGrant[]>
  putGrant(grant: StoredGrant, audit: AuditEntry): Promise<void>
  deleteGrant(id: string, audit: AuditEntry): Promise<boolean>

  /** Keeps what a model made of agents' texts, in place of what was kept of them; agents that are gone get none. */
  putVectors(vectors: readonly StoredVectors[]): Promise<void>
  /** Vectors of one model, in batches: of all agents, or of those named. */
  vectors(model: string, numbers?: readonly number[]): AsyncIterable<StoredVectors[]>

  appendAudit(entries: AuditEntry[]): Promise<void>
  /** Newest first. */
  audit(filter: AuditFilter): Promise<AuditEntry[]>

  /** Reserves the key for the first caller; everyone else learns how the first one is doing (C-61). */
  beginIdempotent(claim: IdempotencyClaim): Promise<IdempotencyState>
  /** Keeps the answer until then. A holder that was away so long that another took its key over changes nothing. */
  finishIdempotent(hold: IdempotencyHold, response: string, expiresAt: number): Promise<void>
  /** Frees a reserved key whose work came to nothing, so that a retry may run. */
  abandonIdempotent(hold: IdempotencyHold): Promise<void>

  readonly tasks: TaskStore
  readonly statistics: StatisticsStore
  readonly secrets: SecretStore

  /**
   * Forgets audit entries, tombstones and change log rows from before the given times, idempotency records and tasks
   * that expired before, and what belonged to agents of whom not even a tombstone is left.
   */
  prune(before: PruneBefore): Promise<void>
  close(): Promise<void>
}

export interface PruneBefore {
  audit: number
  tombstones: number
  changes: number
  idempotency: number
  tasks: number
}

/** One registered agent: the document as it was sent, and what the directory knows about it. */
export interface StoredAgent {
  id: string
  /** Given at registration and never again to another: the order of registration, and the n of /ad/r/{n}. */
  number: number
  owner: string
  format: DocumentFormat
  document: JsonObject
  /** Grows with every put of this agent. */
  revision: number
  createdAt: number
  modifiedAt: number
  /** When the directory last heard from the owner: registration, update or refresh. */
  receivedAt: number
  /** Soft state (AD §2.1); an agent without a lease stays until its document says otherwise. */
  lease?: Lease
  marks: Marks
}

export interface Lease {
  seconds: number
  expiresAt: number
}

/** What the operator says about an agent; publishers cannot set these. */
export interface Marks {
  verification?: { state: 'verified' | 'self-asserted'; by: string; at: string }
  certification?: JsonObject
  quality_score?: number
  unsafe?: boolean
  status?: string
}

/**
 * A change of one agent, decided on the revision `expect`. A lease that is kept is the one stored then, for another
 * replica may have renewed it; a new agent has none to keep.
 */
export type AgentWrite =
  | {
      kind: 'put'
      id: string
      /** The revision that was read; undefined: no such agent. */
      expect: number | undefined
      owner: string
      format: DocumentFormat
      document: JsonObject
      lease: Lease | 'keep'
      marks: Marks
      at: number
      /** Whether the owner was heard from (not so for an operator's mark, which keeps receivedAt). */
      received: boolean
      audit: AuditEntry
    }
  | {
      /** Renews lease and receivedAt; no revision, no change log. Conflict: the number is gone. */
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
      /** Only where the lease, as stored now, is over by then: another replica may have renewed it. */
      ifLeaseOver?: number
      audit: AuditEntry
    }

/** `agent` is the agent as stored by this write; absent after a removal. */
export type WriteResult = { outcome: 'done'; agent?: StoredAgent } | { outcome: 'conflict' }

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

/** What operators change besides agents. */
export type AdministeredKind = 'keys' | 'grants' | 'secrets'

/** The vectors by which one agent is found by meaning: derived, and kept only so that a start need not embed. */
export interface StoredVectors {
  /** Number of the agent. */
  number: number
  model: string
  /** Tells the texts they were made of: other texts need other vectors. */
  digest: string
  data: Uint8Array
}

export interface StoredKey {
  id: string
  /** SHA-256 of the secret, hex; the secret itself is never kept. */
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
  /** One agent, and its owner when the grant was made: a later owner of the name inherits nothing. */
  agent?: { id: string; owner: string }
  tag?: string
  createdAt: number
}

/** Who did what, and whether it was allowed. */
export interface AuditEntry {
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
}

export interface AuditFilter {
  since?: number
  subject?: string
  agent?: string
  action?: string
  limit: number
}

export interface IdempotencyId {
  client: string
  agent: string
  key: string
}

/** A key that was reserved, and when: by that a holder is told from one who came after it. */
export interface IdempotencyHold extends IdempotencyId {
  at: number
}

export interface IdempotencyClaim extends IdempotencyHold {
  /** Hash of the request; the same key with another request is a mistake. */
  fingerprint: string
  /** When the key is free again if nobody finishes: whoever reserved it may be gone. */
  expiresAt: number
}

export type IdempotencyState =
  | { state: 'begun' }
  | { state: 'running' }
  | { state: 'mismatch' }
  | { state: 'finished'; response: string }
