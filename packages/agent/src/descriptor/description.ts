import type { JsonObject, Visibility } from '@switchboard/protocol'
import type { OptionalProtocol } from '../optional-sdk.js'

/** The description of an agent, without its capabilities; `agent.update()` changes it while the agent runs. */
export interface Description {
  readonly name: string
  readonly description: string
  /** The agent's id in directories. Default: its name. */
  readonly id?: string
  readonly publisher?: string
  readonly tags?: readonly string[]
  /** Requests in plain words that this agent can fulfil. */
  readonly examples?: readonly string[]
  /** Languages that it understands. Default: all. */
  readonly languages?: readonly string[]
  readonly status?: 'active' | 'inactive' | 'suspended' | 'deprecated' | 'testing'
  /**
   * `public`: everyone finds and calls it; `restricted`: everyone finds it, calling needs a grant of the directory;
   * `private`: finding needs one too. Default: `public`.
   */
  readonly visibility?: Visibility
  /** Top-level members of the registration that directories show to its owner only, such as `endpoint`. */
  readonly private?: readonly string[]
  readonly documentationUrl?: string
  /** The message format, if it is not plain JSON (AURI §7). */
  readonly interactionModel?: string
  /** The agents and steps that a task involves (AURI §8.2). */
  readonly orchestration?: JsonObject
  /** What is stored about calls, for how long, and how consent is given and revoked (AURI §10). */
  readonly privacy?: JsonObject
  /** Additional members. Names with a domain, such as `com.example.plan`, avoid conflicts. */
  readonly extensions?: JsonObject
}

/** Where an agent can be reached, and how callers authenticate. */
export interface Reach {
  /** Without a trailing slash; undefined if the agent only listens on a Unix socket. */
  readonly baseUrl: string | undefined
  /** Path of its Unix socket. */
  readonly socket: string | undefined
  /** Authentication schemes, as the drafts name them (C-11). */
  readonly schemes: readonly string[]
  readonly hasWebSocket: boolean
  readonly offers: Readonly<Record<OptionalProtocol, boolean>>
}
