import type { ControlParam, Params } from '@switchboard/agent-uri'
import type { AgentRecord, Capability, JsonObject } from '@switchboard/protocol'

/** An endpoint of an agent. */
export interface Endpoint {
  /**
   * `https`, `wss`, `unix`, `local`, `matrix`, a transport of the caller, or `http` and `ws` for loopback in
   * development.
   */
  readonly transport: string
  /** The protocol that the descriptor names, such as `a2a` or `mcp`; default: the transport. */
  readonly protocol: string
  /** An absolute URL. For unix, local, matrix and the caller's transports, the agent URI or the descriptor's text. */
  readonly url: string
  /** Security mechanisms of this endpoint, if the descriptor states them (AURI §10). */
  readonly security?: readonly string[]
  /** The descriptor's object for this endpoint, for example an A2A interface with its `protocolBinding`. */
  readonly source?: JsonObject
}

/** The signer of a descriptor. */
export interface VerifiedSigner {
  /** The id of the key: a DID URL, or a `kid` of the key set. */
  readonly key: string
  /** The DID or the URL of the key set that has the key; `trustedKeys` for a key of the caller. */
  readonly authority: string
}

/** The result of resolving an agent URI. */
export interface ResolvedAgent {
  /** In normal form, without userinfo. Its query may contain secrets: do not log it. */
  readonly uri: string
  /** The agent's name in agents.json, the descriptor or the local URI. */
  readonly agent?: string
  /** The capability that the path or the fragment names (C-85, C-88); the descriptor may not list it. */
  readonly capability?: string
  /** The capability in the descriptor, without schemas that cannot be checked safely. */
  readonly capabilityDetails?: Capability
  /** The URL of the first endpoint. */
  readonly endpoint: string
  /** Most preferred first; never empty. All have passed the address policy. */
  readonly endpoints: readonly Endpoint[]
  /** Nothing was found, so the endpoint is HTTPS on the URI's own host and path (AURI §6.2). */
  readonly fallback: boolean
  /** The chosen version, else the one that the descriptor states. */
  readonly version?: string
  /** Query parameters that are inputs of the capability. */
  readonly params: Params
  /** Query parameters that control the call (C-89); they are sent as headers or in the envelope. */
  readonly control: Readonly<Partial<Record<ControlParam, string>>>
  readonly fragment?: string
  /** The document as published. */
  readonly descriptor?: JsonObject
  /** The parsed descriptor: capabilities, operations, bindings, authentication. */
  readonly record?: AgentRecord
  /** The message format that the descriptor names (AURI §7). */
  readonly interactionModel?: string
  readonly signer?: VerifiedSigner
  /** Problems that did not prevent the resolution; sentences for people. */
  readonly warnings: readonly string[]
  /** In order, including those served from the cache. */
  readonly requestedUrls: readonly string[]
}
