import type { DocumentFormat, JsonObject } from '@switchboard/protocol'

/**
 * Copies of agents as peers supply them, one for each peer and agent. The copy that the directory shows is also in the
 * agents' own table, with its origin in the marks; the others take its place when that peer no longer supplies it.
 */
export interface FederationStore {
  /** Inserts the copies, or replaces those that there are. */
  put(copies: readonly FederatedCopy[]): Promise<void>
  /** The copies of one agent, of all peers. */
  of(agent: string): Promise<FederatedCopy[]>
  /** One page, ordered by peer and agent. */
  list(filter: CopyFilter): Promise<FederatedCopy[]>
  delete(peer: string, agents: readonly string[]): Promise<void>
  /** How many copies there are of each peer in each state. */
  counts(): Promise<CopyCount[]>
}

/**
 * - `listed`: may be shown
 * - `quarantined`: an operator has to review it
 * - `accepted`: an operator has reviewed it; may be shown
 * - `rejected`: an operator does not want it
 */
export type CopyState = 'listed' | 'quarantined' | 'accepted' | 'rejected'

export interface FederatedCopy {
  peer: string
  /** Id of the agent. */
  agent: string
  state: CopyState
  format: DocumentFormat
  /** As the peer sent it. */
  document: JsonObject
  origin: Origin
  /** Milliseconds; when the peer last listed it. */
  seenAt: number
  /** Milliseconds; the end of its lifetime at the origin. Absent: it stays as long as the peer lists it. */
  expiresAt?: number
}

/** Where a copy comes from (PROF §10). Times are as in the documents, RFC 3339. */
export interface Origin {
  /** Name of the peer that supplied it. */
  peer: string
  /** URL of the directory where the agent is registered. */
  service: string
  /** The domain responsible for the record. */
  authority: string
  /** URLs of the directories that passed it on, from the origin to the peer. */
  path: string[]
  /** When this directory received it in this form. */
  received_at: string
  /** What the origin says about its freshness. */
  freshness: { indexed_at?: string; received_at?: string; expires_at?: string }
  /** Whether the peer left out private parts. */
  redacted?: boolean
  /** Set if this directory has verified the origin's signature with the origin's keys. */
  signature?: { jws: string; kid: string }
  /** What the origin signed, without the document, so that it can be passed on. */
  signed?: JsonObject
  /** URL to call the agent through the origin's gateway, for agents that cannot be called directly. */
  gateway?: string
}

export interface CopyFilter {
  peer?: string
  state?: CopyState
  /** Only copies that the peer has not listed since this time. */
  seenBefore?: number
  /** The last copy of the page before. */
  after?: { peer: string; agent: string }
  limit: number
}

export interface CopyCount {
  peer: string
  state: CopyState
  count: number
}
