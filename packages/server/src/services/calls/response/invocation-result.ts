import type { Readable } from 'node:stream'
import type { JsonValue, StreamPart } from '@switchboard/protocol'
import type { Task } from '../../tasks/tasks.js'

/** What the caller gets for its invocation; failures are thrown as DirectoryError. */
export type InvocationResult = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
} & (
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Readable }
  /** Iterating throws DirectoryError if the agent fails midway; returning early cancels the agent's work. */
  | { readonly kind: 'stream'; readonly parts: AsyncIterable<StreamPart> }
  /** The call is deferred, by the caller or by the agent. */
  | { readonly kind: 'task'; readonly task: Task }
)
