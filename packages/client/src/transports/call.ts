import type { JsonValue, StreamPart } from '@switchboard/protocol'
import type { Endpoint } from '../resolve/resolved-agent.js'
import type { Credential } from './credential.js'
import type { Identifiers } from './identifiers.js'

/** The input of a call: JSON, or bytes and forms for agents that accept them (C-66). */
export type CallInput = JsonValue | Uint8Array | FormData

/** Time and size limits of one call. */
export interface CallLimits {
  /** Timeout in ms for the complete response, or for the start of a stream. */
  readonly timeoutMs: number
  /** Idle timeout of a stream in ms: the longest time without a new part. */
  readonly silenceMs: number
  /** Longest time in ms to wait for a deferred result. */
  readonly waitMs: number
  /** Maximum bytes of a complete response. */
  readonly maxBytes: number
  /** Maximum characters of one part of a stream. */
  readonly maxPartLength: number
}

export const DEFAULT_LIMITS: CallLimits = {
  timeoutMs: 30_000,
  silenceMs: 60_000,
  waitMs: 600_000,
  maxBytes: 16 * 1024 * 1024,
  maxPartLength: 1024 * 1024,
}

/** One call of one agent, independent of the transport. */
export interface Call {
  /** The agent's normalized URI, for messages. */
  readonly uri: string
  readonly endpoint: Endpoint
  /** The URL to send it to: the endpoint, with the operation if that is part of the path. */
  readonly url: string
  readonly operation?: string
  /** GET only if the agent has no descriptor, or if its descriptor says so (C-57). */
  readonly method: 'GET' | 'POST'
  /** Undefined if the call has no payload. */
  readonly input: CallInput | undefined
  readonly contentType?: string
  /** Media types that the caller accepts, in order of preference; JSON if empty. */
  readonly accept: readonly string[]
  readonly identifiers: Identifiers
  readonly credential?: Credential
  /** Gets another credential after a 401 with this challenge; called at most once per call. */
  readonly renewCredential?: (challenge: string | undefined) => Promise<Credential | undefined>
  /** Additional headers, for transports that have headers. */
  readonly headers: Readonly<Record<string, string>>
  readonly limits: CallLimits
  readonly signal?: AbortSignal
  /** Called with the document of a deferred call when it is accepted and after every poll; the agent wrote it. */
  readonly onTask?: (task: JsonValue) => void
  /** Safe to retry: running it twice has the same effect as once. */
  readonly repeatable: boolean
}

/** JSON, or the bytes of another media type. */
export type Output = JsonValue | Uint8Array

/**
 * The response of an agent. It is untrusted data: check it before you show it, store it or act on it (AIDIP §9).
 * `T` is the type that the caller expects, which is not verified; `outputValid` says whether the output matches the
 * agent's schema.
 */
export interface Reply<T = Output> {
  /** JSON, or bytes of the media type in `contentType`. */
  readonly output: T
  readonly contentType: string
  /** HTTP status; 200 for transports without one. */
  readonly status: number
  /** Always false, as a reminder that the output is untrusted. */
  readonly trusted: false
  /** The version of the agent that responded. */
  readonly version?: string
  readonly requestId?: string
  readonly sessionId?: string
  readonly taskId?: string
  /** False if a gateway found that the output does not match the agent's schema (C-67). */
  readonly outputValid?: boolean
  readonly warnings: readonly string[]
}

/** Carries calls over one protocol. Both methods throw ClientError only. */
export interface Transport {
  invoke(call: Call): Promise<Reply>
  /** Ends when the agent ends the stream. Stopping early cancels the agent's work. */
  stream(call: Call): AsyncIterable<StreamPart>
  /** Closes idle and shared connections. */
  close?(): Promise<void>
}
