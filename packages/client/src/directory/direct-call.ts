import { asObjects, asString, type JsonObject, readAuthentication } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { checkAddress } from '../resolve/address-policy.js'
import type { Call, CallInput } from '../transports/call.js'
import { credentialHeader } from '../transports/credential.js'
import { commonOf, type DirectoryCallOptions, preferOf } from './call-options.js'
import type { AgentMetadata } from './documents.js'
import type { TrustPolicy } from './trust.js'

/** A call at the agent's own endpoint, as its metadata says (AIDIP §5.1). */
export function directCall(metadata: AgentMetadata, input: CallInput, options: DirectoryCallOptions): Call {
  const operations = asObjects(metadata.operations)
  const operation = operations.find(({ name }) => name === options.operation)
  if (options.operation !== undefined && operations.length > 0 && !operation) {
    const names = operations.map(({ name }) => String(name)).join(', ')
    throw new ClientError(
      'capability_not_found',
      `${metadata.id} has no operation ${options.operation}; it has ${names}`,
    )
  }
  const own = asString(operation?.endpoint)
  const url = checkAddress(own ?? endpointOf(metadata, options), options).href
  // On an endpoint that several operations share, the body says which is meant (AIDIP §5.1).
  const body = own === undefined && operations.length > 1 ? withOperation(input, options.operation) : input
  return {
    ...commonOf(metadata.id, url, body, options),
    headers: { ...preferOf(options), ...credentialFor(metadata, options) },
  }
}

const HTTP_PROTOCOLS = ['https', 'http']

/** The best binding that the policy allows and HTTP reaches; nothing is connected to that it does not name. */
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
  throw new ClientError(
    'unsupported_transport',
    `${metadata.id} has no binding that may be called here (${protocols.join(', ')})`,
  )
}

function withOperation(input: CallInput, operation: string | undefined): CallInput {
  const isPlain =
    typeof input === 'object' &&
    input !== null &&
    !Array.isArray(input) &&
    !(input instanceof Uint8Array) &&
    !(input instanceof FormData)
  return isPlain && operation !== undefined ? { ...input, operation } : input
}

/** What the metadata asks for, and nothing if it asks for nothing (AIDIP §3.1). */
function credentialFor(metadata: JsonObject, { credentials }: DirectoryCallOptions): Record<string, string> {
  const type = readAuthentication(metadata.authentication)?.type ?? 'none'
  if (credentials === undefined || type === 'none') return {}
  const fits = type === 'api_key' ? credentials.type === 'api_key' : credentials.type === 'bearer'
  if (fits) return credentialHeader(credentials)
  throw new ClientError('unauthorized', `the agent asks for ${type}, and the credential given is ${credentials.type}`)
}
