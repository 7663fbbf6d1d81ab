import type { JsonObject, Visibility } from '@switchboard/protocol'
import type { OptionalProtocol } from '../optional-sdk.js'

/** What an agent says of itself beside its capabilities; all of it can change while it runs. */
export interface Description {
  readonly name: string
  readonly description: string
  /** The agent's id in directories; its name unless told. */
  readonly id?: string
  readonly publisher?: string
  readonly tags?: readonly string[]
  /** Sentences that this agent is the answer to. */
  readonly examples?: readonly string[]
  /** Languages that it understands; all unless told. */
  readonly languages?: readonly string[]
  readonly status?: 'active' | 'inactive' | 'suspended' | 'deprecated' | 'testing'
  /**
   * `public`: everyone finds and calls it; `restricted`: everyone finds it, calling needs a grant of the directory;
   * `private`: finding needs one too. Default: `public`.
   */
  readonly visibility?: Visibility
  /** Members of the registration that directories show to nobody else, such as `endpoint`. */
  readonly private?: readonly string[]
  readonly documentationUrl?: string
  /** How messages are shaped, where it is not plain JSON (AURI §7). */
  readonly interactionModel?: string
  /** Agents and steps that the work is made of (AURI §8.2). */
  readonly orchestration?: JsonObject
  /** What is kept of calls, for how long, and how consent is given and taken back (AURI §10). */
  readonly privacy?: JsonObject
  /** Members of your own; names with a domain such as `com.example.plan` meet no others. */
  readonly extensions?: JsonObject
}

/** Where an agent can be reached, and how callers prove who they are there. */
export interface Reach {
  /** Without a slash at the end; undefined if it is reached by its socket only. */
  readonly baseUrl: string | undefined
  /** Path of its Unix socket. */
  readonly socket: string | undefined
  /** In the drafts' words (C-11). */
  readonly schemes: readonly string[]
  /** WebSockets are answered too. */
  readonly hasWebSocket: boolean
  readonly offers: Readonly<Record<OptionalProtocol, boolean>>
}
