import type { ControlParam, Params } from '@switchboard/agent-uri'
import type { AgentRecord, Capability, JsonObject } from '@switchboard/protocol'

/** One way to reach the agent. */
export interface Endpoint {
  /**
   * How bytes travel: `https`, `wss`, `http` and `ws` (loopback in development), `unix`, `local`, `matrix`, or a
   * transport that the caller named.
   */
  readonly transport: string
  /** What is spoken there in the descriptor's words, such as `a2a` or `mcp`; the transport where it says no more. */
  readonly protocol: string
  /** Absolute. Of unix, local, matrix and named transports the agent URI or what the descriptor gives. */
  readonly url: string
  /** Security mechanisms of this transport, where the descriptor tells them (AURI §10). */
  readonly security?: readonly string[]
  /** What else the descriptor says of it, such as the protocolBinding of an A2A interface. */
  readonly source?: JsonObject
}

/** Who signed the descriptor. */
export interface VerifiedSigner {
  /** The key's id: a DID URL, or a kid of the key set. */
  readonly key: string
  /** The DID, or the URL of the key set, that vouches for the key. */
  readonly authority: string
}

/** What an agent URI leads to, and how that was found out. */
export interface ResolvedAgent {
  /** In normal form and without userinfo; with the query, which may hold what no log should. */
  readonly uri: string
  /** The name that agents.json, the descriptor or the local URI gives to the agent. */
  readonly agent?: string
  /** The capability that the path names, else the fragment (C-85, C-88); it may not be listed by the descriptor. */
  readonly capability?: string
  /** What the descriptor says of that capability. Schemas that could stall a check are left out of it. */
  readonly capabilityDetails?: Capability
  /** The first of `endpoints`. */
  readonly endpoint: string
  /** Ways to reach the agent, most preferred first; never empty. All have passed the address policy. */
  readonly endpoints: readonly Endpoint[]
  /** Nothing was found and HTTPS is the guess: GET, or POST with a payload, to the endpoint as it is (AURI §6.2). */
  readonly fallback: boolean
  /** The version chosen, else the one that the descriptor states. */
  readonly version?: string
  /** Query parameters that are input of the capability. */
  readonly params: Params
  /** Query parameters that steer the call (C-89); header and envelope are the place to send them. */
  readonly control: Readonly<Partial<Record<ControlParam, string>>>
  readonly fragment?: string
  /** As it was published. */
  readonly descriptor?: JsonObject
  /** The descriptor read: capabilities, operations, bindings, authentication. */
  readonly record?: AgentRecord
  /** How messages are to be shaped, in the descriptor's words (AURI §7). */
  readonly interactionModel?: string
  readonly signer?: VerifiedSigner
  /** What was odd and borne with; sentences for people. */
  readonly warnings: readonly string[]
  /** URLs that were asked, in order; those answered from the cache too. */
  readonly asked: readonly string[]
}
