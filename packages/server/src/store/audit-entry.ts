/** Who did what, and whether it was let. */
export interface AuditEntry {
  at: number
  /** Subject of the caller; `anonymous`, or `switchboard` for what the directory does by itself. */
  actor: string
  /** A verb: register, update, refresh, remove, expire, mark, key.create … */
  action: string
  outcome: 'ok' | 'refused'
  agent?: string
  format?: string
  requestId?: string
  detail?: string
}
