import { toAgentError } from '../errors.js'
import type { AdmittedCall } from './admit.js'

/** One line for each call, without its payload (AURI §10). */
export interface AuditEntry {
  readonly time: string
  readonly requestId: string
  readonly capability: string
  readonly subject?: string
  /** Who handed the task on, from the first to the one who called. */
  readonly actors: readonly string[]
  /** `ok`, `cancelled` where the caller left, or the code of the error. */
  readonly outcome: string
  /** Milliseconds. */
  readonly timeTaken: number
}

/** Says how a call ended. */
export type NoteEnd = (admitted: Omit<AdmittedCall, 'input'>, startedAt: number, error?: unknown) => void

export interface AuditDeps {
  readonly now: () => number
  readonly audit: (entry: AuditEntry) => void
  /** Told of what no caller is told. */
  readonly onError: (error: unknown) => void
}

export function createAudit({ now, audit, onError }: AuditDeps): NoteEnd {
  return ({ call, delegation }, startedAt, error) => {
    const { requestId, capability, caller, signal } = call
    const known = error === undefined ? undefined : toAgentError(error)
    const isLeft = known !== undefined && signal.aborted
    if (known?.code === 'internal_error' && !isLeft) onError(error)
    audit({
      time: new Date(startedAt).toISOString(),
      requestId,
      capability: capability.name,
      ...(caller.subject !== undefined && { subject: caller.subject }),
      actors: delegation?.actors ?? [],
      outcome: isLeft ? 'cancelled' : (known?.code ?? 'ok'),
      timeTaken: now() - startedAt,
    })
  }
}
