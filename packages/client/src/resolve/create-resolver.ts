import type { Capability, VerificationKey } from '@switchboard/protocol'
import { createDeadline } from '../transports/deadline.js'
import { describeLocation } from './describe-location.js'
import { createDocumentCache, type DocumentCache } from './document-cache.js'
import { KNOWN_TRANSPORTS } from './explicit-binding.js'
import { createDocumentFetcher } from './fetch-document.js'
import { createInquiry, type Inquiry } from './inquiry.js'
import { findKeys } from './key-source.js'
import { createFindKnown } from './known-agents.js'
import { createLocator } from './locate-agent.js'
import type { ResolveOptions, ResolveRequest, ResolverOptions } from './options.js'
import { preferExplicit, readUri } from './read-uri.js'
import type { ResolvedAgent } from './resolved-agent.js'

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_MAX_BYTES = 262_144

/** Resolves agent URIs with one configuration and one cache. */
export interface Resolver {
  /** Of several URIs for the same agent, one that names its transport is preferred. */
  resolveAgent(uri: string | readonly string[], request?: ResolveRequest): Promise<ResolvedAgent>
  /** What the agent says it can do; empty if it has no descriptor. */
  capabilities(uri: string, request?: ResolveRequest): Promise<readonly Capability[]>
  /** Published keys of a DID, an agent or a web address; empty if there are none. They verify chains of delegation. */
  keysOf(identity: string, request?: ResolveRequest): Promise<readonly VerificationKey[]>
}

/**
 * A resolver of agent URIs; what it learns is cached for as long as the hosts allow.
 *
 * @example
 * const resolver = createResolver({ requireSignature: true })
 * const agent = await resolver.resolveAgent('agent://planner.example.com/gen-iti?city=Paris')
 * agent.endpoint // 'https://planner.example.com/'
 * agent.capability // 'gen-iti'
 * agent.params // { city: 'Paris' }
 */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const { fetch = globalThis.fetch, now = Date.now, timeoutMs = DEFAULT_TIMEOUT_MS, didMethods = {} } = options
  const { cache = sharedCache(fetch), maxDocumentBytes = DEFAULT_MAX_BYTES, mayRedirect } = options
  const fetchDocument = createDocumentFetcher({ fetch, cache, now, ...(mayRedirect && { mayRedirect }) })
  const rules = { policy: options, transports: new Set([...KNOWN_TRANSPORTS, ...(options.transports ?? [])]) }
  const locate = createLocator({ options, rules, findKnown: createFindKnown(options) })

  /** Work that may ask the network, within the time limit. */
  const inquire = async <T>(what: string, { signal }: ResolveRequest, work: (inquiry: Inquiry) => Promise<T>) => {
    const deadline = createDeadline(timeoutMs, what, signal)
    try {
      deadline.check()
      return await work(createInquiry({ fetchDocument, policy: options, deadline, maxDocumentBytes }))
    } finally {
      deadline.clear()
    }
  }

  const resolve: Resolver['resolveAgent'] = (text, request = {}) =>
    inquire('resolving the agent URI', request, async (inquiry) => {
      const uri = readUri(typeof text === 'string' ? text : preferExplicit(text))
      return describeLocation({ uri, request, options, rules }, await locate(uri, inquiry), inquiry)
    })

  return {
    resolveAgent: resolve,
    capabilities: async (uri, request) => (await resolve(uri, request)).record?.capabilities ?? [],
    keysOf: (identity, request = {}) =>
      inquire('finding keys', request, async (inquiry) => (await findKeys(identity, inquiry, didMethods))?.keys ?? []),
  }
}

/** One cache for each fetch: what one of them sees, with its own rights, is not shown to the users of another. */
const sharedCaches = new WeakMap<typeof globalThis.fetch, DocumentCache>()

function sharedCache(fetch: typeof globalThis.fetch): DocumentCache {
  const cache = sharedCaches.get(fetch) ?? createDocumentCache()
  sharedCaches.set(fetch, cache)
  return cache
}

/**
 * Finds out where and how an agent is called. For many URIs with the same options make one `createResolver`.
 *
 * @throws {ClientError} known by its code
 *
 * @example
 * const { endpoint, capability } = await resolveAgent('agent://translator.example/translate?text=Bonjour')
 */
export function resolveAgent(uri: string | readonly string[], options: ResolveOptions = {}): Promise<ResolvedAgent> {
  const { signal, version, ...resolver } = options
  return createResolver(resolver).resolveAgent(uri, {
    ...(signal && { signal }),
    ...(version !== undefined && { version }),
  })
}
