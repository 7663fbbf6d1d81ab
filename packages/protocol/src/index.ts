export {
  type AddressClass,
  type AddressRange,
  classifyAddress,
  formatIpAddress,
  type IpAddress,
  isInRange,
  isLoopbackHost,
  parseAddressRange,
  parseIpAddress,
} from './addresses.js'
export { type Authentication, canonicalAuthenticationType, readAuthentication } from './authentication.js'
export { type CertificateNames, certificateSubject } from './call/certificate-subject.js'
export {
  createTokenVerifier,
  TOKEN_CLOCK_TOLERANCE,
  TokenError,
  type TokenErrorCode,
  type TokenVerifier,
  type TokenVerifierDeps,
  type TrustedIssuer,
  type VerifiedToken,
} from './call/token-verifier.js'
export { detectFormat } from './detect-format.js'
export {
  DirectoryError,
  ERROR_KINDS,
  type ErrorCode,
  type ErrorOptions,
  errorBody,
  type Issue,
  invalid,
} from './errors.js'
export { agentNameProblem, capabilityNameProblem, idProblem, subjectProblem } from './identifiers.js'
export { isSimpleMap, toJsonSchema } from './io.js'
export {
  asObjects,
  asString,
  asStrings,
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  parseJson,
  pointerToken,
  sameJson,
} from './json.js'
export { foldTag, matchesLanguage, speaks } from './languages.js'
export { type LintOptions, lintExamples, lintRecord, lintUpdate, STATUS_WORDS } from './lint.js'
export { type DescriptorAdvice, lintDescriptor } from './lint-descriptor.js'
export {
  type DiscoveryRequest,
  parseAgentName,
  parseDirectoryUpdate,
  parseDiscoveryRequest,
  parseDocument,
  type Strictness,
  validateDocument,
} from './parse.js'
export {
  checkPublisherSchema,
  createPublisherSchemas,
  createSchemaAllowance,
  type PublisherSchemas,
  type SchemaAllowance,
} from './publisher-schema.js'
export { readRecord } from './read.js'
export { schemeOf } from './read-bindings.js'
export { IMPLIED_OPERATION } from './read-capabilities.js'
export {
  type AgentRecord,
  type Binding,
  type Capability,
  type DocumentFormat,
  type Example,
  given,
  type Operation,
  type RegistryFacts,
  statusOf,
  type Visibility,
} from './record.js'
export { redactRecord } from './redact.js'
export { aidipSchema } from './schemas/aidip.js'
export { agentCardSchema, descriptorSchema, mcpServerSchema } from './schemas/descriptor.js'
export { directorySchema, directoryUpdateSchema } from './schemas/directory.js'
export { discoveryRequestSchema, profileSchema } from './schemas/profile.js'
export { createEventReader, type EventReader, type ServerSentEvent } from './server-sent-events.js'
export { canonicalJson } from './signing/canonical-json.js'
export {
  checkOrder,
  type DelegationHop,
  type DelegationRequest,
  delegate,
  MAX_DELEGATION_HOPS,
  readHop,
  splitChain,
} from './signing/delegation.js'
export { absoluteId, readDidKeys } from './signing/did-document.js'
export { didKeyOf, keyOfDidKey } from './signing/did-key.js'
export {
  claimedKeys,
  type DocumentSignature,
  isSigned,
  type SigningKey,
  signDocument,
  verifyDocument,
} from './signing/document-signature.js'
export { readKeySet, SIGNING_ALGORITHMS, type SigningAlgorithm, type VerificationKey } from './signing/keys.js'
export {
  contentDigest,
  type SignatureFields,
  type SignatureParameters,
  type SignedComponent,
  signMessage,
} from './signing/message-signature.js'
export { createSeenTokens, type SeenTokens } from './signing/seen-tokens.js'
export { SigningError, type SigningErrorCode } from './signing/signing-error.js'
export { type Delegation, type DelegationCheck, verifyDelegation } from './signing/verify-delegation.js'
export { parseTimestamp } from './timestamps.js'
export { assertValid, compileSchema, isAbsoluteUri, isEndpoint } from './validate.js'
export {
  coerceVersion,
  compareVersions,
  fitsVersion,
  isVersionRange,
  type OfferedVersion,
  selectVersion,
} from './versions.js'
export { type AgentCardVersion, toAgentCard } from './views/agent-card.js'
export { type AidipRevision, toAidip, toAidipSummary } from './views/aidip.js'
export { callableOperations, gatewayUrl, reachableBindings } from './views/derive.js'
export { DESCRIPTOR_CONTEXT, toDescriptor } from './views/descriptor.js'
export {
  directoryCapabilities,
  directoryHref,
  directoryProtocols,
  toDirectory,
  toDirectorySummary,
  toRegistration,
} from './views/directory.js'
export { toMcpServer } from './views/mcp-server.js'
export { profileBindings, profileTags, toCandidate, toFreshness, toProfile } from './views/profile.js'
