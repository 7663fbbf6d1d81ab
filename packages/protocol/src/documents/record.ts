import type { JsonObject, JsonValue } from '../json.js'
import type { Authentication } from './authentication.js'

/** Which draft's document a publisher sent. AIDIP-00 and -01 share one: the reader's path decides the revision. */
export type DocumentFormat = 'aidip' | 'profile' | 'directory' | 'descriptor' | 'a2a' | 'mcp'

/** public: found and called by all; restricted: found by all, called with a grant; private: neither without one. */
export type Visibility = 'public' | 'restricted' | 'private'

/**
 * One agent, in the words of no draft in particular. Everything here is computed from `document`, which is kept as it
 * was sent: a record is never edited, it is read again from a new document.
 */
export interface AgentRecord {
  readonly id: string
  readonly format: DocumentFormat
  readonly document: JsonObject
  readonly name: string
  readonly description: string
  readonly version?: string
  readonly publisher?: string
  readonly tags: readonly string[]
  readonly capabilities: readonly Capability[]
  readonly operations: readonly Operation[]
  readonly examples: readonly Example[]
  readonly bindings: readonly Binding[]
  /** Protocol identifiers as registered; empty where none were. */
  readonly protocols: readonly string[]
  /** Absent: the agent takes any language (AIDIP §3.1). */
  readonly languages?: readonly string[]
  readonly authentication?: Authentication
  readonly constraints?: JsonObject
  readonly status: string
  readonly visibility: Visibility
  readonly identity?: string
  readonly identityType?: string
  readonly signature?: JsonObject
  /** The publisher's stamps (C-35): compared with each other, never with our clock. */
  readonly sequence?: number
  readonly updatedAt?: string
  /** Milliseconds; when the publisher says the document ends. */
  readonly expiresAt?: number
  /** Parts that only the owner may see were left out. */
  readonly redacted: boolean
}

/** Something the agent can do, by name (C-10). */
export interface Capability {
  readonly name: string
  /** tool, skill, resource, prompt, or a publisher's own word (AD §4.1.1). */
  readonly type: string
  readonly description?: string
  readonly version?: string
  readonly tags?: readonly string[]
  readonly input?: JsonObject
  readonly output?: JsonObject
  /** The object as sent, for the members that no view knows. */
  readonly source?: JsonObject
}

/** Something that can be called: inputs and outputs as sent, a JSON Schema or a simple map (C-09). */
export interface Operation {
  readonly name: string
  readonly description?: string
  readonly inputs: JsonObject
  readonly outputs: JsonObject
  readonly endpoint?: string
  readonly examples?: readonly JsonObject[]
}

export interface Example {
  readonly id?: string
  readonly text: string
  readonly tags?: readonly string[]
  readonly source?: JsonObject
}

/** One way to reach the agent. `source` keeps what else the publisher said of it. */
export interface Binding {
  readonly protocol: string
  readonly endpoint: string
  readonly priority?: number
  readonly source?: JsonObject
}

/** What the directory, and not the publisher, knows about an agent; views add it to the document. */
export interface RegistryFacts {
  /** Base of the absolute URLs that are handed out, without a slash at the end. */
  readonly baseUrl: string
  readonly number: number
  readonly verification: JsonObject
  readonly certification?: JsonObject
  readonly qualityScore?: number
  readonly unsafe?: boolean
  /** The operator's word on the status wins over the publisher's. */
  readonly status?: string
  /** Milliseconds; the earlier of the lease's end and the publisher's expires_at (C-40). */
  readonly expiresAt?: number
  /** Seconds; the lifetime granted, or the longest there is for an agent that does not lapse (C-40). */
  readonly lifetime: number
  readonly receivedAt: number
  readonly modifiedAt: number
}

/** The agent's status as the directory sees it. */
export const statusOf = (record: AgentRecord, facts: { readonly status?: string }): string =>
  facts.status ?? record.status

/** A member only if there is a value for it. */
export function given<T extends JsonValue>(name: string, value: T | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value }
}
