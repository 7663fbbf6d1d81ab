// The entry point `@switchboard/client/discovery`: find and read agents, without the code that registers and calls them.
export {
  type AgentView,
  type ClientOptions,
  createDiscoveryClient,
  type DiscoveryClient,
  type Intent,
  type ResolutionCandidate,
} from './directory/create-discovery-client.js'
export type { DiscoverOptions, Discovery } from './directory/discover.js'
export type {
  AgentMetadata,
  AgentSummary,
  Candidate,
  CandidateBinding,
  DirectoryEntry,
  Evidence,
  ScoreComponent,
} from './directory/documents.js'
export type { Listing } from './directory/listing.js'
export type { LookupPage, LookupQuery } from './directory/lookup.js'
export { discoverAll, type FromDirectory, type Merged, searchAll } from './directory/many-directories.js'
export type { ConnectionOptions, RequestOptions } from './directory/requester.js'
export type { FacetValue, SearchOptions, SearchPage, SearchRequest } from './directory/search.js'
export type { Correction } from './directory/spelling.js'
export type { TrustPolicy } from './directory/trust.js'
export { toDisplayText } from './display-text.js'
export { ClientError, type ClientErrorCode, type ClientErrorOptions } from './errors.js'
export type { RetryPolicy } from './transports/retry.js'
