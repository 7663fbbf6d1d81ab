import type { JsonObject, JsonValue } from '@switchboard/protocol'
import type { Caller } from '../auth/caller.js'
import type { Capability } from '../capability.js'

/** One call, whichever way it came. */
export interface Call {
  readonly capability: Capability
  /** Of the agent, as chosen (C-63). */
  readonly version: string
  readonly input: JsonValue
  readonly caller: Caller
  readonly requestId: string
  readonly sessionId?: string
  readonly taskId?: string
  readonly idempotencyKey?: string
  readonly delegationChain?: string
  /** Where the agent is called: names that a delegation may be made out to. */
  readonly base: string
  readonly wantsStream: boolean
  /** Ends when the caller goes away. */
  readonly signal: AbortSignal
}

/** What an answer says of itself (AURI §8): how sure it is, who had a part in it, how long it took. */
export interface Metadata extends JsonObject {}

/** What came of a call. */
export type Outcome = Value | Parts

export interface Value {
  readonly kind: 'value'
  readonly value: JsonValue
  /** False: the output does not fit its schema (C-67). */
  readonly isValid: boolean
  readonly metadata: Metadata
  /** Where the resource is that the work made; the answer is then a 201 (AIDIP §5.2). */
  readonly location?: string
  readonly sessionId?: string
}

export interface Parts {
  readonly kind: 'parts'
  readonly parts: AsyncGenerator<JsonValue, void, undefined>
  readonly sessionId?: string
}
