import type { PreparedChange } from '../agent-write.js'
import type { AuditRow } from '../audit-row.js'
import type { FederatedCopy } from '../federation-store.js'
import type { StoredLimit, UsageCount } from '../limit-store.js'
import type { Row } from '../rows.js'
import type { StoredCredential, StoredSigningKey } from '../secret-store.js'
import type { RatingTotals, StoredChoice, StoredCounts, StoredRating } from '../statistics-store.js'
import type {
  IdempotencyClaim,
  IdempotencyHold,
  IdempotencyState,
  Lease,
  PruneBefore,
  StoredGrant,
  StoredKey,
  StoredVectors,
} from '../store.js'
import type { StoreErrorCode } from '../store-error.js'
import type { SubjectCounts } from '../subject-store.js'
import type { KeptTasks, StoredTask } from '../task-store.js'
import type { TrustEntry, TrustKind } from '../trust-store.js'

/** All operations of the writer thread, with their parameters and results. */
export interface Operations {
  /** The document of a put is sent beside the parameters, see OperationMessage. */
  writeAgent: { params: { change: PreparedChange }; result: AgentResult }
  putKey: { params: { key: StoredKey; audit: AuditRow; onlyNew: boolean }; result: boolean }
  deleteKey: { params: { id: string; audit: AuditRow }; result: boolean }
  putGrant: { params: { grant: StoredGrant; audit: AuditRow }; result: boolean }
  deleteGrant: { params: { id: string; audit: AuditRow }; result: boolean }
  /** Bytes are base64: parameters are JSON. */
  putVectors: { params: { vectors: (Omit<StoredVectors, 'data'> & { data: string })[] }; result: boolean }
  appendAudit: { params: { entries: AuditRow[] }; result: boolean }
  beginIdempotent: { params: { claim: IdempotencyClaim }; result: IdempotencyState }
  finishIdempotent: { params: { hold: IdempotencyHold; response: string; expiresAt: number }; result: boolean }
  abandonIdempotent: { params: { hold: IdempotencyHold }; result: boolean }
  createTask: { params: { values: unknown[]; owner: string; open: number } & KeptTasks; result: boolean }
  trimTasks: { params: { owner: string } & KeptTasks; result: boolean }
  updateTask: { params: { changes: unknown[]; id: string; version: number }; result: boolean }
  claimTasks: { params: { holder: string; at: number; until: number; limit: number }; result: StoredTask[] }
  renewTasks: { params: { holder: string; ids: readonly string[]; until: number }; result: string[] }
  addCounts: { params: { counts: readonly StoredCounts[]; halfLife: number }; result: boolean }
  addChoices: { params: { choices: readonly StoredChoice[]; halfLife: number }; result: boolean }
  rate: { params: { rating: StoredRating }; result: RatingTotals }
  putCredential: { params: { credential: StoredCredential; audit: AuditRow }; result: boolean }
  deleteCredential: { params: { agent: string; audit: AuditRow }; result: boolean }
  putSigningKey: { params: { key: StoredSigningKey; audit: AuditRow }; result: boolean }
  deleteSigningKey: { params: { id: string; audit: AuditRow }; result: boolean }
  putTrust: { params: { entry: TrustEntry; audit?: AuditRow }; result: boolean }
  deleteTrust: { params: { about: TrustKind; key: string; version: number; audit: AuditRow }; result: boolean }
  putLimit: { params: { limit: StoredLimit; audit: AuditRow }; result: boolean }
  deleteLimit: { params: { id: string; audit: AuditRow }; result: boolean }
  addUsage: { params: { day: number; counts: readonly UsageCount[] }; result: UsageCount[] }
  putCopies: { params: { copies: readonly FederatedCopy[] }; result: boolean }
  deleteCopies: { params: { peer: string; agents: readonly string[] }; result: boolean }
  putSetting: { params: { name: string; value: string; onlyNew: boolean }; result: string }
  eraseSubject: { params: { subject: string; alias: string; audit: AuditRow }; result: SubjectCounts }
  renameSubject: { params: { subject: string; to: string; audit: AuditRow }; result: SubjectCounts }
  renameInAudit: {
    params: { subject: string; to: string; after: number; keepAddresses: boolean }
    result: { changed: number; last?: number | undefined }
  }
  /** Deletes a limited number of rows, because other writes wait meanwhile; true if there are more. */
  prune: { params: { before: PruneBefore }; result: boolean }
}

export type Operation = { [Kind in keyof Operations]: { kind: Kind } & Operations[Kind]['params'] }[keyof Operations]
export type OperationResult = Operations[keyof Operations]['result']

export type AgentResult =
  | { outcome: 'conflict' | 'removed' }
  | { outcome: 'put'; number: number; revision: number; createdAt: number; receivedAt: number; lease?: Lease }
  | { outcome: 'refreshed'; row: Row }

/**
 * Messages between the threads. Operations and results are JSON text: a value that cannot be serialised fails for its
 * own caller and not for the whole batch, and copying text is faster than cloning objects.
 */
export type ToWriter = { batch: OperationMessage[] } | { close: true }
export type FromWriter = { ready: true } | { replies: Reply[] } | { failed: Failure }
export type Reply = { result: string } | { failed: Failure }

export interface OperationMessage {
  /** An Operation as JSON text. */
  operation: string
  /** The agent's document for `writeAgent`: JSON text that is stored as it is. */
  document?: string
}

export interface Failure {
  code: StoreErrorCode
  message: string
}

/** What the writer thread is started with. */
export interface WriterData {
  folder: string
  file: string
  /** Not 0: the store is closing, and writes do not wait for the lock of another process any longer. */
  hurry: Int32Array
}
