import type { JsonValue, StreamPart } from '@switchboard/protocol'
import type { Endpoint } from '../resolve/resolved-agent.js'
import type { Credential } from './credential.js'
import type { Identifiers } from './identifiers.js'

/** What an agent is given: JSON, or bytes and forms where it takes them (C-66). */
export type CallInput = JsonValue | Uint8Array | FormData

/** What one call may cost. */
export interface CallLimits {
  /** Milliseconds until the answer is there, or a stream has begun. */
  readonly timeoutMs: number
  /** Milliseconds of silence after which a stream counts as dead. */
  readonly silenceMs: number
  /** Milliseconds that a deferred answer is waited for. */
  readonly waitMs: number
  /** Bytes of a whole answer. */
  readonly maxBytes: number
  /** Characters of one part of a stream. */
  readonly maxPartLength: number
}

export const DEFAULT_LIMITS: CallLimits = {
  timeoutMs: 30_000,
  silenceMs: 60_000,
  waitMs: 600_000,
  maxBytes: 16 * 1024 * 1024,
  maxPartLength: 1024 * 1024,
}

/** One call of one agent, in the words of no transport. */
export interface Call {
  /** The agent's URI in normal form, for messages. */
  readonly uri: string
  readonly endpoint: Endpoint
  /** Where transports with URLs send it: the endpoint, and the operation where that is part of the path. */
  readonly url: string
  readonly operation?: string
  /** GET only where nothing was said of the agent, or its descriptor says so (C-57). */
  readonly method: 'GET' | 'POST'
  /** Undefined: there is no payload. */
  readonly input: CallInput | undefined
  readonly contentType?: string
  /** Media types that the caller takes, most wanted first; empty: JSON. */
  readonly accept: readonly string[]
  readonly identifiers: Identifiers
  readonly credential?: Credential
  /** Finds another credential after a 401 which brought that challenge; asked once a call. */
  readonly renewCredential?: (challenge: string | undefined) => Promise<Credential | undefined>
  /** More headers, for transports that have them. */
  readonly headers: Readonly<Record<string, string>>
  readonly limits: CallLimits
  readonly signal?: AbortSignal
  /** Running it twice does no harm. */
  readonly repeatable: boolean
}

/** JSON, or the bytes of another media type. */
export type Output = JsonValue | Uint8Array

/**
 * The response of an agent. It is untrusted data: check it before you show it, store it or act on it (AIDIP §9).
 * `T` is what the caller expects of the output, which nothing verifies; `outputValid` says whether it matches the
 * agent's schema.
 */
export interface Reply<T = Output> {
  /** JSON, or bytes of the media type in `contentType`. */
  readonly output: T
  readonly contentType: string
  /** HTTP status, or what the transport has in its place. */
  readonly status: number
  /** Nothing an agent says is trusted by having been received. */
  readonly trusted: false
  /** The version that answered. */
  readonly version?: string
  readonly requestId?: string
  readonly sessionId?: string
  readonly taskId?: string
  /** False: a gateway saw that the output does not fit the agent's schema (C-67). */
  readonly outputValid?: boolean
  readonly warnings: readonly string[]
}

/** A way to carry calls. What goes wrong is thrown as a ClientError, by both methods alike. */
export interface Transport {
  invoke(call: Call): Promise<Reply>
  /** Ends when the agent has ended; leaving early cancels the agent's work. */
  stream(call: Call): AsyncIterable<StreamPart>
  /** Lets go of connections that are kept open. */
  close?(): Promise<void>
}
