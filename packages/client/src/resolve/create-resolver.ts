import type { Capability, VerificationKey } from '@switchboard/protocol'
import { createDeadline } from '../transports/deadline.js'
import { describeLocation } from './describe-location.js'
import { createDocumentCache, type DocumentCache } from './document-cache.js'
import { KNOWN_TRANSPORTS } from './explicit-endpoint.js'
import { createDocumentFetcher } from './fetch-document.js'
import { findKeys } from './key-source.js'
import { createFindKnown } from './known-agents.js'
import { createLocator } from './locate-agent.js'
import type { ResolveOptions, ResolveRequest, ResolverOptions } from './options.js'
import { preferExplicit, readUri } from './read-uri.js'
import { createResolution, type Resolution } from './resolution.js'
import type { ResolvedAgent } from './resolved-agent.js'

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_MAX_BYTES = 262_144

/** Resolves agent URIs with one configuration and one cache. */
export interface Resolver {
  /** Finds out where and how an agent is called. Of several URIs of the same agent, one with a transport is preferred. */
  resolveAgent(uri: string | readonly string[], request?: ResolveRequest): Promise<ResolvedAgent>
  /** The capabilities of the agent; empty if it has no descriptor. */
  capabilities(uri: string, request?: ResolveRequest): Promise<readonly Capability[]>
  /** The published keys of a DID, an agent URI or a URL, to verify delegation chains; empty if there are none. */
  keysOf(identity: string, request?: ResolveRequest): Promise<readonly VerificationKey[]>
}

/**
 * Creates a resolver of agent URIs. Documents are cached for as long as their hosts allow.
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

  /** Runs a resolution within the time limit. */
  const run = async <T>(what: string, { signal }: ResolveRequest, work: (resolution: Resolution) => Promise<T>) => {
    const deadline = createDeadline(timeoutMs, what, signal)
    try {
      deadline.check()
      return await work(createResolution({ fetchDocument, policy: options, deadline, maxDocumentBytes }))
    } finally {
      deadline.clear()
    }
  }

  const resolve: Resolver['resolveAgent'] = (text, request = {}) =>
    run('resolving the agent URI', request, async (resolution) => {
      const uri = readUri(typeof text === 'string' ? text : preferExplicit(text))
      return describeLocation({ uri, request, options, rules }, await locate(uri, resolution), resolution)
    })

  return {
    resolveAgent: resolve,
    capabilities: async (uri, request) => (await resolve(uri, request)).record?.capabilities ?? [],
    keysOf: (identity, request = {}) =>
      run(
        'finding keys',
        request,
        async (resolution) => (await findKeys(identity, resolution, didMethods))?.keys ?? [],
      ),
  }
}

/** One cache per `fetch`, because each may have other credentials and must not see the documents of another. */
const sharedCaches = new WeakMap<typeof globalThis.fetch, DocumentCache>()

function sharedCache(fetch: typeof globalThis.fetch): DocumentCache {
  const cache = sharedCaches.get(fetch) ?? createDocumentCache()
  sharedCaches.set(fetch, cache)
  return cache
}

/**
 * Finds out where and how an agent is called. To resolve many URIs with the same options, use `createResolver`.
 *
 * @throws {ClientError} branch on its `code`
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
