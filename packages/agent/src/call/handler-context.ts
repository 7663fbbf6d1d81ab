import type { CallInput, CallOptions, Output, Reply, StreamPart } from '@switchboard/client'
import type { Delegation, JsonObject } from '@switchboard/protocol'
import type { Caller } from '../auth/caller.js'
import type { Session } from './sessions.js'

/** What a handler knows of its call, and what it can do beside answering it. */
export interface HandlerContext {
  /** Ends when the caller goes away, cancels, or the time is over: pass it on to whatever takes long. */
  readonly signal: AbortSignal
  readonly capability: string
  /** The agent's version that was asked for. */
  readonly version: string
  readonly requestId: string
  readonly caller: Caller
  /** Where a caller sent an X-Session-ID, and always for capabilities with `memoryEnabled`. */
  readonly session?: Session
  /** The task of the caller that this call is a part of, or the deferred task that it runs as. */
  readonly taskId?: string
  /** For whom and through whom the call came, verified (C-65). */
  readonly delegation?: Delegation
  /** Says something about the answer beside it: confidence, sourceAgent, usage … (AURI §8). */
  report(metadata: JsonObject): void
  /** The work made a resource: the answer is a 201 with its address. */
  created(location: string): void
  /** Calls another agent for the same task; where this agent has a key, with the chain of delegation one hop longer. */
  call<T = Output>(uri: string, input?: CallInput, options?: CallOptions): Promise<Reply<T>>
  /** The same, for the parts of an answer as they come. */
  stream(uri: string, input?: CallInput, options?: CallOptions): AsyncGenerator<StreamPart, void, undefined>
}
