import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import inject from 'light-my-request'
import type { Caller } from '../policy/caller.js'

/** The callers of requests that the directory makes to itself. */
const callers = new WeakMap<IncomingMessage, Caller>()

/** The caller on whose behalf the directory sends this request to itself; undefined if it came over the network. */
export const callerOfOwn = (request: IncomingMessage): Caller | undefined => callers.get(request)

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

/**
 * A `fetch` that answers with the directory's own routes, without a connection. The requests have the rights and limits of
 * the caller, however it was authenticated.
 */
export function createOwnFetch(app: FastifyInstance, caller: Caller): typeof fetch {
  return async (input, init = {}) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    const method = METHODS.find((each) => each === (init.method ?? 'GET'))
    if (!method) throw new TypeError(`${init.method} is not supported`)
    const response = await inject(
      (request, reply) => {
        callers.set(request, caller)
        // A connection would be closed; routes notice that by their response.
        init.signal?.addEventListener('abort', () => reply.destroy())
        app.routing(request, reply)
      },
      {
        method,
        url: pathname + search,
        // The request of the caller has passed the check of the proxy's header.
        headers: { ...Object.fromEntries(new Headers(init.headers)), 'x-forwarded-proto': 'https' },
        ...(typeof init.body === 'string' && { payload: init.body }),
        ...(init.signal && { signal: init.signal }),
      },
    )
    const headers = new Headers()
    for (const [name, value] of Object.entries(response.headers)) {
      for (const each of [value].flat()) if (each !== undefined) headers.append(name, String(each))
    }
    const isEmpty = response.statusCode === 204 || response.statusCode === 304
    return new Response(isEmpty ? null : response.rawPayload, { status: response.statusCode, headers })
  }
}
