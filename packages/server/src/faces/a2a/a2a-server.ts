import type { JsonObject } from '@switchboard/protocol'

/** How a message is to be answered. */
export interface SendMode {
  /** Part by part, if the agent can. */
  readonly streams: boolean
  /** With a task, without waiting for the result. */
  readonly defers: boolean
}

/** The answer to a message; its parts and tasks are those of A2A 1.0, as JSON. */
export type A2aReply =
  | { readonly kind: 'parts'; readonly parts: readonly JsonObject[] }
  /** Iterating throws DirectoryError if the agent fails midway. */
  | { readonly kind: 'stream'; readonly parts: AsyncIterable<JsonObject> }
  | { readonly kind: 'task'; readonly task: A2aTask }

/** A deferred call as a task of A2A. */
export interface A2aTask {
  readonly document: JsonObject
  readonly isOpen: boolean
  /** Milliseconds until it is worthwhile to read it again. */
  readonly pollMs: number
}

/** What answers the messages of one caller to one agent. It throws DirectoryErrors. */
export interface A2aServer {
  send(message: JsonObject, mode: SendMode, signal: AbortSignal): Promise<A2aReply>
  /** Throws `not_found` if the caller has no such task. */
  read(task: string): Promise<A2aTask>
  cancel(task: string): Promise<A2aTask>
}
