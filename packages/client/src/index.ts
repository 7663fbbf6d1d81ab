export type { StreamPart } from '@switchboard/protocol'
export type { DirectoryCallOptions } from './directory/call-options.js'
export type { DirectoryCalls } from './directory/call-through.js'
export {
  type AgentView,
  type ClientOptions,
  createClient,
  type DirectoryClient,
  type Feedback,
  type Intent,
  type RefreshOptions,
  type ResolutionCandidate,
} from './directory/create-client.js'
export type { DiscoverOptions, Discovery } from './directory/discover.js'
export type {
  AgentMetadata,
  AgentSummary,
  Candidate,
  CandidateBinding,
  DirectoryEntry,
  Evidence,
} from './directory/documents.js'
export { expandTemplate, type TemplateValues } from './directory/expand-template.js'
export {
  type KeepRegisteredOptions,
  type KeptRegistration,
  keepRegistered,
  type RegistrationRuntime,
} from './directory/keep-registered.js'
export type { Listing } from './directory/listing.js'
export type { LookupPage, LookupQuery } from './directory/lookup.js'
export { discoverAll, type Merged, searchAll, type Told } from './directory/many-directories.js'
export type { RegisterOptions, Registration, Update } from './directory/register.js'
export type { RequestOptions } from './directory/requester.js'
export type { SearchOptions, SearchPage, SearchRequest } from './directory/search.js'
export { type TrustPolicy, toDisplayText } from './directory/trust.js'
export { verifyAtBase, verifyIdentity } from './directory/verify-entry.js'
export { ClientError, type ClientErrorCode, type ClientErrorOptions } from './errors.js'
export { type AgentCaller, createCaller } from './invoke/create-caller.js'
export type { InteractionModel, InteractionModels } from './invoke/interaction-model.js'
export { invokeAgent, streamAgent } from './invoke/invoke-agent.js'
export type { CallerOptions, CallOptions, InvokeOptions } from './invoke/options.js'
export type { AddressPolicy } from './resolve/address-policy.js'
export { createResolver, type Resolver, resolveAgent } from './resolve/create-resolver.js'
export { didWebUrl } from './resolve/did-web.js'
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
export {
  type Call,
  type CallInput,
  type CallLimits,
  DEFAULT_LIMITS,
  type Output,
  type Reply,
  type Transport,
} from './transports/call.js'
export type { Credential, CredentialNeed, Credentials } from './transports/credential.js'
export type { Identifiers } from './transports/identifiers.js'
export {
  createLocalRegistry,
  type LocalAgent,
  type LocalCall,
  type LocalRegistry,
} from './transports/local/local-registry.js'
export { defaultLocalSocket } from './transports/local/local-transport.js'
export { MATRIX_REPLY, MATRIX_REQUEST, type MatrixOptions } from './transports/matrix/matrix-transport.js'
export { type Problem, type ProblemCategory, readProblem } from './transports/problem.js'
export type { RetryPolicy } from './transports/retry.js'
export { createTransports, type TransportOptions, type Transports } from './transports/transports.js'
export type {
  OpenSocket,
  SocketEvents,
  SocketRequest,
  SocketTls,
  TextSocket,
} from './transports/websocket/open-socket.js'
