import { toAgentError } from '../errors.js'
import type { AdmittedCall } from './admit.js'

/** The record of one call, without its payload (AURI §10). */
export interface AuditEntry {
  readonly time: string
  readonly requestId: string
  readonly capability: string
  readonly subject?: string
  /** The delegation chain, from the principal to the caller. */
  readonly actors: readonly string[]
  /** `ok`, `cancelled` if the caller disconnected, or the error code. */
  readonly outcome: string
  /** Milliseconds. */
  readonly timeTaken: number
}

/** Records how a call ended; `startedAt` is a time of the monotonic clock. */
export type RecordCall = (admitted: Omit<AdmittedCall, 'input'>, startedAt: number, error?: unknown) => void

export interface AuditDeps {
  readonly now: () => number
  readonly monotonic: () => number
  readonly audit: (entry: AuditEntry) => void
  /** Called with errors that callers must not see. */
  readonly onError: (error: unknown) => void
}

export function createAudit({ now, monotonic, audit, onError }: AuditDeps): RecordCall {
  return ({ call, delegation }, startedAt, error) => {
    const { requestId, capability, caller, signal } = call
    const known = error === undefined ? undefined : toAgentError(error)
    const isAborted = known !== undefined && signal.aborted
    if (known?.code === 'internal_error' && !isAborted) onError(error)
    const timeTaken = Math.round(monotonic() - startedAt)
    audit({
      time: new Date(now() - timeTaken).toISOString(),
      requestId,
      capability: capability.name,
      ...(caller.subject !== undefined && { subject: caller.subject }),
      actors: delegation?.actors ?? [],
      outcome: isAborted ? 'cancelled' : (known?.code ?? 'ok'),
      timeTaken,
    })
  }
}
