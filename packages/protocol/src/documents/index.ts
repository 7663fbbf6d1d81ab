export { type A2aInterface, a2aInterfaceOf, isA2aBefore1 } from './a2a-interface.js'
export { type AgentsIndex, type IndexedAgent, readAgentsIndex } from './agents-index.js'
export { type AirUrn, airUrnOf, idOfAirUrn, parseAirUrn, publisherOf } from './ard/air-urn.js'
export {
  CATALOG_TYPE,
  type CatalogEntry,
  isAgentEntry,
  isCatalog,
  isNestedCatalog,
  ownIdentifier,
  readCatalog,
  readCatalogEntry,
  withEntry,
} from './ard/read-catalog.js'
export { type Authentication, canonicalAuthenticationType, readAuthentication } from './authentication.js'
export { detectFormat } from './detect-format.js'
export { KeptRecord, ParsedRecords } from './kept-record.js'
export { acceptsAnything, mergeOperations, withLearned } from './learned.js'
export { type LintOptions, lintExamples, lintRecord, lintUpdate, STATUS_WORDS } from './lint.js'
export { type DescriptorAdvice, lintDescriptor } from './lint-descriptor.js'
export { fromOpenApi } from './openapi/from-openapi.js'
export { isOpenApi } from './openapi/is-openapi.js'
export { keepText, parseDocumentBody, textOf } from './original-text.js'
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
  type LearnedOperations,
  type Operation,
  type Provenance,
  plainRecord,
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
export { type AgentCardOptions, type CardKind, cardKindOf, toAgentCard } from './views/agent-card.js'
export { type AidipRevision, toAidip, toAidipSummary } from './views/aidip.js'
export {
  ARD_TERMS,
  type ArdTerm,
  ardIdentifier,
  ardTerm,
  ardValue,
  toArdEntry,
  toArdSummary,
  toRemoteArdSummary,
} from './views/ard-entry.js'
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
export { type AgentCardVersion, managedInterface, managedSecurity, managedUrl } from './views/managed-card.js'
export { DIRECTORY_META, serverName, speaksMcp, toMcpServer } from './views/mcp-server.js'
export { profileTags, toCandidate, toFreshness, toProfile } from './views/profile.js'
export { toRegistryServer } from './views/registry-server.js'
