import type { AgentUri } from '@switchboard/agent-uri'
import type { JsonObject, VerificationKey } from '@switchboard/protocol'
import type { AddressPolicy } from './address-policy.js'
import type { DocumentCache } from './document-cache.js'

/** Where an agent is, told by the caller: an endpoint, its descriptor, or where that is. */
export type KnownAgent =
  | string
  | {
      readonly endpoint?: string
      /** The document itself, or its URL. */
      readonly descriptor?: JsonObject | string
    }

/** What a custom resolver may use: requests made with it count, are bounded and cached as all others. */
export interface ResolverContext {
  /** The JSON object at a URL; undefined if nothing is there. */
  readonly ask: (url: string) => Promise<JsonObject | undefined>
  readonly signal: AbortSignal
}

/** Asked before the network; undefined passes the question on. */
export type CustomResolver = (uri: AgentUri, context: ResolverContext) => Promise<KnownAgent | undefined>

/** Gives the DID document of a DID of its method. */
export type DidMethod = (did: string, context: ResolverContext) => Promise<JsonObject | undefined>

/** How agent URIs are resolved. */
export interface ResolverOptions extends AddressPolicy {
  readonly fetch?: typeof fetch
  /** Milliseconds for one resolution with all its requests; 10 seconds unless told. */
  readonly timeoutMs?: number
  /** Bytes of one document; 256 KiB unless told, and eight times that for an index of agents. */
  readonly maxDocumentBytes?: number
  /** Answers are kept here; by default all resolutions with the same `fetch` share one cache in memory. */
  readonly cache?: DocumentCache
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Agents known beforehand by URI; the longest path wins, and nothing is asked for an endpoint. */
  readonly static?: Readonly<Record<string, KnownAgent>>
  /** Asked in this order, after the static map. */
  readonly resolvers?: readonly CustomResolver[]
  /** DID methods beside did:web, by name. */
  readonly didMethods?: Readonly<Record<string, DidMethod>>
  /** Ask WebFinger too (RFC 7033), where nothing else is found. */
  readonly webfinger?: boolean
  /** Where nothing is found, HTTPS to the same host and path is the guess (AURI §6.2); false gives `not_found`. */
  readonly allowFallback?: boolean
  /** Refuse descriptors without a good signature; `"did"` demands that a DID vouches for the key. */
  readonly requireSignature?: boolean | 'did'
  /** Keys whose signatures are good for any agent, beside those that the agent's authority publishes. */
  readonly trustedKeys?: readonly VerificationKey[]
  /** Transports that the caller can speak beside https, wss, unix, local and matrix. */
  readonly transports?: readonly string[]
  /** Whether an answer may send on to another origin; by default it may not. */
  readonly mayRedirect?: (from: URL, to: URL) => boolean
}

/** What may differ from one resolution to the next. */
export interface ResolveRequest {
  readonly signal?: AbortSignal
  /** A version or a range such as "^3.0.0"; `?version=` in the URI is read too (C-63). */
  readonly version?: string
}

export type ResolveOptions = ResolverOptions & ResolveRequest
