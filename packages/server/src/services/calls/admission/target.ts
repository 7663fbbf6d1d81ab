import {
  type AgentRecord,
  asStrings,
  type Binding,
  IMPLIED_OPERATION,
  isObject,
  type Operation,
  schemeOf,
} from '@switchboard/protocol'
import { endpointsOf } from '../../../gateway/endpoints-of.js'
import type { Endpoint } from '../../../gateway/gateway.js'
import type { Agent } from '../../registry/catalog.js'
import type { ChosenVersion } from './choose-version.js'

/** Whom a call is for. */
export interface Target {
  readonly agent: Agent
  /** The record as the caller sees it: operations that are kept from it cannot be called by it. */
  readonly record: AgentRecord
  readonly operations: readonly Operation[]
  readonly version: ChosenVersion
}

/**
 * Where an operation is called, in order of preference. Endpoints may be kept from the caller, so they are read from
 * the whole record.
 */
export function endpointsFor(
  { agent, operations, version }: Target,
  operation: Operation,
  baseUrl: () => string,
): readonly Endpoint[] {
  const { format, operations: all } = agent.record
  const latest = latestEndpoints(agent.record, baseUrl)
  const endpoints =
    version.base === undefined ? latest : latest.flatMap((endpoint) => atVersion(endpoint, version.base))
  // Endpoints of operations are those of the latest version.
  if (operation.endpoint === undefined || version.base !== undefined)
    return operations.length > 0 && all.length > 1
      ? endpoints.map((endpoint) => ({ ...endpoint, namesOperation: true }))
      : endpoints
  const base = endpoints.find(({ protocol }) => protocol !== 'unix')?.url ?? baseUrl()
  if (!URL.canParse(operation.endpoint, base)) return []
  const endpoint = new URL(operation.endpoint, base).href
  return endpointsOf({ format, bindings: [{ protocol: schemeOf(endpoint), endpoint }] })
}

/** Worked out once: a record does not change, and neither does the address of a directory that answers calls. */
const known = new WeakMap<AgentRecord, readonly Endpoint[]>()

function latestEndpoints(record: AgentRecord, baseUrl: () => string): readonly Endpoint[] {
  const { format, bindings } = record
  const endpoints =
    known.get(record) ?? endpointsOf({ format, bindings: bindings.map((each) => absolute(each, baseUrl)) })
  known.set(record, endpoints)
  return endpoints
}

/** Every origin at which an agent may be called as it is registered now: at its versions and operations, too. */
export function originsOf(agent: Agent, baseUrl: () => string): string[] {
  const { record } = agent
  const { operations, document } = record
  const at = (operation: Operation, base?: string): readonly Endpoint[] =>
    endpointsFor({ agent, record, operations, version: { version: undefined, base } }, operation, baseUrl)
  const plain: Operation = { name: IMPLIED_OPERATION, inputs: {}, outputs: {} }
  const bases = isObject(document.supportedVersions) ? asStrings(Object.values(document.supportedVersions)) : []
  const endpoints = [plain, ...operations].flatMap((operation) => at(operation))
  return [...new Set([...endpoints, ...bases.flatMap((base) => at(plain, base))].map(({ url }) => originOf(url)))]
}

/** The origin of an endpoint's URL: scheme, host and port, or the path of a Unix socket. */
export function originOf(url: string): string {
  const [socket] = /^unix:[^:]*/.exec(url) ?? []
  return socket ?? new URL(url).origin
}

/** A relative endpoint is one of this directory's own paths (C-18), unless it is the path of a socket. */
function absolute(binding: Binding, baseUrl: () => string): Binding {
  const { protocol, endpoint } = binding
  if (/^[a-z][a-z0-9+.-]*:/i.test(endpoint) || /unix/i.test(protocol) || !URL.canParse(endpoint, baseUrl()))
    return binding
  return { ...binding, endpoint: new URL(endpoint, baseUrl()).href }
}

/** Where a version lies, relative to the endpoint (AURI §7). */
function atVersion(endpoint: Endpoint, base: string | undefined): Endpoint[] {
  if (base === undefined) return [endpoint]
  const [scheme = '', socket = ''] = endpoint.url.split(':')
  if (endpoint.protocol === 'unix')
    return base.startsWith('/') ? [{ ...endpoint, url: `${scheme}:${socket}:${base}` }] : []
  return URL.canParse(base, endpoint.url) ? [{ ...endpoint, url: new URL(base, endpoint.url).href }] : []
}
