import type { Readable } from 'node:stream'
import type { JsonValue, StreamPart } from '@switchboard/protocol'
import type { Caller } from '../../../policy/caller.js'
import type { Task } from '../../tasks/tasks.js'

export type { Task }

/** A value that a caller may give in several places; those that are present must agree (C-63). */
export interface Places {
  readonly header?: string | undefined
  readonly query?: string | undefined
  readonly path?: string | undefined
  readonly body?: string | undefined
  /** Of one of many calls over a socket, which have no headers of their own. */
  readonly frame?: string | undefined
}

/** A file of a form. */
export interface FormFile {
  /** Name of the member that it belongs to. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** What the caller sends along: JSON, a form with files (C-66), or a body of some other kind. */
export type Input =
  | { readonly kind: 'json'; readonly value: JsonValue }
  | {
      readonly kind: 'form'
      readonly value: JsonValue
      readonly files: readonly FormFile[]
      /** The form as it came, for agents that take forms. */
      readonly contentType: string
      readonly body: Uint8Array
    }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Uint8Array }

/** Headers by which a caller shows itself to the agent, beside its credential for the directory (C-96). */
export interface CredentialsForAgent {
  /** The secret that the directory itself was shown; it goes nowhere. */
  readonly ours: string | undefined
  /** X-API-Key, where the directory was shown something else. */
  readonly apiKey: string | undefined
  /** X-Agent-API-Key. */
  readonly agentApiKey: string | undefined
  /** X-Agent-Authorization. */
  readonly agentAuthorization: string | undefined
}

/** One call of an agent, as a caller asks for it. */
export interface Invocation {
  readonly agent: string
  readonly caller: Caller
  /** Chosen by the URL; undefined: the unified one, where the body may name it. */
  readonly operation: string | undefined
  readonly version: Places
  readonly session: Places
  readonly task: Places
  readonly input: Input
  /** The best of these media types for the caller, undefined if it takes none of them. */
  readonly choose: (offered: readonly string[]) => string | undefined
  readonly credentials: CredentialsForAgent
  /** Correlation and delegation: passed on as they came. */
  readonly passed: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
  /** The caller would rather come back later for the answer (C-62). */
  readonly defer: boolean
  /** X-Callback-URL: where it wants to be told of an answer that comes later. */
  readonly callbackUrl: string | undefined
  /** Takes the allowance of this many calls more than the request itself, or throws. */
  readonly spend: (calls: number) => void
  /** The caller went away. */
  readonly signal: AbortSignal
}

/** What comes of a call; failures are thrown. */
export type Invoked = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
} & (
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Readable }
  /** Iterating throws DirectoryError if the agent fails on the way; returning early cancels its work. */
  | { readonly kind: 'stream'; readonly parts: AsyncIterable<StreamPart> }
  | { readonly kind: 'task'; readonly task: Task }
)
