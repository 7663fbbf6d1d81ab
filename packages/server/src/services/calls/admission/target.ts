import {
  type AgentRecord,
  asStrings,
  type Binding,
  IMPLIED_OPERATION,
  isObject,
  type Operation,
  schemeOf,
} from '@switchboard/protocol'
import type { Way } from '../../../gateway/call.js'
import { waysOf } from '../../../gateway/ways-of.js'
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
export function waysTo(
  { agent, operations, version }: Target,
  operation: Operation,
  baseUrl: () => string,
): readonly Way[] {
  const { format, operations: all } = agent.record
  const latest = waysToLatest(agent.record, baseUrl)
  const ways = version.base === undefined ? latest : latest.flatMap((way) => atVersion(way, version.base))
  // Endpoints of operations are those of the latest version.
  if (operation.endpoint === undefined || version.base !== undefined)
    return operations.length > 0 && all.length > 1 ? ways.map((way) => ({ ...way, namesOperation: true })) : ways
  const base = ways.find(({ speech }) => speech !== 'unix')?.endpoint ?? baseUrl()
  if (!URL.canParse(operation.endpoint, base)) return []
  const endpoint = new URL(operation.endpoint, base).href
  return waysOf({ format, bindings: [{ protocol: schemeOf(endpoint), endpoint }] })
}

/** Worked out once: a record does not change, and neither does the address of a directory that answers calls. */
const known = new WeakMap<AgentRecord, readonly Way[]>()

function waysToLatest(record: AgentRecord, baseUrl: () => string): readonly Way[] {
  const { format, bindings } = record
  const ways = known.get(record) ?? waysOf({ format, bindings: bindings.map((each) => absolute(each, baseUrl)) })
  known.set(record, ways)
  return ways
}

/** Every origin at which an agent may be called as it is registered now: at its versions and operations, too. */
export function originsOf(agent: Agent, baseUrl: () => string): string[] {
  const { record } = agent
  const { operations, document } = record
  const at = (operation: Operation, base?: string): readonly Way[] =>
    waysTo({ agent, record, operations, version: { version: undefined, base } }, operation, baseUrl)
  const plain: Operation = { name: IMPLIED_OPERATION, inputs: {}, outputs: {} }
  const bases = isObject(document.supportedVersions) ? asStrings(Object.values(document.supportedVersions)) : []
  const ways = [plain, ...operations].flatMap((operation) => at(operation))
  return [...new Set([...ways, ...bases.flatMap((base) => at(plain, base))].map(({ endpoint }) => originOf(endpoint)))]
}

/** Who is connected to at an endpoint: scheme, host and port, or a socket. */
export function originOf(endpoint: string): string {
  const [socket] = /^unix:[^:]*/.exec(endpoint) ?? []
  return socket ?? new URL(endpoint).origin
}

/** A relative endpoint is one of this directory's own paths (C-18), unless it is the path of a socket. */
function absolute(binding: Binding, baseUrl: () => string): Binding {
  const { protocol, endpoint } = binding
  if (/^[a-z][a-z0-9+.-]*:/i.test(endpoint) || /unix/i.test(protocol) || !URL.canParse(endpoint, baseUrl()))
    return binding
  return { ...binding, endpoint: new URL(endpoint, baseUrl()).href }
}

/** Where a version lies, relative to the endpoint (AURI §7). */
function atVersion(way: Way, base: string | undefined): Way[] {
  if (base === undefined) return [way]
  const [scheme = '', socket = ''] = way.endpoint.split(':')
  if (way.speech === 'unix') return base.startsWith('/') ? [{ ...way, endpoint: `${scheme}:${socket}:${base}` }] : []
  return URL.canParse(base, way.endpoint) ? [{ ...way, endpoint: new URL(base, way.endpoint).href }] : []
}
