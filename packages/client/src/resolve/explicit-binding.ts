import { type AgentUri, formatAgentUri } from '@switchboard/agent-uri'
import { schemeOf } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type AddressPolicy, checkAddress } from './address-policy.js'
import { readUri } from './read-uri.js'
import type { Endpoint } from './resolved-agent.js'
import { refuseDots } from './uri-path.js'

/** Transports that a URI can name without the caller's saying so (AURI §6.1). */
export const KNOWN_TRANSPORTS = ['https', 'wss', 'unix', 'local', 'matrix']

export interface EndpointRules {
  readonly policy: AddressPolicy
  /** Transports that can be spoken. */
  readonly transports: ReadonlySet<string>
}

/**
 * What `agent+transport://` says by itself: nothing has to be asked. Of https and wss it is the same host and path, of
 * all others the URI is the address.
 *
 * @throws {ClientError} `unsupported_transport` for one that nobody here speaks: HTTPS is never the guess (C-91)
 */
export function bindExplicitly(uri: AgentUri, { policy, transports }: EndpointRules): Endpoint {
  const transport = uri.transport ?? 'https'
  if (!transports.has(transport)) {
    throw new ClientError('unsupported_transport', `agent+${transport} is not spoken here`)
  }
  if (transport !== 'https' && transport !== 'wss') {
    // Without userinfo, which is never sent (C-90); the question is no part of the address.
    const url = formatAgentUri({ ...uri, userinfo: null, query: null, fragment: null })
    return { transport, protocol: transport, url }
  }
  if (uri.did !== undefined) throw new ClientError('invalid_uri', `a DID is no host that ${transport} connects to`)
  refuseDots(uri.path)
  const authority = uri.port === null ? uri.host : `${uri.host}:${uri.port}`
  return { transport, protocol: transport, url: checkAddress(`${transport}://${authority}${uri.path}`, policy).href }
}

/** An endpoint that the caller wrote: any address is allowed, and still nothing goes unencrypted over a wire. */
export function trustedEndpoint(text: string, { transports }: EndpointRules): Endpoint {
  const policy = { allowPrivate: true, httpLoopback: true }
  if (/^agent\+/i.test(text)) return bindExplicitly(readUri(text), { policy, transports })
  const transport = schemeOf(text)
  const url = transports.has(transport) && !WEB.has(transport) ? text : checkAddress(text, policy).href
  return { transport, protocol: transport, url }
}

const WEB = new Set(['https', 'wss'])
