import type { JsonObject, JsonValue, TaskProgress } from '@switchboard/protocol'
import type { Caller } from '../auth/caller.js'
import type { Capability } from '../capability.js'

/** One call, independent of the protocol that it came by. */
export interface Call {
  readonly capability: Capability
  /** The agent's version that was chosen (C-63). */
  readonly version: string
  readonly input: JsonValue
  readonly caller: Caller
  readonly requestId: string
  readonly sessionId?: string
  readonly taskId?: string
  readonly idempotencyKey?: string
  readonly delegationChain?: string
  /** The URL that the agent was called at, which delegation chains must have as audience. */
  readonly base: string
  readonly wantsStream: boolean
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
  /** Receives what the handler says about its progress; deferred calls and MCP clients have a reader for it. */
  readonly onProgress?: (progress: TaskProgress) => void
}

/** Metadata of a result (AURI §8): confidence, agents involved, time taken. */
export interface Metadata extends JsonObject {}

/** The result of a call. */
export type Outcome = Value | Parts

export interface Value {
  readonly kind: 'value'
  readonly value: JsonValue
  /** False: the output does not match its schema (C-67). */
  readonly isValid: boolean
  readonly metadata: Metadata
  /** URL of the resource that the call created; the response is then a 201 (AIDIP §5.2). */
  readonly location?: string
  readonly sessionId?: string
}

export interface Parts {
  readonly kind: 'parts'
  readonly parts: AsyncGenerator<JsonValue, void, undefined>
  readonly sessionId?: string
}
