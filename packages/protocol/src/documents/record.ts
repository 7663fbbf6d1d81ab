import type { JsonObject, JsonValue } from '../json.js'
import type { Authentication } from './authentication.js'

/** The drafts of publishers' documents. AIDIP-00 and -01 share a format: the path of a request selects the revision. */
export const DOCUMENT_FORMATS = ['aidip', 'profile', 'directory', 'descriptor', 'a2a', 'mcp'] as const

export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number]

/** public: anyone can find and call the agent; restricted: calling it needs a grant; private: finding it does too. */
export type Visibility = 'public' | 'restricted' | 'private'

/**
 * An agent, independent of any draft. Everything here is computed from `document`, which is kept as it was sent, and from
 * `learned`. A record is never edited: an update is a new document, from which a new record is read.
 */
export interface AgentRecord {
  readonly id: string
  readonly format: DocumentFormat
  readonly document: JsonObject
  readonly name: string
  readonly description: string
  readonly version?: string | undefined
  readonly publisher?: string | undefined
  readonly tags: readonly string[]
  readonly capabilities: readonly Capability[]
  readonly operations: readonly Operation[]
  readonly examples: readonly Example[]
  readonly bindings: readonly Binding[]
  /** Protocol identifiers as registered. */
  readonly protocols: readonly string[]
  /** Absent: the agent supports every language (AIDIP §3.1). */
  readonly languages?: readonly string[] | undefined
  readonly authentication?: Authentication | undefined
  readonly constraints?: JsonObject | undefined
  readonly status: string
  readonly visibility: Visibility
  readonly identity?: string | undefined
  readonly identityType?: string | undefined
  readonly signature?: JsonObject | undefined
  /** `sequence` and `updatedAt` are the publisher's (C-35): compared with each other, never with our clock. */
  readonly sequence?: number | undefined
  readonly updatedAt?: string | undefined
  /** Milliseconds: when the document expires, according to its publisher. */
  readonly expiresAt?: number | undefined
  /** Whether private parts were left out. */
  readonly redacted: boolean
  /** What the agent itself lists; `operations` and `capabilities` contain it. */
  readonly learned?: LearnedOperations | undefined
  /** The record without private members, if that is known; see `redactRecord`. */
  readonly redaction?: AgentRecord | undefined
  /** The JSON text that the document, or what is shown of it, was parsed from, if it is kept. */
  readonly text?: string | undefined
  /** The same record as a plain object, if this one is parsed when it is needed; see `plainRecord`. */
  readonly parsed?: AgentRecord | undefined
}

/** The operations that an agent lists itself, read by the directory. */
export interface LearnedOperations {
  /** Tools of an MCP server, skills of an A2A card, or operations of an OpenAPI document. */
  readonly source: 'mcp' | 'a2a' | 'openapi'
  readonly operations: readonly Operation[]
  /** False: the agent has more operations than the directory keeps. */
  readonly isComplete: boolean
  /** Milliseconds: when the directory first read this list. */
  readonly at: number
}

/** Something the agent can do, by name (C-10). */
export interface Capability {
  readonly name: string
  /** tool, skill, resource, prompt, or a type of the publisher's own (AD §4.1.1). */
  readonly type: string
  readonly description?: string
  readonly version?: string
  readonly tags?: readonly string[]
  readonly input?: JsonObject
  readonly output?: JsonObject
  /** The object as sent, for members that are not read here. */
  readonly source?: JsonObject
}

/** Something that can be called. Inputs and outputs are as sent: a JSON Schema or a simple map (C-09). */
export interface Operation {
  readonly name: string
  readonly description?: string
  readonly inputs: JsonObject
  readonly outputs: JsonObject
  readonly endpoint?: string
  readonly examples?: readonly JsonObject[]
  readonly http?: HttpMapping
}

/** How the input of an operation becomes an HTTP request, for agents that OpenAPI describes. */
export interface HttpMapping {
  readonly method: string
  /** Below the agent's endpoint; `{name}` stands for a member of the input. */
  readonly path: string
  /** Where members of the input are sent: `path`, `query` or `header`. The others are the body. */
  readonly parameters: Readonly<Record<string, string>>
  /** The member that is the whole body. */
  readonly body?: string
  /** The body is a URL-encoded form. */
  readonly form?: boolean
  /** Where the API key is sent; default: as the header `X-API-Key`. */
  readonly key?: { readonly place: string; readonly name: string }
}

export interface Example {
  readonly id?: string
  readonly text: string
  readonly tags?: readonly string[]
  readonly source?: JsonObject
}

/** A protocol and endpoint of an agent. `source` is the object as sent. */
export interface Binding {
  readonly protocol: string
  readonly endpoint: string
  readonly priority?: number
  readonly source?: JsonObject
}

/** What the directory, not the publisher, knows about an agent. Views add it to the document. */
export interface RegistryFacts {
  /** Base of the absolute URLs in responses, without a trailing slash. */
  readonly baseUrl: string
  readonly number: number
  readonly verification: JsonObject
  readonly certification?: JsonObject
  readonly qualityScore?: number
  readonly unsafe?: boolean
  /** The operator's status, which overrides the publisher's. */
  readonly status?: string
  /** Milliseconds: the end of the lease or the publisher's expires_at, whichever is earlier (C-40). */
  readonly expiresAt?: number
  /** Seconds: the granted lifetime, or the maximum for an agent that does not expire (C-40). */
  readonly lifetime: number
  readonly receivedAt: number
  readonly modifiedAt: number
  /** Set for an agent that is registered at another directory (PROF §10). */
  readonly provenance?: Provenance
}

/** Where an agent of another directory comes from (PROF §10, Table 9); rendered as it is. */
export type Provenance = JsonObject & {
  /** URL of the directory where the agent is registered. */
  origin_service: string
}

/**
 * The record as a plain object, which can be copied member by member. It is dropped and read again from time to time: use it as the
 * key of a WeakMap for what is derived from a record, so that this is dropped as well.
 */
export const plainRecord = (record: AgentRecord): AgentRecord => record.parsed ?? record

/** The effective status of an agent. */
export const statusOf = (record: AgentRecord, facts: { readonly status?: string }): string =>
  facts.status ?? record.status

/** An object with the member, or an empty object if the value is `undefined`. */
export function given<T extends JsonValue>(name: string, value: T | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value }
}
