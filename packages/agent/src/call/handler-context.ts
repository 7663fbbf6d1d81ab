import type { CallInput, CallOptions, Output, Reply, StreamPart } from '@switchboard/client'
import type { Delegation, JsonObject } from '@switchboard/protocol'
import type { Caller } from '../auth/caller.js'
import type { Session } from './sessions.js'

/** What a handler knows about its call, and what it can do besides returning a result. */
export interface HandlerContext {
  /** Aborts when the caller disconnects or cancels, or the timeout expires: pass it to slow operations. */
  readonly signal: AbortSignal
  readonly capability: string
  /** The agent's version that was called. */
  readonly version: string
  readonly requestId: string
  readonly caller: Caller
  /** Present if the caller sent an X-Session-ID, and always for capabilities with `memoryEnabled`. */
  readonly session?: Session
  /** The caller's task that this call is part of, or the deferred task that it runs as. */
  readonly taskId?: string
  /** The verified delegation chain: the principal, and the agents that passed the task on (C-65). */
  readonly delegation?: Delegation
  /** Adds metadata to the result: confidence, sourceAgent, usage … (AURI §8). */
  report(metadata: JsonObject): void
  /** Says how far the work is, from 0 to 1; callers of a deferred call see it in its task, MCP clients as it is said. */
  progress(fraction: number, message?: string): void
  /** Makes the response a 201 with the URL of the resource that the call created. */
  created(location: string): void
  /** Calls another agent for the same task. If this agent has a key, the call extends the delegation chain. */
  call<T = Output>(uri: string, input?: CallInput, options?: CallOptions): Promise<Reply<T>>
  /** Like `call`, for the parts of a streamed response. */
  stream(uri: string, input?: CallInput, options?: CallOptions): AsyncGenerator<StreamPart, void, undefined>
}
