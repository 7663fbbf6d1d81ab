import { AgentUriError, parseAgentUri } from '@switchboard/agent-uri'
import { type AgentRecord, asString, type Binding, schemeOf } from '@switchboard/protocol'
import type { CallProtocol, Endpoint } from './gateway.js'

/** Words of publishers for plain HTTP with JSON. */
const HTTP_WORDS: ReadonlySet<string> = new Set([
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
const SOCKET_WORDS: ReadonlySet<string> = new Set(['ws', 'wss', 'websocket', 'agent+ws', 'agent+wss'])
const UNIX_WORDS: ReadonlySet<string> = new Set(['unix', 'http+unix', 'agent+unix'])

/** Ways tried for one call; a record may list thousands of bindings. */
const MAX_ENDPOINTS = 8

/** The ways to an agent that a gateway can speak, most preferred first (C-19, C-44); empty if there are none. */
export function endpointsOf({ format, bindings }: Pick<AgentRecord, 'format' | 'bindings'>): Endpoint[] {
  const endpoints: Endpoint[] = []
  for (const binding of bindings) {
    if (endpoints.length === MAX_ENDPOINTS) break
    const endpoint = toEndpoint(binding, format === 'a2a')
    if (endpoint && !endpoints.some((known) => isSameEndpoint(known, endpoint))) endpoints.push(endpoint)
  }
  return endpoints
}

/** Whether two endpoints are the same address, called by the same protocol. */
export const isSameEndpoint = (a: Pick<Endpoint, 'protocol' | 'url'>, b: Pick<Endpoint, 'protocol' | 'url'>): boolean =>
  a.protocol === b.protocol && a.url === b.url

function toEndpoint(binding: Binding, isCard: boolean): Endpoint | undefined {
  const { source } = binding
  const url = toUrl(binding.endpoint)
  const protocol = url && protocolOf(binding.protocol.toLowerCase(), schemeOf(url), source, isCard)
  return url && protocol ? { protocol, url, ...(source && { source }) } : undefined
}

function protocolOf(
  word: string,
  scheme: string,
  source: Binding['source'],
  isCard: boolean,
): CallProtocol | undefined {
  const isHttp = scheme === 'https' || scheme === 'http'
  const isSocket = scheme === 'wss' || scheme === 'ws'
  // Cards of A2A 0.3 call it transport, those of 1.0 protocolBinding.
  const dialect = (asString(source?.protocolBinding) ?? asString(source?.transport))?.toLowerCase()
  if (word.includes('grpc') || dialect === 'grpc') return undefined
  if (word.startsWith('a2a') || (isCard && /^json-?rpc/.test(word))) return isHttp ? 'a2a' : undefined
  // `sse` is the transport of MCP that came before Streamable HTTP.
  if (word.startsWith('mcp')) return isHttp && asString(source?.type) !== 'sse' ? 'mcp' : undefined
  if (UNIX_WORDS.has(word)) return scheme === 'unix' ? 'unix' : undefined
  if (!HTTP_WORDS.has(word) && !SOCKET_WORDS.has(word)) return undefined
  // Where word and address disagree, the address says what is there.
  return isHttp && HTTP_WORDS.has(word) ? 'http' : isSocket ? 'websocket' : undefined
}

/** An absolute URL, or `unix:` with the path of a socket; undefined: nothing that can be connected to. */
function toUrl(endpoint: string): string | undefined {
  if (/^(https?|wss?):\/\//i.test(endpoint)) return URL.canParse(endpoint) ? endpoint : undefined
  if (/^agent\+/i.test(endpoint)) return ofAgentUri(endpoint)
  if (/^http\+unix:\/\/%2f/i.test(endpoint)) return ofAgentUri(endpoint.replace(/^http/i, 'agent'))
  const path = /^(?:unix:(?:\/\/)?)?(\/[^/].*)$/i.exec(endpoint)?.[1]
  return path === undefined ? undefined : `unix:${path}`
}

/** `agent+https` and `agent+wss` say how the rest is to be called; `agent+unix` may carry the socket's path (C-81). */
function ofAgentUri(endpoint: string): string | undefined {
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
