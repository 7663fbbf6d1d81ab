import { invalid } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Task, Tasks } from '../../services/tasks/tasks.js'
import { headerOf, sendJson } from '../answer.js'
import { readQuery } from '../query.js'
import type { Route, RouteGroup } from '../route-group.js'

/** Deferred calls: how they are doing, and their end (AURI §8.1.1, C-62). */
export function createTasksRoutes(tasks: Tasks): RouteGroup {
  const route = (method: Route['method'], rest: Pick<Route, 'summary' | 'answers' | 'handle'>): Route => ({
    method,
    path: '/tasks/:taskId',
    access: 'caller',
    limit: 'lookup',
    query: { sessionId: 'the session that the call was made in, as X-Session-ID' },
    ...rest,
  })
  return {
    name: 'tasks',
    errors: 'application/problem+json',
    routes: [
      route('GET', {
        summary: 'How a deferred call is doing: its status, and then its result or error',
        answers: { 200: 'the task; Retry-After while it is unfinished', 404: 'no such task of yours' },
        handle: async (request, reply) =>
          sendTask(reply, await tasks.read(taskIdOf(request), request.caller, sessionOf(request))),
      }),
      route('DELETE', {
        summary: 'Cancel a deferred call, and the agent’s work on it',
        answers: { 200: 'the task: cancelled, or as it had ended before', 404: 'no such task of yours' },
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

/** Header or query; two that differ are a mistake (C-63). */
function sessionOf(request: FastifyRequest): string | undefined {
  const header = headerOf(request, 'x-session-id')
  const query = readQuery(request).get('sessionId') ?? undefined
  if (header !== undefined && query !== undefined && header !== query)
    throw invalid([{ at: '?sessionId', message: 'differs from X-Session-ID: send one of them' }])
  return header ?? query
}
