import { asString, asStrings, type Binding, isObject, type JsonObject, schemeOf } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { checkAddress } from './address-policy.js'
import { type EndpointRules, explicitEndpoint } from './explicit-endpoint.js'
import type { Descriptor } from './parse-descriptor.js'
import { readUri } from './read-uri.js'
import type { Resolution } from './resolution.js'
import type { Endpoint } from './resolved-agent.js'

/**
 * The endpoints in a descriptor, most preferred first (AURI §6.2); without any, the default URL. An endpoint that is not
 * supported or not allowed is skipped with a warning. If all are skipped, the first reason is thrown.
 */
export function readEndpoints(
  descriptor: Descriptor,
  defaultUrl: () => string,
  rules: EndpointRules,
  resolution: Resolution,
): Endpoint[] {
  const { document, record } = descriptor
  const bindings = record.bindings.filter(({ endpoint }) => !isIdentity(endpoint)).slice(0, MAX_ENDPOINTS)
  let firstError: ClientError | undefined
  const endpoints = bindings.flatMap((binding) => {
    try {
      return [toEndpoint(binding, descriptor.url, rules)]
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      firstError ??= error
      resolution.warn(`${descriptor.url}: the endpoint for ${binding.protocol} is ignored: ${error.message}`)
      return []
    }
  })
  const names = typeof document.transport === 'string' ? [document.transport] : asStrings(document.transport)
  const ordered = preferTransports(endpoints, names.slice(0, MAX_ENDPOINTS), defaultUrl, resolution)
  if (ordered.length === 0 && firstError) throw firstError
  const all = ordered.length > 0 ? ordered : [endpointAt(defaultUrl())]
  return all.map((endpoint) => withSecurity(endpoint, document.security))
}

/** Endpoints of an agent that are read. */
const MAX_ENDPOINTS = 20

/** An agent URI without a transport identifies the agent and is not an endpoint. */
const isIdentity = (endpoint: string): boolean => /^agent:/i.test(endpoint)

const endpointAt = (url: string): Endpoint => {
  const transport = schemeOf(url)
  return { transport, protocol: transport, url }
}

/** Transports whose endpoint is a name or a path instead of a URL. */
const BY_NAME = new Set(['unix', 'matrix'])

function toEndpoint({ protocol, endpoint, source }: Binding, base: string, rules: EndpointRules): Endpoint {
  if (/^agent\+/i.test(endpoint)) return endpointOfUri(endpoint, rules)
  const name = protocol.toLowerCase()
  if (name === 'local') throw localBlocked()
  if (BY_NAME.has(name)) return { transport: name, protocol, url: endpoint }
  const url = URL.canParse(endpoint, base) ? new URL(endpoint, base).href : endpoint
  const transport = schemeOf(url)
  const known = { transport, protocol, url, ...(source && { source }) }
  if (!['https', 'http', 'wss', 'ws'].includes(transport)) {
    if (rules.transports.has(transport)) return known
    throw new ClientError('unsupported_transport', `the transport ${transport} is not supported`)
  }
  return { ...known, url: checkAddress(url, rules.policy).href }
}

function endpointOfUri(text: string, rules: EndpointRules): Endpoint {
  const uri = readUri(text)
  if (uri.transport === 'local') throw localBlocked()
  return explicitEndpoint(uri, rules)
}

const localBlocked = (): ClientError =>
  new ClientError('blocked_address', 'a descriptor from the network cannot refer to an agent on this computer')

/**
 * Applies transports that are named without an address, such as "wss": endpoints with that transport come first; if
 * there are none, the first web endpoint is used with it.
 */
function preferTransports(
  endpoints: readonly Endpoint[],
  names: readonly string[],
  defaultUrl: () => string,
  resolution: Resolution,
): Endpoint[] {
  const preferred = [...new Set(names)].flatMap((stated) => {
    const name = stated.toLowerCase()
    const same = endpoints.filter(({ transport, protocol }) => transport === name || protocol === name)
    if (same.length > 0) return same
    const template = endpoints.find(({ transport }) => WEB.test(transport)) ?? endpointAt(defaultUrl())
    if (!WEB.test(name)) resolution.warn(`the descriptor has no endpoint for its transport "${stated}"`)
    return WEB.test(name) ? [onTransport(template, name)] : []
  })
  return [...preferred, ...endpoints.filter((endpoint) => !preferred.includes(endpoint))]
}

const WEB = /^(https?|wss?)$/

/** The same endpoint with another transport. An endpoint without TLS, in development, stays without. */
function onTransport({ url, transport }: Endpoint, name: string): Endpoint {
  const isPlain = transport === 'http' || transport === 'ws'
  const scheme = `${name.startsWith('ws') ? 'ws' : 'http'}${isPlain ? '' : 's'}`
  return { transport: scheme, protocol: scheme, url: url.replace(/^[a-z]+:/, `${scheme}:`) }
}

function withSecurity(endpoint: Endpoint, security: JsonObject[string] | undefined): Endpoint {
  if (!isObject(security)) return endpoint
  const stated = security[endpoint.protocol] ?? security[endpoint.transport]
  const mechanisms = isObject(stated) ? asStrings(stated.schemes) : [asString(stated) ?? asStrings(stated)].flat()
  return mechanisms.length > 0 ? { ...endpoint, security: mechanisms } : endpoint
}

/** The endpoints of a version of the agent that has the URL `base` (AURI §7). */
export function rebaseEndpoints(endpoints: readonly Endpoint[], base: string, { policy }: EndpointRules): Endpoint[] {
  const moved = endpoints.flatMap((endpoint) => {
    const url = URL.canParse(base, endpoint.url) ? new URL(base, endpoint.url).href : undefined
    // An absolute base with another scheme is for another transport.
    if (url === undefined || schemeOf(url) !== endpoint.transport) return []
    return [{ ...endpoint, url: checkAddress(url, policy).href }]
  })
  if (moved.length > 0) return moved
  throw new ClientError('bad_document', `/supportedVersions: "${base}" matches no endpoint of the agent`)
}
