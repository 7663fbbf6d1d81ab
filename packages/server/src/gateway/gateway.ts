import type { Readable } from 'node:stream'
import type { HttpMapping, JsonObject, JsonValue, PartBatches, TaskProgress } from '@switchboard/protocol'
import type { CancelSignal } from '../cancellation.js'
import type { CallTiming } from '../telemetry/metrics.js'
import type { Span } from '../telemetry/traces.js'
import type { ResolveText } from './connection/resolve-name.js'

/** Protocols that the gateway can speak. */
export type CallProtocol = 'http' | 'a2a' | 'mcp' | 'websocket' | 'unix'

/** One address of an agent and the protocol it speaks; endpoints are tried in order of priority (C-19). */
export interface Endpoint {
  readonly protocol: CallProtocol
  readonly url: string
  /** The binding as published: protocol version, tenant and other members. */
  readonly source?: JsonObject
  /** Headers that this endpoint asks for, with lower-case names; those of the call take precedence. May be secret. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Several operations share this endpoint. Over protocols without a field for the operation (http, unix), its name is
   * added to the JSON input as the member `operation` (AIDIP §5.1).
   */
  readonly namesOperation?: boolean
}

/** The input sent to the agent. */
export type Payload =
  | {
      readonly kind: 'json'
      readonly value: JsonValue
      /** The text of the value in UTF-8, if there is one: it is sent as it is, where the value is sent unchanged. */
      readonly text?: Uint8Array | undefined
    }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Uint8Array | Readable }

/** One call to one agent, independent of protocol. The caller has already been authorised. */
export interface AgentCall {
  /** Id of the agent, the key for its circuit breakers, concurrency limit and statistics. */
  readonly agent: string
  /** As the caller sees it; for spans. */
  readonly agentName?: string
  /** The span that the call is part of; default: what `traceparent` in the headers says. */
  readonly trace?: Span | undefined
  /** Id of the caller: its calls are limited, and protocol sessions are not shared between callers. Not sent to the agent. */
  readonly caller?: string
  readonly endpoints: readonly Endpoint[]
  readonly operation: string
  /** How the input becomes a request, for agents that OpenAPI describes; default: it is POSTed to the endpoint. */
  readonly http?: HttpMapping | undefined
  readonly payload: Payload
  /**
   * Headers for the agent: its credential, request id, session, version, delegation chain. Never the credential with
   * which the caller authenticated to the directory. Includes the `via` of the incoming request, to detect loops
   * through other gateways.
   */
  readonly headers: Readonly<Record<string, string>>
  /** Stream the response if the agent can; otherwise it comes in one piece. */
  readonly wantsStream: boolean
  /**
   * Nobody waits for the response: the agent is asked to accept the work as a task and to finish it later. It may ignore
   * that, except over A2A, where the response is always a task while the agent is working.
   */
  readonly prefersTask?: boolean
  /** Media types that the publisher lists for the input; undefined: it lists none. */
  readonly inputTypes?: readonly string[] | undefined
  /** Whether the agent can stream, according to its publisher; undefined: unknown. */
  readonly streams?: boolean | undefined
  /** The media type that the caller prefers, if it is neither JSON nor a stream. */
  readonly accept?: string | undefined
  /** Safe to repeat: an idempotent operation, or an idempotency key is passed to the agent. */
  readonly idempotent: boolean
  /** Milliseconds for the whole call. A stream only has to start by then; `silenceMs` and `streamMs` apply to it. */
  readonly timeoutMs: number
  /** Aborted when the caller disconnects or cancels; cancels the agent's work too. */
  readonly signal: CancelSignal
  /** Called once, when `call` returns or throws. */
  readonly onTimed?: ((timing: CallTiming) => void) | undefined
}

/** The response of an agent, independent of protocol. Errors of the agent are responses; gateway errors are thrown. */
export type AgentResponse = {
  /** 2xx, or the agent's own 4xx or 5xx (C-97). */
  readonly status: number
  /** Lower-case names; only headers that may be forwarded to the caller. */
  readonly headers: Readonly<Record<string, string>>
  /** The endpoint that responded. */
  readonly endpoint: Endpoint
} & (
  | {
      readonly kind: 'json'
      readonly value: JsonValue
      /** The text of the value in UTF-8, as the agent sent it. */
      readonly text?: Uint8Array | undefined
    }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Readable }
  /** Iterating throws GatewayError if the stream breaks; returning early cancels the agent's work. */
  | { readonly kind: 'stream'; readonly batches: PartBatches }
  /** The agent accepted the work and will finish later (HTTP 202, or an A2A task). */
  | { readonly kind: 'task'; readonly task: AgentTask }
)

