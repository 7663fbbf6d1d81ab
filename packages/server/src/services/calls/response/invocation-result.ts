import type { Readable } from 'node:stream'
import type { JsonValue, PartBatches } from '@switchboard/protocol'
import type { Task } from '../../tasks/tasks.js'

/** What the caller gets for its invocation; failures are thrown as DirectoryError. */
export type InvocationResult = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
} & (
  | {
      readonly kind: 'json'
      readonly value: JsonValue
      /** The text of the value in UTF-8, if there is one. */
      readonly text?: Uint8Array | undefined
    }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Readable }
  /** Iterating throws DirectoryError if the agent fails midway; returning early cancels the agent's work. */
  | { readonly kind: 'stream'; readonly batches: PartBatches }
  /** The call is deferred, by the caller or by the agent. */
  | { readonly kind: 'task'; readonly task: Task }
)
