import type { JsonObject } from '@switchboard/protocol'

/** Where an agent of this computer listens for HTTP: on a socket of the same user, or on a loopback port. */
export type Target = { readonly socket: string } | { readonly url: string }

/** An agent that has registered with the runtime. */
export interface LocalAgent {
  /** The host of `agent+local://name`, in lower case. */
  readonly name: string
  readonly description: string
  /** What can be called one by one, and consented to. */
  readonly capabilities: readonly string[]
  readonly target: Target
  /** As the agent publishes it. */
  readonly descriptor: JsonObject
}
