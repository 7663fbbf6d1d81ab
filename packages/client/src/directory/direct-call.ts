import { asObjects, asString, readAuthentication } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { isPlainInput } from '../invoke/call-input.js'
import { checkAddress } from '../resolve/address-policy.js'
import type { Call, CallInput } from '../transports/call.js'
import { credentialHeader } from '../transports/credential.js'
import { createCall, type DirectoryCallOptions, preferHeader } from './call-options.js'
import type { AgentMetadata } from './documents.js'
import type { TrustPolicy } from './trust.js'

/** A call to the agent's own endpoint, which its metadata names (AIDIP §5.1). */
export function createDirectCall(metadata: AgentMetadata, input: CallInput, options: DirectoryCallOptions): Call {
  const operations = asObjects(metadata.operations)
  const operation = operations.find(({ name }) => name === options.operation)
  if (options.operation !== undefined && operations.length > 0 && !operation) {
    const names = operations.map(({ name }) => String(name)).join(', ')
    throw new ClientError(
      'capability_not_found',
      `${metadata.id} has no operation ${options.operation}; its operations are ${names}`,
    )
  }
  const own = asString(operation?.endpoint)
  const url = checkAddress(own ?? endpointOf(metadata, options), options).href
  // If several operations share an endpoint, the body names the operation (AIDIP §5.1).
  const body = own === undefined && operations.length > 1 ? withOperation(input, options.operation) : input
  return {
    ...createCall(metadata.id, url, body, options),
    headers: { ...preferHeader(options), ...credentialFor(metadata, options) },
  }
}

const HTTP_PROTOCOLS = ['https', 'http']

/** The most preferred binding that the policy allows and that is reachable over HTTP. */
function endpointOf(metadata: AgentMetadata, { protocols = HTTP_PROTOCOLS }: TrustPolicy): string {
  const endpoint = asString(metadata.endpoint)
  const bindings = [
    ...asObjects(metadata.bindings).map((item) => ({
      protocol: asString(item.protocol),
      endpoint: asString(item.endpoint),
    })),
    { protocol: endpoint && /^(\w+):/.exec(endpoint)?.[1]?.toLowerCase(), endpoint },
  ]
  const allowed = bindings.find(
    ({ protocol, endpoint: at }) => at && protocol && protocols.includes(protocol) && /^https?:/i.test(at),
  )
  if (allowed?.endpoint !== undefined) return allowed.endpoint
  throw new ClientError('unsupported_transport', `${metadata.id} has no HTTP binding for ${protocols.join(' or ')}`)
}

function withOperation(input: CallInput, operation: string | undefined): CallInput {
  return isPlainInput(input) && operation !== undefined ? { ...input, operation } : input
}

/** The credential, if the metadata asks for one (AIDIP §3.1). */
function credentialFor(metadata: AgentMetadata, { credentials }: DirectoryCallOptions): Record<string, string> {
  const type = readAuthentication(metadata.authentication)?.type ?? 'none'
  if (credentials === undefined || type === 'none') return {}
  const fits = type === 'api_key' ? credentials.type === 'api_key' : credentials.type === 'bearer'
  if (fits) return credentialHeader(credentials)
  throw new ClientError('unauthorized', `${metadata.id} needs a credential of type ${type}, not ${credentials.type}`)
}
