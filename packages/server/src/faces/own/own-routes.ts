import { DirectoryError, type JsonObject, toAidipSummary } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import type { Keys } from '../../services/identity/keys.js'
import type { Agent } from '../../services/registry/catalog.js'
import type { Tasks } from '../../services/tasks/tasks.js'
import { showKey } from '../admin/admin-routes.js'
import { keysSchema } from '../admin/response-schemas.js'
import { idOf, readQuery, wholeNumber } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { numberParameter } from '../schemas/parameter.js'
import { list, object } from '../schemas/parts.js'
import { json } from '../schemas/response.js'
import { taskSchema } from '../tasks/response-schemas.js'
import { ownAgentsSchema } from './response-schemas.js'

export interface OwnOptions {
  readonly context: Context
  readonly keys: Keys
  /** Undefined: the directory makes no calls. */
  readonly tasks: Tasks | undefined
}

/** What belongs to the caller: agents, keys, deferred calls. */
export function createOwnRoutes({ context, keys, tasks }: OwnOptions): RouteGroup {
  const { catalog } = context
  const route = (rest: Omit<Route, 'access' | 'limit'>): Route => ({ access: 'caller', limit: 'lookup', ...rest })

  /** An agent as in lists, with what its owner has to watch: visibility, lifetime, the directory's findings. */
  const showAgent = (agent: Agent): JsonObject => {
    const facts = catalog.facts(agent)
    const { format, visibility } = agent.record
    return {
      ...toAidipSummary(agent.record, facts),
      status: agent.status,
      format,
      visibility,
      modified_at: new Date(facts.modifiedAt).toISOString(),
      ...(facts.expiresAt !== undefined && { expires_at: new Date(facts.expiresAt).toISOString() }),
      ...(Array.isArray(facts.verification.warnings) && { warnings: facts.verification.warnings }),
    }
  }

  return {
    name: 'own',
    summary: 'What belongs to the caller',
    errors: 'application/json',
    noStore: true,
    routes: [
      route({
        method: 'GET',
        path: '/me/agents',
        summary: 'The caller’s own agents, in every state, by name',
        query: {
          top: numberParameter('maximum number of agents, 1 to 100 (default: 10)', 1),
          skip: numberParameter('number of agents to skip'),
        },
        responses: { 200: json('agents, and the count of all', ownAgentsSchema) },
        handle: (request, reply) => {
          const { agents, total } = context.ownAgents.list(subjectOf(request), pageOf(request))
          return sendJson(reply, { agents: agents.map(showAgent), count: total })
        },
      }),
      route({
        method: 'GET',
        path: '/me/keys',
        summary: 'The caller’s own API keys, without secrets',
        responses: { 200: json('the keys', keysSchema) },
        handle: (request, reply) => sendJson(reply, { keys: ownKeys(keys, request).map(showKey) }),
      }),
      route({
        method: 'DELETE',
        path: '/me/keys/:id',
        summary: 'Revoke one of the caller’s own API keys, effective immediately',
        responses: { 204: 'revoked', 404: 'the caller has no such key' },
        handle: async (request, reply) => {
          const id = idOf(request)
          if (!ownKeys(keys, request).some((key) => key.id === id))
            throw new DirectoryError('not_found', `you have no key with the id "${id}"`)
          await keys.revoke(id, request.caller)
          return reply.code(204).send()
        },
      }),
      ...(tasks
        ? [
            route({
              method: 'GET',
              path: '/me/tasks',
              summary:
                'The caller’s own deferred calls that are kept, newest first; GET /tasks/{taskId} has the result',
              responses: { 200: json('the tasks', object({ tasks: list(taskSchema) })) },
              handle: async (request, reply) =>
                sendJson(reply, { tasks: (await tasks.list(request.caller)).map(({ document }) => document) }),
            }),
          ]
        : []),
    ],
  }
}

/** Agents on a page. */
const MAX_TOP = 100
const DEFAULT_TOP = 10

function pageOf(request: FastifyRequest): { skip: number; take: number } {
  const params = readQuery(request)
  const take = Math.min(wholeNumber(params, 'top', 1) ?? DEFAULT_TOP, MAX_TOP)
  return { take, skip: wholeNumber(params, 'skip', 0) ?? 0 }
}

const ownKeys = (keys: Keys, request: FastifyRequest): ReturnType<Keys['list']> => {
  const subject = subjectOf(request)
  return keys.list().filter((key) => key.subject === subject)
}

/** The routes need credentials, and whoever has any has a subject. */
function subjectOf({ caller: { subject } }: FastifyRequest): string {
  if (subject === undefined) throw new DirectoryError('unauthorized', 'this needs credentials')
  return subject
}
