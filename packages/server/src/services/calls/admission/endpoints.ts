import {
  type AgentRecord,
  asStrings,
  type Binding,
  IMPLIED_OPERATION,
  isObject,
  type Operation,
  plainRecord,
  schemeOf,
} from '@switchboard/protocol'
import { endpointsOf } from '../../../gateway/endpoints-of.js'
import type { Endpoint } from '../../../gateway/gateway.js'
import type { Agent } from '../../registry/catalog.js'

/** What determines the endpoints of an agent's operations. */
export interface EndpointSource {
  readonly agent: Agent
  /** The operations that the caller may call. */
  readonly operations: readonly Operation[]
  /** `base`: where the version is served, relative to the agent's endpoint; undefined: at the endpoint. */
  readonly version: { readonly base: string | undefined }
}

/**
 * Where an operation is called, in order of preference. Endpoints may be hidden from the caller, so they are read from
 * the agent's full record.
 */
export function endpointsFor(
  { agent, operations, version }: EndpointSource,
  operation: Operation,
  baseUrl: () => string,
): readonly Endpoint[] {
  const { format, operations: all } = agent.record
  const latest = latestEndpoints(agent, baseUrl)
  const { base } = version
  const endpoints = base === undefined ? latest : latest.flatMap((endpoint) => atVersion(endpoint, base))
  // An operation's own endpoint belongs to the latest version.
  if (operation.endpoint === undefined || base !== undefined)
    return operations.length > 0 && all.length > 1 ? withNames(endpoints) : endpoints
  const agentUrl = endpoints.find(({ protocol }) => protocol !== 'unix')?.url ?? baseUrl()
  if (!URL.canParse(operation.endpoint, agentUrl)) return []
  const endpoint = new URL(operation.endpoint, agentUrl).href
  return atOrigin(agent, endpointsOf({ format, bindings: [{ protocol: schemeOf(endpoint), endpoint }] }))
}

/** The same endpoints, shared by several operations; cached by the list, which is one for all calls. */
function withNames(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const known = named.get(endpoints)
  if (known) return known
  const naming = endpoints.map((endpoint) => ({ ...endpoint, namesOperation: true }))
  named.set(endpoints, naming)
  return naming
}
const named = new WeakMap<readonly Endpoint[], readonly Endpoint[]>()

/** Cached by record: a record never changes, and neither does the URL of a directory that serves calls. */
const cache = new WeakMap<AgentRecord, readonly Endpoint[]>()

/** What decides where an agent is called. */
type Called = Pick<Agent, 'record'> & { readonly stored: Pick<Agent['stored'], 'marks'> }

/** Whether the gateway has an endpoint at which it can call the agent, or one of its operations. */
export const isCallable = (agent: Called, baseUrl: () => string): boolean =>
  latestEndpoints(agent, baseUrl).length > 0 || agent.record.operations.some(({ endpoint }) => endpoint !== undefined)

/** Where the latest version of an agent is called. */
export function latestEndpoints(agent: Called, baseUrl: () => string): readonly Endpoint[] {
  const { stored } = agent
  const record = plainRecord(agent.record)
  const cached = cache.get(record)
  if (cached) return cached
  const { format, bindings } = record
  const { origin } = stored.marks
  const base = origin ? () => origin.service : baseUrl
  const own = endpointsOf({ format, bindings: bindings.map((binding) => absolute(binding, base)) })
  const endpoints = atOrigin(agent, own)
  cache.set(record, endpoints)
  return endpoints
}

/** A copy has no sockets on this machine. If it has no other endpoint, it is called through its origin's gateway. */
function atOrigin({ stored: { marks } }: Called, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  if (!marks.origin) return endpoints
  const remote = endpoints.filter(({ protocol }) => protocol !== 'unix')
  const { gateway } = marks.origin
  return remote.length > 0 || gateway === undefined ? remote : [{ protocol: 'http', url: gateway }]
}

/** Whether calls go to the gateway of the agent's origin, because its own address is private or cannot be reached. */
export function isCalledThroughOrigin(agent: Agent): boolean {
  const { origin } = agent.stored.marks
  if (!origin) return false
  const isGateway = (url: string): boolean => url === origin.gateway || url.startsWith(`${origin.service}/agents/`)
  return latestEndpoints(agent, () => origin.service).some(({ url }) => isGateway(url))
}

/** Every origin at which the agent may be called as it is registered now, with its versions and operations. */
export function originsOf(agent: Agent, baseUrl: () => string): string[] {
  const { operations, document } = agent.record
  const at = (operation: Operation, base?: string): readonly Endpoint[] =>
    endpointsFor({ agent, operations, version: { base } }, operation, baseUrl)
  const plain: Operation = { name: IMPLIED_OPERATION, inputs: {}, outputs: {} }
  const bases = isObject(document.supportedVersions) ? asStrings(Object.values(document.supportedVersions)) : []
  const endpoints = [plain, ...operations].flatMap((operation) => at(operation))
  return [...new Set([...endpoints, ...bases.flatMap((base) => at(plain, base))].map(({ url }) => originOf(url)))]
}

/** The origin of an endpoint's URL: scheme, host and port, or the path of a Unix socket. */
export function originOf(url: string): string {
  const [socket] = /^unix:[^:]*/.exec(url) ?? []
  // The host of a template is known only when it is called; no stored credential is bound to it.
  return socket ?? (URL.canParse(url) ? new URL(url).origin : url)
}

/** A relative endpoint is a path of the agent's directory (C-18), unless it is the path of a Unix socket. */
function absolute(binding: Binding, baseUrl: () => string): Binding {
  const { protocol, endpoint } = binding
  if (/^[a-z][a-z0-9+.-]*:/i.test(endpoint) || /unix/i.test(protocol) || !URL.canParse(endpoint, baseUrl()))
    return binding
  return { ...binding, endpoint: new URL(endpoint, baseUrl()).href }
}

/** The endpoint of a version, whose base is relative to the agent's endpoint (AURI §7). */
function atVersion(endpoint: Endpoint, base: string): Endpoint[] {
  const [scheme = '', socket = ''] = endpoint.url.split(':')
  if (endpoint.protocol === 'unix')
    return base.startsWith('/') ? [{ ...endpoint, url: `${scheme}:${socket}:${base}` }] : []
  return URL.canParse(base, endpoint.url) ? [{ ...endpoint, url: new URL(base, endpoint.url).href }] : []
}
