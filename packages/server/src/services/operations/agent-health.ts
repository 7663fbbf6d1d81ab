import type { JsonObject } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { Health } from '../../policy/health.js'
import type { Outcomes } from '../calls/outcomes/outcomes.js'
import type { Agent, Catalog } from '../registry/catalog.js'
import type { Liveness } from '../trust/liveness.js'

/**
 * - `unreachable`: the checks of the directory say so
 * - `failing`: it can be reached, or is not checked, but many of its recent calls failed
 * - `reachable`: the last check succeeded, or there was only one failure
 * - `unchecked`: nothing is known
 */
export const HEALTH_STATES = ['unreachable', 'failing', 'reachable', 'unchecked'] as const

export type HealthState = (typeof HEALTH_STATES)[number]

/** Calls, each counting less the older it is, from which on their failures count, and the share that is too low. */
const MIN_CALLS = 3
const LOW_SUCCESS = 0.9

export interface HealthFilter {
  readonly states: readonly HealthState[]
  /** Part of the id or the owner; upper and lower case are the same. */
  readonly text?: string
  /** The id of the last agent of the page before. */
  readonly after?: string
  readonly limit: number
}

export interface HealthPage {
  /** Whether agents are checked; otherwise only their calls say how they are. */
  readonly checked: boolean
  /** Agents in each state, whatever the filter says. */
  readonly counts: Readonly<Record<HealthState, number>>
  /** In the order of their ids. */
  readonly agents: readonly JsonObject[]
  /** Whether there are more. */
  readonly hasMore: boolean
}

export interface AgentHealthOptions {
  readonly catalog: Pick<Catalog, 'index'>
  readonly liveness: Pick<Liveness, 'healthOf'> | undefined
  readonly outcomes: Pick<Outcomes, 'statisticsOf'>
}

/** How the agents are, by checks and by calls; for administrators. */
export type ListAgentHealth = (filter: HealthFilter, caller: Caller) => HealthPage

interface Found {
  readonly agent: Agent
  readonly state: HealthState
  readonly health: Health | undefined
  readonly calls: JsonObject | undefined
}

export function createListAgentHealth({ catalog, liveness, outcomes }: AgentHealthOptions): ListAgentHealth {
  return ({ states, text, after, limit }, caller) => {
    const counts = { unreachable: 0, failing: 0, reachable: 0, unchecked: 0 }
    const wanted = new Set(states)
    const part = text?.toLowerCase()
    const page: Found[] = []
    for (const agent of catalog.index.select({ conditions: [], view: ({ record }) => record })) {
      const health = liveness?.healthOf(agent)
      const calls = outcomes.statisticsOf(agent, caller)
      const state = stateOf(health, calls)
      counts[state]++
      const { id } = agent.record
      if (!wanted.has(state) || (after !== undefined && id <= after)) continue
      if (part !== undefined && !`${id}\n${agent.owner}`.toLowerCase().includes(part)) continue
      addInOrder(page, { agent, state, health, calls }, limit + 1)
    }
    return {
      checked: liveness !== undefined,
      counts,
      agents: page.slice(0, limit).map(show),
      hasMore: page.length > limit,
    }
  }
}

function stateOf(health: Health | undefined, calls: JsonObject | undefined): HealthState {
  if (health?.state === 'unreachable') return 'unreachable'
  if (Number(calls?.calls) >= MIN_CALLS && Number(calls?.success_rate) < LOW_SUCCESS) return 'failing'
  return health ? 'reachable' : 'unchecked'
}

/** Keeps the first ones by id, so that a page does not need all agents sorted. */
function addInOrder(page: Found[], found: Found, limit: number): void {
  const { id } = found.agent.record
  const last = page.at(-1)?.agent.record.id
  if (page.length === limit && last !== undefined && id > last) return
  const index = page.findLastIndex(({ agent }) => agent.record.id < id)
  page.splice(index + 1, 0, found)
  if (page.length > limit) page.pop()
}

function show({ agent, state, health, calls }: Found): JsonObject {
  const { record, owner, status } = agent
  return {
    id: record.id,
    owner,
    status,
    state,
    ...(health && {
      since: new Date(health.since).toISOString(),
      checked_at: new Date(health.checkedAt).toISOString(),
      failures: health.failures,
      ...(health.reason && { reason: REASONS[health.reason] }),
    }),
    ...(calls?.calls !== undefined && { calls: calls.calls }),
    ...(calls?.success_rate !== undefined && { success_rate: calls.success_rate }),
    ...(calls?.latency_ms !== undefined && { latency_ms: calls.latency_ms }),
  }
}

const REASONS = {
  silent: 'nothing responds at its address',
  down: 'a proxy responds at its address, but says that the agent does not (502, 503 or 504)',
}
