import { agree } from '@switchboard/protocol'
import type { Authenticator } from '../auth/authenticate.js'
import { AgentError } from '../errors.js'
import { POLL_SECONDS, toTaskDocument } from '../tasks/task.js'
import type { Tasks } from '../tasks/tasks.js'
import { credentialsOf } from './credentials.js'
import type { Exchange } from './exchange.js'
import { jsonResponse } from './responses.js'

/** Reads and cancels deferred calls (AURI §8.1.1). */
export function createTaskRoute(tasks: Tasks, authenticator: Authenticator) {
  return async (exchange: Exchange, id: string): Promise<Response> => {
    const { request, url } = exchange
    const caller = await authenticator.authenticate(credentialsOf(exchange))
    const sessionId = agree('sessionId', [request.headers.get('x-session-id'), url.searchParams.get('sessionId')])
    const reader = { owner: caller.client, ...(sessionId !== undefined && { sessionId }) }
    if (request.method !== 'GET' && request.method !== 'DELETE') {
      throw new AgentError('method_not_allowed', 'use GET to read a task or DELETE to cancel it', {
        headers: { allow: 'GET, DELETE' },
      })
    }
    const task = request.method === 'GET' ? await tasks.read(id, reader) : await tasks.cancel(id, reader)
    return jsonResponse(toTaskDocument(task), 200, {
      'cache-control': 'no-store',
      'x-task-id': id,
      ...(task.status === 'running' && { 'retry-after': String(POLL_SECONDS) }),
    })
  }
}
