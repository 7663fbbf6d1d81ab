export { type AgentsIndex, type IndexedAgent, readAgentsIndex } from './agents-index.js'
export { type Authentication, canonicalAuthenticationType, readAuthentication } from './authentication.js'
export { detectFormat } from './detect-format.js'
export { type LintOptions, lintExamples, lintRecord, lintUpdate, STATUS_WORDS } from './lint.js'
export { type DescriptorAdvice, lintDescriptor } from './lint-descriptor.js'
export { fromOpenApi } from './openapi/from-openapi.js'
export {
  type DiscoveryRequest,
  parseAgentName,
  parseDirectoryUpdate,
  parseDiscoveryRequest,
  parseDocument,
  validateDocument,
} from './parse.js'
export { readRecord } from './read.js'
export { schemeOf } from './read-bindings.js'
export { IMPLIED_OPERATION } from './read-capabilities.js'
export {
  type AgentRecord,
  type Binding,
  type Capability,
  DOCUMENT_FORMATS,
  type DocumentFormat,
  type Example,
  given,
  type HttpMapping,
  type Operation,
  type Provenance,
  type RegistryFacts,
  statusOf,
  type Visibility,
} from './record.js'
export { redactRecord } from './redact.js'
export { aidipSchema } from './schemas/aidip.js'
export { agentCardSchema, descriptorSchema, mcpServerSchema } from './schemas/descriptor.js'
export { directorySchema, directoryUpdateSchema } from './schemas/directory.js'
export { DOCUMENT_LIMITS } from './schemas/parts.js'
export { discoveryRequestSchema, profileSchema } from './schemas/profile.js'
export { type Strictness, validateMembers } from './validate-members.js'
export { type AgentCardVersion, toAgentCard } from './views/agent-card.js'
export { type AidipRevision, toAidip, toAidipSummary } from './views/aidip.js'
export {
  callableOperations,
  gatewayUrl,
  reachableBindings,
  verificationFor,
} from './views/derive.js'
export { DESCRIPTOR_CONTEXT, toDescriptor } from './views/descriptor.js'
export {
  directoryCapabilities,
  directoryHref,
  directoryProtocols,
  inheritedTags,
  toDirectory,
  toDirectorySummary,
  toRegistration,
} from './views/directory.js'
export { toMcpServer } from './views/mcp-server.js'
export { profileTags, toCandidate, toFreshness, toProfile } from './views/profile.js'
