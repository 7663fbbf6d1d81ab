import type { JsonValue } from '@switchboard/protocol'
import type { CancelSignal } from '../../../cancellation.js'
import type { Caller } from '../../../policy/caller.js'
import type { Span } from '../../../telemetry/traces.js'

/** A value that a caller may give in several places; the places that have it must agree (C-63). */
export interface Places {
  readonly header?: string | undefined
  readonly query?: string | undefined
  readonly path?: string | undefined
  readonly body?: string | undefined
  /** A frame of a WebSocket, for calls that have no headers of their own. */
  readonly frame?: string | undefined
}

/** A file of a form. */
export interface FormFile {
  /** Name of the member that it becomes. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** The input of a call: JSON, a form with files (C-66), or a body of another media type. */
export type Input =
  | {
      readonly kind: 'json'
      readonly value: JsonValue
      /** The text of the value in UTF-8, as it was received. */
      readonly text?: Uint8Array | undefined
    }
  | {
      readonly kind: 'form'
      readonly value: JsonValue
      readonly files: readonly FormFile[]
      /** The unparsed form, for agents that accept forms. */
      readonly contentType: string
      readonly body: Uint8Array
    }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Uint8Array }

/** Credentials that the caller sent for the agent, besides its own for the directory (C-96). */
export interface CredentialsForAgent {
  /** The caller's secret for the directory; it must never reach an agent. */
  readonly directorySecret: string | undefined
  /** X-API-Key, if the caller authenticated to the directory in another way. */
  readonly apiKey: string | undefined
  /** X-Agent-API-Key. */
  readonly agentApiKey: string | undefined
  /** X-Agent-Authorization. */
  readonly agentAuthorization: string | undefined
  /** X-Agent-Variables: values for what the endpoints of the agent ask for. */
  readonly agentVariables?: string | undefined
}

/** One call of an agent, as the caller requests it: parsed, but not yet checked against the agent. */
export interface Invocation {
  readonly agent: string
  readonly caller: Caller
  /** From the URL; undefined: the unified URL, where the body may name the operation. */
  readonly operation: string | undefined
  readonly version: Places
  readonly session: Places
  readonly task: Places
  readonly input: Input
  /** The media type that the caller prefers among those offered; undefined if it accepts none. */
  readonly chooseMediaType: (offered: readonly string[]) => string | undefined
  readonly credentials: CredentialsForAgent
  /** Headers that go to the agent unchanged: correlation and delegation. */
  readonly forwarded: Readonly<Record<string, string>>
  /** The span that the call is part of; its context is in `forwarded` too. */
  readonly trace?: Span | undefined
  readonly idempotencyKey: string | undefined
  /** X-Search-ID: the search that listed the agent, from which the ranking learns. */
  readonly searchId?: string | undefined
  /** The caller prefers to fetch the result later (C-62). */
  readonly defer: boolean
  /** X-Callback-URL: the webhook for the result of a deferred call. */
  readonly callbackUrl: string | undefined
  /** Counts this many further calls against the caller's rate limit, or throws. */
  readonly spend: (calls: number) => Promise<void> | undefined
  /** Receives response headers as soon as they are known, because an error response carries them too (C-63). */
  readonly onHeaders?: (headers: Readonly<Record<string, string>>) => void
  /** Aborted when the caller disconnects. */
  readonly signal: CancelSignal
}
