import type { PreparedWrite } from '../agent-write.js'
import type { Row } from '../rows.js'
import type {
  AuditEntry,
  IdempotencyClaim,
  IdempotencyId,
  IdempotencyState,
  Lease,
  StoredGrant,
  StoredKey,
  StoredVectors,
} from '../store.js'
import type { StoreErrorCode } from '../store-error.js'

/** Everything that writes, as it is sent to the writer thread: what is asked, and what comes back. */
export interface Operations {
  writeAgent: { ask: { write: PreparedWrite }; answer: AgentAnswer }
  putKey: { ask: { key: StoredKey; audit: AuditEntry; onlyNew: boolean }; answer: boolean }
  deleteKey: { ask: { id: string; audit: AuditEntry }; answer: boolean }
  putGrant: { ask: { grant: StoredGrant; audit: AuditEntry }; answer: boolean }
  deleteGrant: { ask: { id: string; audit: AuditEntry }; answer: boolean }
  /** The bytes are written in base64: what crosses is text. */
  putVectors: { ask: { vectors: (Omit<StoredVectors, 'data'> & { data: string })[] }; answer: boolean }
  appendAudit: { ask: { entries: AuditEntry[] }; answer: boolean }
  beginIdempotent: { ask: { claim: IdempotencyClaim }; answer: IdempotencyState }
  finishIdempotent: { ask: { claim: IdempotencyId; response: string }; answer: boolean }
  abandonIdempotent: { ask: { claim: IdempotencyId }; answer: boolean }
  /** Whether there is more to forget: a little at a time, for other writes wait meanwhile. */
  prune: { ask: { before: PruneBefore }; answer: boolean }
}

export interface PruneBefore {
  audit: number
  tombstones: number
  changes: number
  idempotency: number
}

export type Operation = { [Kind in keyof Operations]: { kind: Kind } & Operations[Kind]['ask'] }[keyof Operations]
export type Answer = Operations[keyof Operations]['answer']

export type AgentAnswer =
  | { outcome: 'conflict' | 'removed' }
  | { outcome: 'put'; number: number; revision: number; createdAt: number; receivedAt: number; lease?: Lease }
  | { outcome: 'refreshed'; row: Row }

/**
 * Messages between the threads. Operations and answers are JSON text: what cannot be written down fails in its caller's
 * hands and not in everyone's batch, and text crosses faster than objects.
 */
export type ToWriter = { batch: string[] } | { close: true }
export type FromWriter = { ready: true } | { replies: Reply[] } | { failed: Failure }
export type Reply = { answer: string } | { failed: Failure }

export interface Failure {
  code: StoreErrorCode
  message: string
}
