import type { Readable } from 'node:stream'
import type { JsonObject, JsonValue, StreamPart } from '@switchboard/protocol'

/** What is spoken at an endpoint. */
export type CallProtocol = 'http' | 'a2a' | 'mcp' | 'websocket' | 'unix'

/** One way to an agent; ways are tried in the order of their priority (C-19). */
export interface Endpoint {
  readonly protocol: CallProtocol
  readonly url: string
  /** What else the publisher said of the binding: its protocol's version, its tenant. */
  readonly source?: JsonObject
  /**
   * Several operations share this endpoint: where the protocol itself has no place for its name (http, unix), a JSON
   * object goes with a member `operation` beside the input (AIDIP §5.1).
   */
  readonly namesOperation?: boolean
}

/** What goes to the agent. */
export type Payload =
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Uint8Array | Readable }

/** One call of one agent, in the words of no protocol. Everything about the caller's rights is settled. */
export interface AgentCall {
  /** Whose circuit, limit and statistics this call counts for. */
  readonly agent: string
  /** For whom it is made: what a protocol keeps between calls is kept apart by it. The agent is not told. */
  readonly caller?: string
  readonly endpoints: readonly Endpoint[]
  readonly operation: string
  readonly payload: Payload
  /**
   * For the agent: its credential, request id, session, version, delegation; never the caller's credential for us. The
   * `via` that the call came with belongs here too: by it a loop through other gateways is seen.
   */
  readonly headers: Readonly<Record<string, string>>
  /** Parts are wanted as they come; an agent that does not stream answers whole. */
  readonly wantsStream: boolean
  /** Running it twice does no harm: an idempotent operation, or one with a key that the agent is given too. */
  readonly idempotent: boolean
  /** Milliseconds for the whole call; a stream must have begun by then and is bounded by silence after it. */
  readonly timeoutMs: number
  /** The caller went away or changed its mind: the agent's work is cancelled. */
  readonly signal: AbortSignal
}

/** What an agent answered, whatever it speaks. Its own errors are answers; what went wrong on the way is thrown. */
export type AgentResponse = {
  /** 2xx, or the agent's own 4xx or 5xx (C-97). */
  readonly status: number
  /** Lower-case names; only those that are fit to be passed on. */
  readonly headers: Readonly<Record<string, string>>
  /** The way that answered. */
  readonly endpoint: Endpoint
} & (
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Readable }
  /** Iterating throws GatewayError if it breaks off; returning early cancels the agent's work. */
  | { readonly kind: 'stream'; readonly parts: AsyncIterable<StreamPart> }
  /** The agent took the work on and will be done later (its own 202, or a task of A2A). */
  | { readonly kind: 'task'; readonly task: AgentTask }
)

/** Work that goes on at the agent: where to ask for it. */
export interface AgentTask {
  readonly id: string
  readonly status: string
  /** Absolute; undefined: asked for by its id in the agent's own protocol. */
  readonly url?: string
  /** Seconds. */
  readonly pollInterval?: number
  /** The way that took it on. */
  readonly endpoint?: Pick<Endpoint, 'protocol' | 'url'>
}

export type GatewayErrorCode =
  /** The address guard refused an address. */
  | 'blocked'
  /** The address leads back to this gateway. */
  | 'loop'
  /** No connection, or it broke before an answer. */
  | 'unreachable'
  | 'timeout'
  /** The caller's signal. */
  | 'cancelled'
  /** Not what the protocol says, not JSON, broken off half-way. */
  | 'bad_response'
  | 'too_large'
  /** So many calls of this agent are under way that this one must wait for later. */
  | 'busy'
  /** It failed so often that it is left alone for a while. */
  | 'circuit_open'
  /** The agent refused the credential that the gateway sent for itself. */
  | 'credential_refused'
  /** No way that this gateway speaks. */
  | 'not_invocable'

/** A call that came to nothing on the way; what the agent itself answered is an `AgentAnswer`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: GatewayErrorCode
  /** Whether the agent may have begun the work. */
  readonly mayHaveRun: boolean
  /** Seconds after which it is worth trying again. */
  readonly retryAfter: number | undefined

  constructor(
    code: GatewayErrorCode,
    message: string,
    { mayHaveRun = false, retryAfter, cause }: { mayHaveRun?: boolean; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.mayHaveRun = mayHaveRun
    this.retryAfter = retryAfter
  }
}

/** Calls agents. The one room that opens connections to addresses which publishers and callers gave. */
export interface Gateway {
  call(call: AgentCall): Promise<AgentResponse>
  /** How work that an agent took on is doing: a task again, or its result. The first of `ways` must be the one that answered. */
  poll(call: AgentCall, task: AgentTask): Promise<AgentResponse>
  cancel(call: AgentCall, task: AgentTask): Promise<void>
  /** For webhooks, crawls and documents: an address from outside, guarded, no redirects, size and time limited. */
  readonly fetch: typeof fetch
  /** Throws GatewayError for an address that `fetch` would refuse whatever a name server says. */
  checkAddress(url: URL): void
  /** Ends what is under way and closes its connections. */
  close(): Promise<void>
}
