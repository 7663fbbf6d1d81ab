import type { AuditEntry } from './store.js'

/** Everything that the store keeps about one subject: as an owner, as a caller, and as a name in the audit log. */
export interface SubjectStore {
  /** What is kept about a subject, in pages; without secrets. */
  read(subject: string): AsyncIterable<SubjectItem[]>
  /** How much of each kind there is, without the audit log; kinds without any are left out. */
  count(subject: string): Promise<SubjectCounts>
  /**
   * Deletes what is kept about a subject, in one transaction. What others depend on stays under the name `alias`: ratings,
   * without their comments, tombstones, and crawled sites, whose agents belong to their domains. The audit log stays as it is, see `renameInAudit`.
   */
  erase(subject: string, alias: string, audit: AuditEntry): Promise<SubjectCounts>
  /**
   * Moves everything of a subject to another one, in one transaction. Where both have something that there can be only one
   * of, such as a rating of the same agent, that of `to` stays. Credentials for agents are deleted: they are encrypted for
   * their owner. The audit log stays as it is, see `renameInAudit`.
   */
  rename(subject: string, to: string, audit: AuditEntry): Promise<SubjectCounts>
  /**
   * Replaces the name in all entries of the audit log; in many short transactions, because the log may be long.
   *
   * @param keepAddresses false: also deletes the IP addresses of the subject's own entries
   * @returns the number of entries that were changed
   */
  renameInAudit(subject: string, to: string, keepAddresses: boolean): Promise<number>
}

/** A kind of data about a subject, as it is called in an export. */
export type SubjectKind =
  | 'agent'
  | 'tombstone'
  | 'key'
  | 'grant'
  | 'task'
  | 'rating'
  | 'idempotent_response'
  | 'limit'
  | 'usage'
  | 'credential'
  | 'statistics'
  | 'domain'
  | 'transfer'
  | 'site'
  | 'audit'

export interface SubjectItem {
  readonly kind: SubjectKind
  /** JSON. */
  readonly value: Readonly<Record<string, unknown>>
}

export type SubjectCounts = Partial<Record<SubjectKind, number>>
