import type { AuditEntry, AuditFilter } from '../../store/store.js'
import type { Context } from '../context.js'

/** Entries of the audit, newest first; those of calls that have been answered are among them. */
export async function readAudit({ store, trail }: Context, filter: AuditFilter): Promise<AuditEntry[]> {
  await trail.flush()
  return store.audit(filter)
}
