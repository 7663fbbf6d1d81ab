import type { AgentUri } from '@switchboard/agent-uri'
import type { JsonObject, VerificationKey } from '@switchboard/protocol'
import type { AddressPolicy } from './address-policy.js'
import type { FindInDns } from './dns-hints.js'
import type { DocumentCache } from './document-cache.js'

/** An agent that the caller knows: its endpoint, or an object with its endpoint, its descriptor or both. */
export type KnownAgent =
  | string
  | {
      readonly endpoint?: string
      /** The document itself, or its URL. */
      readonly descriptor?: JsonObject | string
    }

/** What a custom resolver can use. Its requests are cached, and count towards the limits of the resolution. */
export interface ResolverContext {
  /** The JSON object at a URL; undefined if nothing is there. */
  readonly fetchJson: (url: string) => Promise<JsonObject | undefined>
  readonly signal: AbortSignal
}

/** Finds agents before the network is tried; returns undefined for agents that it does not know. */
export type CustomResolver = (uri: AgentUri, context: ResolverContext) => Promise<KnownAgent | undefined>

/** Resolves the DIDs of one method to their documents. */
export type DidMethod = (did: string, context: ResolverContext) => Promise<JsonObject | undefined>

export interface ResolverOptions extends AddressPolicy {
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Milliseconds for a resolution with all its requests; default: 10 s. */
  readonly timeoutMs?: number
  /** Limit on the bytes of a document, default: 256 KiB; agents.json may have eight times as many. */
  readonly maxDocumentBytes?: number
  /** Default: a cache in memory, shared by all resolvers with the same `fetch`. */
  readonly cache?: DocumentCache
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Agents by URI, which are not looked up; the longest path wins. */
  readonly static?: Readonly<Record<string, KnownAgent>>
  /** Custom resolvers, tried in this order after `static`. */
  readonly resolvers?: readonly CustomResolver[]
  /** DID methods other than did:web, by name. */
  readonly didMethods?: Readonly<Record<string, DidMethod>>
  /** Look agents up in DNS first, with `createDnsLookup` of `@switchboard/client/dns`; default: no. */
  readonly dns?: FindInDns
  /** Try WebFinger (RFC 7033) if nothing else is found. */
  readonly webfinger?: boolean
  /** Fall back to HTTPS on the same host and path if nothing is found (AURI §6.2), default: true; else `not_found`. */
  readonly allowFallback?: boolean
  /** Reject descriptors without a valid signature; with `"did"`, the key must be from the DID in the URI. */
  readonly requireSignature?: boolean | 'did'
  /** Keys that may sign for any agent, in addition to those that the agent's authority publishes. */
  readonly trustedKeys?: readonly VerificationKey[]
  /** Transports that the caller supports in addition to https, wss, unix, local and matrix. */
  readonly transports?: readonly string[]
  /** Whether to follow a redirect to another origin, or DNS to another domain; default: no. */
  readonly mayRedirect?: (from: URL, to: URL) => boolean
}

/** Options of a single resolution. */
export interface ResolveRequest {
  readonly signal?: AbortSignal
  /** A version, or a range such as "^3.0.0"; the URI can also name one with `?version=` (C-63). */
  readonly version?: string
}

export type ResolveOptions = ResolverOptions & ResolveRequest
