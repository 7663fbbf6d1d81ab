import type { JsonObject } from '@switchboard/protocol'

/** Where an agent on this computer listens for HTTP: a socket of the same user, or a loopback port. */
export type Target = { readonly socket: string } | { readonly url: string }

/** An agent that has registered with the runtime. */
export interface LocalAgent {
  /** The host of `agent+local://name`, in lower case. */
  readonly name: string
  readonly description: string
  /** Names that can be called, and that a user can consent to, one by one. */
  readonly capabilities: readonly string[]
  readonly target: Target
  /** As the agent publishes it. */
  readonly descriptor: JsonObject
}
