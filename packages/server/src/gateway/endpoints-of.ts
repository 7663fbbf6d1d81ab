import { AgentUriError, parseAgentUri } from '@switchboard/agent-uri'
import { type AgentRecord, asString, type Binding, isObject, schemeOf } from '@switchboard/protocol'
import type { CallProtocol, Endpoint } from './gateway.js'

/** Names that publishers use for plain HTTP with JSON. */
const HTTP_NAMES: ReadonlySet<string> = new Set([
  'http',
  'https',
  'http+json',
  'json',
  'rest',
  'openapi',
  'aidip',
  'agent+http',
  'agent+https',
])
const WEBSOCKET_NAMES: ReadonlySet<string> = new Set(['ws', 'wss', 'websocket', 'agent+ws', 'agent+wss'])
const UNIX_NAMES: ReadonlySet<string> = new Set(['unix', 'http+unix', 'agent+unix'])

/** Endpoints tried for one call; a record may list thousands of bindings. */
const MAX_ENDPOINTS = 8

/** The endpoints of an agent that the gateway can call, most preferred first (C-19, C-44); may be empty. */
export function endpointsOf({ format, bindings }: Pick<AgentRecord, 'format' | 'bindings'>): Endpoint[] {
  const endpoints: Endpoint[] = []
  for (const binding of bindings) {
    if (endpoints.length === MAX_ENDPOINTS) break
    const endpoint = toEndpoint(binding, format === 'a2a')
    if (endpoint && !endpoints.some((known) => isSameEndpoint(known, endpoint))) endpoints.push(endpoint)
  }
  return endpoints
}

/** Whether two endpoints have the same URL and protocol. */
export const isSameEndpoint = (a: Pick<Endpoint, 'protocol' | 'url'>, b: Pick<Endpoint, 'protocol' | 'url'>): boolean =>
  a.protocol === b.protocol && a.url === b.url

function toEndpoint(binding: Binding, isCard: boolean): Endpoint | undefined {
  const { source } = binding
  const url = toUrl(binding.endpoint) ?? templateOf(binding)
  const protocol = url && protocolOf(binding.protocol.toLowerCase(), schemeOf(url), source, isCard)
  return url && protocol ? { protocol, url, ...(source && { source }) } : undefined
}

function protocolOf(
  name: string,
  scheme: string,
  source: Binding['source'],
  isCard: boolean,
): CallProtocol | undefined {
  const isHttp = scheme === 'https' || scheme === 'http'
  const isWebSocket = scheme === 'wss' || scheme === 'ws'
  // The binding is called `transport` in A2A 0.3 and `protocolBinding` in 1.0.
  const a2aBinding = (asString(source?.protocolBinding) ?? asString(source?.transport))?.toLowerCase()
  if (name.includes('grpc') || a2aBinding === 'grpc') return undefined
  if (name.startsWith('a2a') || (isCard && /^json-?rpc/.test(name))) return isHttp ? 'a2a' : undefined
  // `sse` is HTTP+SSE, the predecessor of Streamable HTTP.
  if (name.startsWith('mcp')) return isHttp && asString(source?.type) !== 'sse' ? 'mcp' : undefined
  if (UNIX_NAMES.has(name)) return scheme === 'unix' ? 'unix' : undefined
  if (!HTTP_NAMES.has(name) && !WEBSOCKET_NAMES.has(name)) return undefined
  // A ws URL is called over WebSocket even if the protocol is named http.
  return isHttp && HTTP_NAMES.has(name) ? 'http' : isWebSocket ? 'websocket' : undefined
}

/** A URL with variables in its host, as in a server.json: the values come with the call. */
function templateOf({ endpoint, source }: Binding): string | undefined {
  if (!isObject(source?.variables) || !/^https?:\/\/.*\{/i.test(endpoint)) return undefined
  return URL.canParse(endpoint.replaceAll(/\{[^{}]*\}/g, 'x')) ? endpoint : undefined
}

/** An absolute URL, or `unix:` with the path of a socket; undefined if the gateway cannot connect to it. */
function toUrl(endpoint: string): string | undefined {
  if (/^(https?|wss?):\/\//i.test(endpoint)) return URL.canParse(endpoint) ? endpoint : undefined
  if (/^agent\+/i.test(endpoint)) return fromAgentUri(endpoint)
  if (/^http\+unix:\/\/%2f/i.test(endpoint)) return fromAgentUri(endpoint.replace(/^http/i, 'agent'))
  const path = /^(?:unix:(?:\/\/)?)?(\/[^/].*)$/i.exec(endpoint)?.[1]
  return path === undefined ? undefined : `unix:${path}`
}

/** `agent+https` and `agent+wss` name the transport of a URL; `agent+unix` may contain the path of a socket (C-81). */
function fromAgentUri(endpoint: string): string | undefined {
  try {
    const { transport, socketPath, host, port, path, query } = parseAgentUri(endpoint)
    const rest = `${path === '' && socketPath === undefined ? '/' : path}${query === null ? '' : `?${query}`}`
    if (transport === 'unix') return socketPath === undefined ? undefined : `unix:${socketPath}${rest && `:${rest}`}`
    if (!/^(https?|wss?)$/.test(transport ?? '')) return undefined
    return `${transport}://${host}${port === null ? '' : `:${port}`}${rest}`
  } catch (error) {
    if (error instanceof AgentUriError) return undefined
    throw error
  }
}
