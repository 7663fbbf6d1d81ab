import {
  assertValid,
  callableOperations,
  compileSchema,
  gatewayUrl,
  given,
  isObject,
  type JsonObject,
  type JsonValue,
  reachableBindings,
  toJsonSchema,
  verificationFor,
} from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { assertFilterLimits } from '../../policy/filter-limits.js'
import type { Context } from '../../services/context.js'
import { roundScore } from '../../services/discovery/explain-score.js'
import type { Found } from '../../services/discovery/find.js'
import { type Intent, resolveIntent } from '../../services/discovery/resolve-intent.js'
import { readJson, readLanguages } from '../read-request.js'
import { renderFound, sendJson, toSpelling } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { component } from '../schemas/component.js'
import { json } from '../schemas/response.js'
import { resolutionSchema } from './response-schemas.js'

const DEFAULT_TOP = 5
const MAX_TOP = 50

/** For agents whose operations have names that the directory does not know. */
const UNKNOWN_OPERATIONS =
  'the agent has not listed its operations to this directory: a call without "operation" is answered with those that your credential may call'

const texts: JsonObject = { type: 'array', items: { type: 'string' } }
const limit: JsonObject = { type: 'number', minimum: 0 }

/** The request of AIDIP §6: intent, context and policy. */
const intentSchema: JsonObject = {
  $id: 'urn:switchboard:schema:intent',
  type: 'object',
  required: ['intent'],
  properties: {
    intent: { type: 'string', minLength: 1 },
    context: { type: 'object' },
    policy: {
      type: 'object',
      properties: {
        min_quality_score: limit,
        require_verified: { type: 'boolean' },
        require_certification: { type: 'boolean' },
        authentication: texts,
        protocols: texts,
        publishers: texts,
        excluded_tags: texts,
        region: { type: 'string' },
        data_residency: { type: 'string' },
        max_cost: limit,
        max_latency_ms: limit,
      },
    },
    top: { type: 'integer', minimum: 1 },
    exact: { type: 'boolean', description: 'search for the words as they are written: no correction of typos' },
  },
}
const check = compileSchema(intentSchema)
const intent = component('Intent', intentSchema)

/** Intent resolution: the agents suitable for a task, with everything needed to call them. It calls none. */
export function createResolutionRoutes(context: Context): RouteGroup {
  return {
    name: 'resolution',
    summary: 'From an intent to suitable agents',
    errors: 'application/json',
    routes: [
      {
        method: 'POST',
        path: '/resolve',
        summary: 'Find the agents suitable for an intent, with their endpoints and how to call them',
        access: 'discover',
        limit: 'search',
        body: intent,
        responses: {
          200: json('candidates, best first, and how many were excluded for each reason', resolutionSchema),
        },
        handle: async (request, reply) => {
          const resolution = await resolveIntent(context, parseIntent(request))
          const { candidates, searchId, excluded, applied, unsupported, warnings } = resolution
          return sendJson(reply, {
            request_id: request.caller.requestId,
            candidates: renderFound(context, candidates, (found) => toCandidate(context, found)),
            ...given('search_id', searchId),
            excluded: { ...excluded },
            applied_policy: [...applied],
            ...(unsupported.length > 0 && { unsupported_policy: [...unsupported] }),
            ...toSpelling(resolution),
            ...(warnings.length > 0 && { warnings: [...warnings] }),
          })
        },
      },
    ],
  }
}

function parseIntent(request: FastifyRequest): Intent {
  const body = readJson(request)
  assertValid(check(body))
  const { intent, context, policy, top, exact } = isObject(body) ? body : {}
  if (isObject(context)) assertFilterLimits(context, '/context/')
  if (isObject(policy)) assertFilterLimits(policy, '/policy/')
  return {
    text: String(intent),
    hints: isObject(context) ? Object.values(context).flatMap(stringsOf) : [],
    policy: isObject(policy) ? policy : {},
    take: Math.min(typeof top === 'number' ? top : DEFAULT_TOP, MAX_TOP),
    exact: exact === true,
    callerLanguages: readLanguages(request),
    caller: request.caller,
    trace: request.trace,
  }
}

const stringsOf = (value: JsonValue): string[] => [value].flat().filter((item) => typeof item === 'string')

/** Endpoints and invocation metadata: enough to call the agent without another request. */
function toCandidate(context: Context, { agent, record, score = 0 }: Found): JsonObject {
  const facts = context.catalog.facts(agent)
  const { authentication } = record
  const operations = callableOperations(record)
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    score: roundScore(score),
    endpoints: reachableBindings(record, facts).map(({ protocol, endpoint }) => ({ protocol, endpoint })),
    invocation: {
      method: 'POST',
      url: gatewayUrl(record, facts),
      content_type: 'application/json',
      authentication: { type: authentication?.type ?? 'none', ...given('instructions', authentication?.instructions) },
      operations: operations.map(({ name, description, inputs, outputs }) => ({
        name,
        ...given('description', description),
        input_schema: toJsonSchema(inputs),
        output_schema: toJsonSchema(outputs),
      })),
      ...(operations.length === 0 && { hint: UNKNOWN_OPERATIONS }),
    },
    verification: verificationFor(record, facts),
  }
}
