import { invalid, type JsonObject } from '@switchboard/protocol'
import { HEALTH_STATES, type HealthState, type ListAgentHealth } from '../../services/operations/agent-health.js'
import type { Refusals, RefusedClient } from '../../services/operations/refusals.js'
import type { History } from '../../telemetry/metrics.js'
import { readQuery, readTime, wholeNumber } from '../read-request.js'
import { sendJson, sendJsonText } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { numberParameter, timeParameter } from '../schemas/parameter.js'
import { json } from '../schemas/response.js'
import { healthSchema, historySchema, overviewSchema, refusedSchema, settingsSchema } from './response-schemas.js'

export interface OperateRoutesOptions {
  readonly overview: () => Promise<JsonObject>
  readonly history: Pick<History, 'read' | 'startedAt'>
  readonly refusals: Pick<Refusals, 'top'>
  readonly listHealth: ListAgentHealth
  /** All settings, without secrets. */
  readonly settings: () => readonly object[]
  readonly now: () => number
}

const MINUTE_S = 60
const HOUR_MS = 3_600_000
const DAY_S = 86_400
const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

/** For operators: how this replica is doing, and how it is set up. */
export function createOperateRoutes(options: OperateRoutesOptions): RouteGroup {
  const { overview, history, refusals, listHealth, settings, now } = options
  return {
    name: 'operate',
    summary: 'How this replica is doing, and how it is set up',
    errors: 'application/json',
    noStore: true,
    routes: [
      {
        method: 'GET',
        path: '/admin/overview',
        summary: 'The state of this replica: agents, index, feed, queues, store and process',
        access: 'admin',
        responses: { 200: json('the state', overviewSchema) },
        handle: async (_request, reply) => sendJson(reply, await overview()),
      },
      {
        method: 'GET',
        path: '/admin/history',
        summary: 'What happened here in the last 24 hours: requests, durations, calls and errors; from memory',
        access: 'admin',
        query: {
          since: timeParameter('default: an hour ago'),
          step: numberParameter('seconds of one point, in whole minutes (default: 60)', 60),
        },
        responses: {
          200: json(
            'the points, oldest first; they begin with the process, and are those of this replica',
            historySchema,
          ),
        },
        handle: (request, reply) => {
          const params = readQuery(request)
          const since = readTime(params, 'since') ?? now() - HOUR_MS
          const seconds = Math.min(wholeNumber(params, 'step', MINUTE_S) ?? MINUTE_S, DAY_S)
          const minutes = Math.ceil(seconds / MINUTE_S)
          const shown = {
            started_at: new Date(history.startedAt).toISOString(),
            step_seconds: minutes * MINUTE_S,
            points: history.read(since, minutes),
          }
          return sendJsonText(reply, JSON.stringify(shown))
        },
      },
      {
        method: 'GET',
        path: '/admin/limits/refused',
        summary: 'Who reached a limit on this replica in the last hour, and how often; from memory',
        access: 'admin',
        query: { limit: numberParameter(`entries, at most ${MAX_LIMIT} (default: ${DEFAULT_LIMIT})`, 1) },
        responses: {
          200: json('those that were refused most often come first', refusedSchema),
        },
        handle: (request, reply) => {
          const limit = Math.min(wholeNumber(readQuery(request), 'limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT)
          const { since, clients, others } = refusals.top(limit)
          return sendJson(reply, { since: new Date(since).toISOString(), refused: clients.map(showRefused), others })
        },
      },
      {
        method: 'GET',
        path: '/admin/health',
        summary: 'How the agents are, by the checks of the directory and by their recent calls',
        access: 'admin',
        query: {
          state: `one or more of ${HEALTH_STATES.join(', ')}, separated by commas (default: all)`,
          q: 'part of the id or the owner, in upper or lower case',
          limit: numberParameter(`agents per page, at most ${MAX_LIMIT} (default: ${DEFAULT_LIMIT})`, 1),
          after: '`next` of the page before',
        },
        responses: { 200: json('the agents, in the order of their ids', healthSchema) },
        handle: (request, reply) => {
          const params = readQuery(request)
          const [text, after] = [params.get('q'), params.get('after')]
          const limit = Math.min(wholeNumber(params, 'limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT)
          const filter = {
            states: readStates(params.get('state')),
            limit,
            ...(text && { text }),
            ...(after !== null && { after }),
          }
          const { checked, counts, agents, hasMore } = listHealth(filter, request.caller)
          const next = hasMore ? agents.at(-1)?.id : undefined
          return sendJson(reply, { checked, counts, agents: [...agents], ...(next !== undefined && { next }) })
        },
      },
      {
        method: 'GET',
        path: '/admin/settings',
        summary: 'The settings in force: value, default, and which flag, variable or file sets it; no secrets',
        access: 'admin',
        responses: {
          200: json('the settings; of a secret, only whether it is set', settingsSchema),
        },
        handle: (_request, reply) => sendJson(reply, { settings: settings().map((setting) => ({ ...setting })) }),
      },
    ],
  }
}

function readStates(text: string | null): readonly HealthState[] {
  if (text === null) return HEALTH_STATES
  return text.split(',').map((name) => {
    const state = HEALTH_STATES.find((known) => known === name)
    if (!state) throw invalid([{ at: '?state', message: `must be one or more of ${HEALTH_STATES.join(', ')}` }])
    return state
  })
}

const showRefused = ({ limit, client, times, lastAt }: RefusedClient): JsonObject => ({
  limit,
  ...(client && { [client.kind]: client.name }),
  times,
  last_at: new Date(lastAt).toISOString(),
})
