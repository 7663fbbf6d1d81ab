import { type AgentRecord, type Binding, type Operation, schemeOf } from '@switchboard/protocol'
import type { Way } from '../../gateway/call.js'
import { waysOf } from '../../gateway/ways-of.js'
import type { Agent } from '../catalog.js'
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
export function waysTo({ agent, operations, version }: Target, operation: Operation, baseUrl: string): Way[] {
  const { face, bindings, operations: all } = agent.record
  const ways = waysOf({ face, bindings: bindings.map((binding) => absolute(binding, baseUrl)) }).flatMap((way) =>
    atVersion(way, version.base),
  )
  // Endpoints of operations are those of the latest version.
  if (operation.endpoint === undefined || version.base !== undefined)
    return operations.length > 0 && all.length > 1 ? ways.map((way) => ({ ...way, namesOperation: true })) : ways
  const base = ways.find(({ speech }) => speech !== 'unix')?.endpoint ?? baseUrl
  if (!URL.canParse(operation.endpoint, base)) return []
  const endpoint = new URL(operation.endpoint, base).href
  return waysOf({ face, bindings: [{ protocol: schemeOf(endpoint), endpoint }] })
}

/** A relative endpoint is one of this directory's own paths (C-18), unless it is the path of a socket. */
function absolute(binding: Binding, baseUrl: string): Binding {
  const { protocol, endpoint } = binding
  if (/^[a-z][a-z0-9+.-]*:/i.test(endpoint) || /unix/i.test(protocol) || !URL.canParse(endpoint, baseUrl))
    return binding
  return { ...binding, endpoint: new URL(endpoint, baseUrl).href }
}

/** Where a version lies, relative to the endpoint (AURI §7). */
function atVersion(way: Way, base: string | undefined): Way[] {
  if (base === undefined) return [way]
  const [scheme = '', socket = ''] = way.endpoint.split(':')
  if (way.speech === 'unix') return base.startsWith('/') ? [{ ...way, endpoint: `${scheme}:${socket}:${base}` }] : []
  return URL.canParse(base, way.endpoint) ? [{ ...way, endpoint: new URL(base, way.endpoint).href }] : []
}
