import type { PreparedWrite } from '../agent-write.js'
import type { Row } from '../rows.js'
import type {
  AuditEntry,
  IdempotencyClaim,
  IdempotencyHold,
  IdempotencyState,
  Lease,
  PruneBefore,
  RatingTotals,
  StoredCounts,
  StoredCredential,
  StoredGrant,
  StoredKey,
  StoredRating,
  StoredSigningKey,
  StoredTask,
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
  finishIdempotent: { ask: { hold: IdempotencyHold; response: string; expiresAt: number }; answer: boolean }
  abandonIdempotent: { ask: { hold: IdempotencyHold }; answer: boolean }
  createTask: { ask: { values: unknown[]; owner: string; open: number; kept: number }; answer: boolean }
  updateTask: { ask: { changes: unknown[]; id: string; version: number }; answer: boolean }
  claimTasks: { ask: { holder: string; at: number; until: number; limit: number }; answer: StoredTask[] }
  renewTasks: { ask: { holder: string; ids: readonly string[]; until: number }; answer: string[] }
  addCounts: { ask: { counts: readonly StoredCounts[]; halfLife: number }; answer: boolean }
  rate: { ask: { rating: StoredRating }; answer: RatingTotals }
  putCredential: { ask: { credential: StoredCredential; audit: AuditEntry }; answer: boolean }
  deleteCredential: { ask: { agent: string; audit: AuditEntry }; answer: boolean }
  putSigningKey: { ask: { key: StoredSigningKey; audit: AuditEntry }; answer: boolean }
  deleteSigningKey: { ask: { id: string; audit: AuditEntry }; answer: boolean }
  /** Whether there is more to forget: a little at a time, for other writes wait meanwhile. */
  prune: { ask: { before: PruneBefore }; answer: boolean }
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
