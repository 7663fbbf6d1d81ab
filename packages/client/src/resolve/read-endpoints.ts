import { asString, asStrings, type Binding, isObject, type JsonObject, schemeOf } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { checkAddress } from './address-policy.js'
import { bindExplicitly, type EndpointRules } from './explicit-binding.js'
import type { Inquiry } from './inquiry.js'
import type { Descriptor } from './parse-descriptor.js'
import { readUri } from './read-uri.js'
import type { Endpoint } from './resolved-agent.js'

/**
 * Ways to the agent by the hints of its descriptor, most preferred first (AURI §6.2); without hints, HTTPS to where the
 * agent lives. A hint that cannot or may not be used is left out with a warning; if none is left, the first reason is
 * thrown.
 */
export function readEndpoints(
  descriptor: Descriptor,
  home: () => string,
  rules: EndpointRules,
  inquiry: Inquiry,
): Endpoint[] {
  const { document, record } = descriptor
  const hints = record.bindings.filter(({ endpoint }) => !isIdentity(endpoint)).slice(0, MAX_HINTS)
  let refusal: ClientError | undefined
  const endpoints = hints.flatMap((hint) => {
    try {
      return [toEndpoint(hint, descriptor.url, rules)]
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      refusal ??= error
      inquiry.warn(`${descriptor.url}: the endpoint for ${hint.protocol} is left out: ${error.message}`)
      return []
    }
  })
  const words = typeof document.transport === 'string' ? [document.transport] : asStrings(document.transport)
  const ordered = preferTransports(endpoints, words.slice(0, MAX_HINTS), home, inquiry)
  if (ordered.length === 0 && refusal) throw refusal
  const all = ordered.length > 0 ? ordered : [homeEndpoint(home())]
  return all.map((endpoint) => withSecurity(endpoint, document.security))
}

/** Ways of one agent that are looked at. */
const MAX_HINTS = 20

/** An agent URI without a transport says who the agent is and not how it is reached. */
const isIdentity = (endpoint: string): boolean => /^agent:/i.test(endpoint)

const homeEndpoint = (home: string): Endpoint => {
  const transport = schemeOf(home)
  return { transport, protocol: transport, url: home }
}

/** Transports whose endpoint is a name or a file, not a URL. */
const BY_NAME = new Set(['unix', 'matrix'])

function toEndpoint({ protocol, endpoint, source }: Binding, base: string, rules: EndpointRules): Endpoint {
  if (/^agent\+/i.test(endpoint)) return endpointOfUri(endpoint, rules)
  const word = protocol.toLowerCase()
  if (word === 'local') throw new ClientError('blocked_address', 'a document of the network leads to no local agent')
  if (BY_NAME.has(word)) return { transport: word, protocol, url: endpoint }
  const url = URL.canParse(endpoint, base) ? new URL(endpoint, base).href : endpoint
  const transport = schemeOf(url)
  const known = { transport, protocol, url, ...(source && { source }) }
  if (!['https', 'http', 'wss', 'ws'].includes(transport)) {
    if (rules.transports.has(transport)) return known
    throw new ClientError('unsupported_transport', `${transport} is not spoken here`)
  }
  return { ...known, url: checkAddress(url, rules.policy).href }
}

function endpointOfUri(text: string, rules: EndpointRules): Endpoint {
  const uri = readUri(text)
  if (uri.transport === 'local') {
    throw new ClientError('blocked_address', 'a document of the network leads to no local agent')
  }
  return bindExplicitly(uri, rules)
}

/** Words such as "wss" without an address: they order the endpoints, or turn the first one into that transport. */
function preferTransports(
  endpoints: readonly Endpoint[],
  words: readonly string[],
  home: () => string,
  inquiry: Inquiry,
): Endpoint[] {
  const wanted = [...new Set(words)].flatMap((word) => {
    const name = word.toLowerCase()
    const same = endpoints.filter(({ transport, protocol }) => transport === name || protocol === name)
    if (same.length > 0) return same
    const model = endpoints.find(({ transport }) => WEB.test(transport)) ?? homeEndpoint(home())
    if (!WEB.test(name)) inquiry.warn(`the descriptor gives no address for its transport "${word}"`)
    return WEB.test(name) ? [onTransport(model, name)] : []
  })
  return [...wanted, ...endpoints.filter((endpoint) => !wanted.includes(endpoint))]
}

const WEB = /^(https?|wss?)$/

/** The same place by another transport; a place without TLS, in development, stays without. */
function onTransport({ url, transport }: Endpoint, wanted: string): Endpoint {
  const isPlain = transport === 'http' || transport === 'ws'
  const scheme = `${wanted.startsWith('ws') ? 'ws' : 'http'}${isPlain ? '' : 's'}`
  return { transport: scheme, protocol: scheme, url: url.replace(/^[a-z]+:/, `${scheme}:`) }
}

function withSecurity(endpoint: Endpoint, security: JsonObject[string] | undefined): Endpoint {
  if (!isObject(security)) return endpoint
  const stated = security[endpoint.protocol] ?? security[endpoint.transport]
  const mechanisms = isObject(stated) ? asStrings(stated.schemes) : [asString(stated) ?? asStrings(stated)].flat()
  return mechanisms.length > 0 ? { ...endpoint, security: mechanisms } : endpoint
}

/** The endpoints of another version of the agent, which lives at `base` (AURI §7). */
export function rebaseEndpoints(endpoints: readonly Endpoint[], base: string, { policy }: EndpointRules): Endpoint[] {
  const moved = endpoints.flatMap((endpoint) => {
    const url = URL.canParse(base, endpoint.url) ? new URL(base, endpoint.url).href : undefined
    // An absolute base of another scheme is another transport's.
    if (url === undefined || schemeOf(url) !== endpoint.transport) return []
    return [{ ...endpoint, url: checkAddress(url, policy).href }]
  })
  if (moved.length > 0) return moved
  throw new ClientError('bad_document', `/supportedVersions: "${base}" fits none of the agent's endpoints`)
}
