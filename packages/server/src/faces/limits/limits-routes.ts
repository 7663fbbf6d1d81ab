import { assertValid, compileSchema, invalid, isObject, type JsonObject, subjectProblem } from '@switchboard/protocol'
import { type Caller, clientOf } from '../../policy/caller.js'
import {
  AGENT_LIMIT_NAMES,
  LIMIT_NAMES,
  type LimitName,
  type LimitTarget,
  type LimitValues,
} from '../../policy/limits.js'
import type { LimitedAction, RateLimits } from '../../policy/rate-limit.js'
import type { Budgets } from '../../services/operations/budgets.js'
import type { Limits } from '../../services/operations/limits.js'
import { idOf, readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { json } from '../schemas/response.js'
import { ownLimitsSchema, ruleSchema, rulesSchema } from './response-schemas.js'

export interface LimitsRoutesOptions {
  readonly limits: Limits
  readonly budgets: Budgets
  readonly rates: RateLimits
  /** The limits of the config; undefined: not limited. */
  readonly defaults: LimitValues
  /** What a subject uses now of limits that are not counted by time. */
  readonly usedBy: (subject: string) => Promise<LimitValues>
}

/** Actions with a rate limit, by the name of the limit. */
const RATES: { readonly [Name in LimitName]?: LimitedAction } = {
  search_per_minute: 'search',
  register_per_minute: 'register',
  lookup_per_minute: 'lookup',
  invoke_per_minute: 'invoke',
}

const MAX_VALUE = Number.MAX_SAFE_INTEGER
const name: JsonObject = { type: 'string', minLength: 1 }
const limitSchema: JsonObject = {
  type: 'object',
  required: ['limits'],
  properties: {
    subject: name,
    scope: name,
    agent: name,
    limits: {
      type: 'object',
      minProperties: 1,
      properties: Object.fromEntries(
        LIMIT_NAMES.map((limit) => [limit, { type: 'integer', minimum: RATES[limit] ? 1 : 0, maximum: MAX_VALUE }]),
      ),
      additionalProperties: false,
    },
  },
  additionalProperties: false,
}
const checkLimit = compileSchema(limitSchema)

/** Limits that administrators set, and what callers use of theirs. */
export function createLimitsRoutes(options: LimitsRoutesOptions): RouteGroup {
  const { limits, budgets, defaults } = options
  return {
    name: 'limits',
    summary: 'What a caller may use, and has used',
    errors: 'application/json',
    routes: [
      {
        method: 'POST',
        path: '/admin/limits',
        summary: 'Set the limits of a subject, of all subjects with a scope, or of an agent; replaces those it had',
        access: 'admin',
        body: limitSchema,
        responses: { 200: json('the limits, in force at once', ruleSchema) },
        handle: async (request, reply) => {
          const { target, values } = readRule(readJsonObject(request))
          return sendJson(reply, await showRule(options, await limits.set(target, values, request.caller)))
        },
      },
      {
        method: 'GET',
        path: '/admin/limits',
        summary: 'List the limits that were set, with their usage, and the limits of the config',
        access: 'admin',
        responses: { 200: json('the limits', rulesSchema) },
        handle: async (_request, reply) => {
          const rules: JsonObject[] = []
          for (const rule of limits.list()) rules.push(await showRule(options, rule))
          return sendJson(reply, { limits: rules, defaults: { ...defaults } })
        },
      },
      {
        method: 'DELETE',
        path: '/admin/limits/:id',
        summary: 'Remove limits: those of the config apply again',
        access: 'admin',
        responses: { 204: 'removed', 404: 'no such limits' },
        handle: async (request, reply) => {
          await limits.remove(idOf(request), request.caller)
          return reply.code(204).send()
        },
      },
      {
        method: 'GET',
        path: '/limits',
        summary: 'Your limits: how much you have used, and when they are reset',
        access: 'caller',
        limit: 'lookup',
        responses: { 200: json('your limits', ownLimitsSchema) },
        handle: async (request, reply) =>
          sendJson(reply.header('cache-control', 'no-store'), await showOwn(options, request.caller, budgets)),
      },
    ],
  }
}

function readRule(body: JsonObject): { target: LimitTarget; values: LimitValues } {
  assertValid(checkLimit(body))
  const targets = (['subject', 'scope', 'agent'] as const).flatMap((kind): LimitTarget[] => {
    const value = body[kind]
    return typeof value === 'string' ? [{ kind, name: value }] : []
  })
  const [target] = targets
  if (!target || targets.length > 1)
    throw invalid([{ at: '', message: 'needs one of /subject, /scope and /agent, and not more than one' }])
  const problem = subjectProblem(target.name)
  if (problem !== undefined) throw invalid([{ at: `/${target.kind}`, message: problem }])
  const given = isObject(body.limits) ? body.limits : {}
  const allowed: readonly LimitName[] = target.kind === 'agent' ? AGENT_LIMIT_NAMES : LIMIT_NAMES
  const unfit = LIMIT_NAMES.find((limit) => given[limit] !== undefined && !allowed.includes(limit))
  if (unfit !== undefined) {
    const message = `cannot be limited for an agent: use ${AGENT_LIMIT_NAMES.join(' or ')}`
    throw invalid([{ at: `/limits/${unfit}`, message }])
  }
  const values = allowed.flatMap((limit) => (given[limit] === undefined ? [] : [[limit, Number(given[limit])]]))
  return { target, values: Object.fromEntries(values) }
}

async function showRule(
  { budgets, usedBy }: LimitsRoutesOptions,
  rule: ReturnType<Limits['list']>[number],
): Promise<JsonObject> {
  const { id, kind, name: target, values, createdAt } = rule
  const calls =
    kind === 'scope' || values.calls_per_day === undefined ? {} : { calls_per_day: await budgets.used(rule) }
  const used = { ...(kind === 'subject' ? await usedBy(target) : {}), ...calls }
  const shown = Object.fromEntries(Object.entries(used).filter(([limit]) => values[limit] !== undefined))
  return {
    id,
    [kind]: target,
    limits: { ...values },
    ...(kind !== 'scope' && { used: shown }),
    created_at: new Date(createdAt).toISOString(),
  }
}

async function showOwn(
  { limits, rates, defaults, usedBy }: LimitsRoutesOptions,
  caller: Caller,
  budgets: Budgets,
): Promise<JsonObject> {
  const subject = caller.subject ?? ''
  const used = await usedBy(subject)
  const shown: JsonObject[] = []
  for (const limit of LIMIT_NAMES) {
    const set = limits.of(subject, limit)
    const value = set?.value ?? defaults[limit]
    if (value === undefined) continue
    const usage = await usageOf(limit)
    shown.push({ name: limit, limit: value, ...usage, ...(set && { set_for: set.rule }) })
  }
  return { subject, limits: shown }

  async function usageOf(limit: LimitName): Promise<JsonObject> {
    const action = RATES[limit]
    if (action) {
      const { limit: most, remaining, resetSeconds } = rates.quotaOf(action, clientOf(caller))
      return { used: most - remaining, reset_seconds: resetSeconds }
    }
    if (limit === 'calls_per_day')
      return { used: await budgets.used({ kind: 'subject', name: subject }), reset_seconds: budgets.resetSeconds }
    return used[limit] === undefined ? {} : { used: used[limit] }
  }
}
