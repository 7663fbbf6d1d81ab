import type { AuditEntry, AuditFilter } from '../store/store.js'
import type { Context } from './context.js'

export type { AuditEntry, AuditFilter }

/** Entries of the audit, newest first. */
export const readAudit = ({ store }: Context, filter: AuditFilter): Promise<AuditEntry[]> => store.audit(filter)
