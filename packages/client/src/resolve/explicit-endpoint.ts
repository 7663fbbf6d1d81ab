import { type AgentUri, formatAgentUri } from '@switchboard/agent-uri'
import { schemeOf } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type AddressPolicy, checkAddress } from './address-policy.js'
import { readUri } from './read-uri.js'
import type { Endpoint } from './resolved-agent.js'
import { rejectDotSegments } from './uri-path.js'

/** Transports that a URI can name by default (AURI §6.1). */
export const KNOWN_TRANSPORTS = ['https', 'wss', 'unix', 'local', 'matrix']

export interface EndpointRules {
  readonly policy: AddressPolicy
  /** Supported transports. */
  readonly transports: ReadonlySet<string>
}

/**
 * The endpoint of an `agent+transport://` URI, which needs no request. For https and wss it has the same host and path;
 * for other transports the URI itself is the address.
 *
 * @throws {ClientError} `unsupported_transport`; HTTPS is never tried instead (C-91)
 */
export function explicitEndpoint(uri: AgentUri, { policy, transports }: EndpointRules): Endpoint {
  const transport = uri.transport ?? 'https'
  if (!transports.has(transport)) {
    throw new ClientError(
      'unsupported_transport',
      `agent+${transport} is not supported: register the transport, or use another URI`,
    )
  }
  if (transport !== 'https' && transport !== 'wss') {
    // Userinfo is never sent (C-90). Query and fragment are not part of the address.
    const url = formatAgentUri({ ...uri, userinfo: null, query: null, fragment: null })
    return { transport, protocol: transport, url }
  }
  if (uri.did !== undefined) throw new ClientError('invalid_uri', `agent+${transport} needs a host, not a DID`)
  rejectDotSegments(uri.path)
  const authority = uri.port === null ? uri.host : `${uri.host}:${uri.port}`
  return { transport, protocol: transport, url: checkAddress(`${transport}://${authority}${uri.path}`, policy).href }
}

/** An endpoint that the caller configured: any address, but without TLS only on this machine. */
export function trustedEndpoint(text: string, { transports }: EndpointRules): Endpoint {
  const policy = { allowPrivate: true, httpLoopback: true }
  if (/^agent\+/i.test(text)) return explicitEndpoint(readUri(text), { policy, transports })
  const transport = schemeOf(text)
  const url = transports.has(transport) && !WEB.has(transport) ? text : checkAddress(text, policy).href
  return { transport, protocol: transport, url }
}

const WEB = new Set(['https', 'wss'])
