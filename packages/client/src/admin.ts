// The entry point `@switchboard/client/admin`: manage a directory, without the code that finds, resolves and calls agents.
export type { AgentExport, BulkAdmin, ImportItem, ImportResult } from './directory/bulk.js'
export {
  type AdminClient,
  type ApiKey,
  type ApiKeyRequest,
  type AuditQuery,
  type AuditRecord,
  type CreatedApiKey,
  createAdminClient,
  type DemoAgent,
  type SubjectCounts,
  type SubjectItem,
} from './directory/create-admin-client.js'
export type { Grant, GrantAdmin, GrantRequest } from './directory/grants.js'
export type { PeerAdmin, PeerDirectory, PeerTerms, QuarantinedAgent } from './directory/peers.js'
export type { ConnectionOptions, RequestOptions } from './directory/requester.js'
export { ClientError, type ClientErrorCode, type ClientErrorOptions } from './errors.js'
