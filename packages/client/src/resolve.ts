// The entry point `@switchboard/client/resolve`: resolve agent:// URIs, without the transports that call agents.
export { ClientError, type ClientErrorCode, type ClientErrorOptions } from './errors.js'
export type { AddressPolicy } from './resolve/address-policy.js'
export { createResolver, type Resolver, resolveAgent } from './resolve/create-resolver.js'
export { didWebUrl } from './resolve/did-web.js'
export type { DnsHint, FindInDns } from './resolve/dns-hints.js'
export {
  type CachedDocument,
  type CacheLimits,
  createDocumentCache,
  type DocumentCache,
} from './resolve/document-cache.js'
export type {
  CustomResolver,
  DidMethod,
  KnownAgent,
  ResolveOptions,
  ResolveRequest,
  ResolverContext,
  ResolverOptions,
} from './resolve/options.js'
export { type AgentsIndex, type IndexedAgent, parseAgentsJson } from './resolve/parse-agents-json.js'
export { type Descriptor, parseDescriptor } from './resolve/parse-descriptor.js'
export { preferExplicit } from './resolve/read-uri.js'
export type { Endpoint, ResolvedAgent, VerifiedSigner } from './resolve/resolved-agent.js'
