export { type AgentCaller, createCaller } from './invoke/create-caller.js'

// The caller comes first: it needs most of the modules, and a bundle in this order compresses better by 2 kB.

export type { StreamPart } from '@switchboard/protocol'
export * from './admin.js'
export type { DirectoryCallOptions } from './directory/call-options.js'
export {
  createClient,
  type DirectoryClient,
  type Feedback,
  type RefreshOptions,
} from './directory/create-client.js'
export {
  type CrawlClient,
  type CrawledDocument,
  type CrawledSite,
  createCrawlClient,
} from './directory/create-crawl-client.js'
export type { DirectoryCalls } from './directory/directory-calls.js'
export { expandTemplate, type TemplateValues } from './directory/expand-template.js'
export {
  type KeepRegisteredOptions,
  type KeptRegistration,
  keepRegistered,
  type RegistrationRuntime,
} from './directory/keep-registered.js'
export type { RegisterOptions, Registration, Update } from './directory/register.js'
export { verifyAtBase, verifyIdentity } from './directory/verify-entry.js'
export * from './discovery.js'
export type { InteractionModel, InteractionModels } from './invoke/interaction-model.js'
export { invokeAgent, streamAgent } from './invoke/invoke-agent.js'
export type { CallerOptions, CallOptions, InvokeOptions } from './invoke/options.js'
export * from './resolve.js'
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
export { createTransports, type TransportOptions, type Transports } from './transports/transports.js'
export type {
  OpenSocket,
  SocketEvents,
  SocketRequest,
  SocketTls,
  TextSocket,
} from './transports/websocket/open-socket.js'
