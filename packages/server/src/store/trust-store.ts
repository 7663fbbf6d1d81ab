import type { JsonObject } from '@switchboard/protocol'
import type { AuditEntry } from './store.js'

/** What an entry of the trust store is about. */
export type TrustKind =
  /** A publisher's proof that it controls a domain. */
  | 'domain'
  /** The right of one process to make scheduled checks. */
  | 'lease'
  /** Whether an agent can be reached. */
  | 'health'
  /** How an agent did with its own examples. */
  | 'probe'
  /** The operations that an agent lists itself. */
  | 'operations'
  /** The result of a later check of an agent's signature. */
  | 'signature'
  /** An owner's offer to hand an agent over. */
  | 'transfer'
  /** Another directory whose agents this one lists. */
  | 'peer'
  /** How far the agents of a peer have been read. */
  | 'pull'
  /** A site that is crawled for agents. */
  | 'crawl'
  /** A browser session that its holder has ended. */
  | 'session'

/**
 * What the directory keeps about trust, apart from the agents' own rows: small values by kind and key. Writes are
 * optimistic, like those of agents: they name the version that they are based on, so that replicas cannot overwrite
 * each other's changes.
 */
export interface TrustStore {
  /** Entries of a kind that were put at this time or later; default: all. */
  list(kind: TrustKind, since?: number): Promise<TrustEntry[]>
  get(kind: TrustKind, key: string): Promise<TrustEntry | undefined>
  /**
   * Stores the entry under the next version; false if the stored version is not `entry.version` (0: the entry must not
   * exist). With an audit entry the change is also announced in the change log, as `trust`.
   */
  put(entry: TrustEntry, audit?: AuditEntry): Promise<boolean>
  /** False if the stored version is another one. */
  delete(entry: Pick<TrustEntry, 'kind' | 'key' | 'version'>, audit: AuditEntry): Promise<boolean>
}

export interface TrustEntry {
  kind: TrustKind
  key: string
  /** Increases with every put; 0 for a new entry. */
  version: number
  value: JsonObject
  /** When it was put. */
  at: number
  /** When the entry is deleted, if it is not renewed; absent: it stays. */
  expiresAt?: number
}
