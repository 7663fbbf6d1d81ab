import { agree } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Task, Tasks } from '../../services/tasks/tasks.js'
import { headerOf, readQuery } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { json } from '../schemas/response.js'
import { taskSchema } from './response-schemas.js'

/** Deferred calls: their status, result and cancellation (AURI §8.1.1, C-62). */
export function createTasksRoutes(tasks: Tasks): RouteGroup {
  const route = (method: Route['method'], rest: Pick<Route, 'summary' | 'responses' | 'handle'>): Route => ({
    method,
    path: '/tasks/:taskId',
    access: 'caller',
    limit: 'lookup',
    query: { sessionId: 'the session in which the call was made; same as X-Session-ID' },
    headers: { 'X-Session-ID': 'the session in which the call was made' },
    ...rest,
  })
  return {
    name: 'tasks',
    summary: 'Deferred calls',
    errors: 'application/problem+json',
    routes: [
      route('GET', {
        summary: 'The status of a deferred call, and its result or error once it has ended',
        responses: {
          200: json('the task; Retry-After while it is unfinished', taskSchema),
          404: 'no such task, or it belongs to another caller',
        },
        handle: async (request, reply) =>
          sendTask(reply, await tasks.read(taskIdOf(request), request.caller, sessionOf(request))),
      }),
      route('DELETE', {
        summary: 'Cancel a deferred call and the agent’s work on it',
        responses: {
          200: json('the task; cancelled, unless it had already ended', taskSchema),
          404: 'no such task, or it belongs to another caller',
        },
        handle: async (request, reply) =>
          sendTask(reply, await tasks.cancel(taskIdOf(request), request.caller, sessionOf(request))),
      }),
    ],
  }
}

function sendTask(reply: FastifyReply, { status, pollInterval, document }: Task): FastifyReply {
  if (status === 'pending' || status === 'running') reply.header('retry-after', String(pollInterval))
  return sendJson(reply.header('cache-control', 'no-store'), document)
}

function taskIdOf({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'taskId' in params ? String(params.taskId) : ''
}

/** The session from header or query; both must agree (C-63). */
function sessionOf(request: FastifyRequest): string | undefined {
  return agree('sessionId', [headerOf(request, 'x-session-id'), readQuery(request).get('sessionId')])
}