/** A task running at the agent, and where to poll it. */
export interface AgentTask {
  readonly id: string
  readonly status: string
  /** Absolute URL to poll; undefined: poll by id, over the agent's protocol. */
  readonly url?: string
  /** Seconds. */
  readonly pollInterval?: number
  /** How far it is, if the agent says so. */
  readonly progress?: TaskProgress
  /** The endpoint that accepted it. */
  readonly endpoint?: Pick<Endpoint, 'protocol' | 'url'>
}

export type GatewayErrorCode =
  /** The address guard refused an address. */
  | 'blocked'
  /** The address leads back to this gateway. */
  | 'loop'
  /** No connection, or it broke before a response. */
  | 'unreachable'
  | 'timeout'
  /** The caller aborted the call. */
  | 'cancelled'
  /** The gateway is stopping. */
  | 'stopping'
  /** Violates the protocol, is not valid JSON, or broke off. */
  | 'bad_response'
  | 'too_large'
  /** The caller has too many concurrent calls. */
  | 'caller_busy'
  /** Too many concurrent calls to this agent. */
  | 'agent_busy'
  /** Too many concurrent calls in total. */
  | 'gateway_busy'
  /** The circuit breaker is open after repeated failures. */
  | 'circuit_open'
  /** The agent rejected the gateway's own credential. */
  | 'credential_refused'
  /** No endpoint with a protocol that this gateway speaks. */
  | 'not_invocable'

/** A call that failed without a response from the agent. The agent's own errors are an `AgentResponse`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: GatewayErrorCode
  /** Whether the agent may have started the work. */
  readonly mayHaveRun: boolean
  /** No connection was made, so that the failure cannot depend on what the caller sent. */
  readonly isUnconnected: boolean
  /** Seconds after which it is worth trying again. */
  readonly retryAfter: number | undefined
  /** Of `too_large`: what is allowed. */
  readonly allowed: string | undefined

  constructor(code: GatewayErrorCode, message: string, options: GatewayErrorOptions = {}) {
    const { mayHaveRun = false, isUnconnected = false, retryAfter, allowed, cause } = options
    super(message, { cause })
    this.code = code
    this.mayHaveRun = mayHaveRun
    this.isUnconnected = isUnconnected
    this.retryAfter = retryAfter
    this.allowed = allowed
  }
}

export interface GatewayErrorOptions {
  readonly mayHaveRun?: boolean
  readonly isUnconnected?: boolean
  readonly retryAfter?: number
  readonly allowed?: string
  readonly cause?: unknown
}

/** Calls agents. The only part that connects to addresses supplied by publishers and callers. */
export interface Gateway {
  call(call: AgentCall): Promise<AgentResponse>
  /** The current state of a task, or its result. The first of `endpoints` must be the one that accepted the task. */
  poll(call: AgentCall, task: AgentTask): Promise<AgentResponse>
  /**
   * Asks the agent to stop its work on a task; resolves too if the task has ended. Throws `not_invocable` if the agent
   * refuses or cannot cancel, and another error if it may succeed later.
   */
  cancel(call: AgentCall, task: AgentTask): Promise<void>
  /** Calls of a caller in progress. */
  callsOf(caller: string): number
  /** Ends the calls and streams of a caller, whose credentials are gone. */
  endCallsOf(caller: string): void
  /** Calls and streams in progress, and calls that wait for a slot. */
  load(): { readonly calls: number; readonly waiting: number }
  /** For webhooks, crawls and documents: checks addresses, follows no redirects, limits size and time. */
  readonly fetch: typeof fetch
  /** The TXT records of a domain name. */
  readonly resolveText: ResolveText
  /** Throws GatewayError if `fetch` would refuse the URL whatever its host resolves to. */
  checkAddress(url: URL): void
  /** Ends active calls and streams with the error `stopping`, and refuses new ones. */
  stop(): void
  /** Stops, and closes all connections. */
  close(): Promise<void>
}
