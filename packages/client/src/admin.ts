// The entry point `@switchboard/client/admin`: manage a directory, without the code that finds, resolves and calls agents.
export {
  type AdminClient,
  type AgentExport,
  type ApiKey,
  type ApiKeyRequest,
  type AuditQuery,
  type AuditRecord,
  type CreatedApiKey,
  createAdminClient,
  type ImportItem,
  type ImportResult,
  type SubjectCounts,
  type SubjectItem,
} from './directory/create-admin-client.js'
export type { PeerAdmin, PeerDirectory, PeerTerms, QuarantinedAgent } from './directory/peers.js'
export type { ConnectionOptions, RequestOptions } from './directory/requester.js'
export { ClientError, type ClientErrorCode, type ClientErrorOptions } from './errors.js'
