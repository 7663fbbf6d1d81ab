import type { AgentRecord, JsonObject } from '@switchboard/protocol'

/** What the index needs to know of an agent. */
export interface IndexedAgent {
  /** Order of registration: grows, and stays with the agent while it is registered. */
  readonly number: number
  readonly record: AgentRecord
  /** Who answers for it; undefined: whoever the record says. */
  readonly owner?: string
  /** The status in force, which may be the operator's and not the publisher's. */
  readonly status: string
  /** Members that the directory and not the publisher answers for; in a filter they go before the document's. */
  readonly registry?: JsonObject
}

/** The record as the caller may see it, or undefined if the caller may not see the agent at all. */
export type View<T> = (agent: T) => AgentRecord | undefined
