import { toRequestId } from '@switchboard/protocol'
import { AgentError, toAgentError } from '../errors.js'
import { allowOrigin, checkOrigin, isPreflight, preflight } from './cors.js'
import type { Exchange, Place } from './exchange.js'
import type { createInvocation } from './invocation.js'
import { errorResponse } from './responses.js'
import { segmentsBelow, targetOf } from './route-path.js'

/** The handlers of the fixed paths; every other path is a call. */
export interface Routes {
  readonly card: (exchange: Exchange) => Promise<Response>
  readonly keys: (exchange: Exchange) => Promise<Response>
  readonly health: (exchange: Exchange) => Promise<Response>
  readonly task: (exchange: Exchange, id: string) => Promise<Response>
  readonly a2a: (exchange: Exchange) => Promise<Response>
  readonly mcp: (exchange: Exchange) => Promise<Response>
  readonly call: ReturnType<typeof createInvocation>
}

export interface ResponderOptions {
  readonly routes: Routes
  readonly newId: () => string
  /** The latest version, for responses that are not about another (C-63). */
  readonly version: string
  /** Origins whose web pages may call. */
  readonly origins: readonly string[]
  readonly onError: (error: unknown) => void
}

/** How long callers may remember that there is no descriptor at a path. */
const ABSENT_SECONDS = 30

/** Handles every request of the agent; errors become responses. */
export type Respond = (request: Request, place: Place) => Promise<Response>

export function createResponder({ routes, newId, version, origins, onError }: ResponderOptions): Respond {
  const route = async (exchange: Exchange): Promise<Response> => {
    const { path, request } = exchange
    const [first, second, ...rest] = path
    if (first === 'agent.json' && second === undefined) return routes.card(exchange)
    if (first === '.well-known' && rest.length === 0) {
      if (second === 'agent.json' || second === 'agent-card.json') return routes.card(exchange)
      if (second === 'jwks.json') return routes.keys(exchange)
    }
    if (first === 'health' && second === undefined) return routes.health(exchange)
    if (first === 'tasks' && second !== undefined && rest.length === 0) return routes.task(exchange, second)
    if (first === 'a2a' && second === undefined) return routes.a2a(exchange)
    if (first === 'mcp' && second === undefined) return routes.mcp(exchange)
    // A missing descriptor must not be reported as an unknown capability. Callers look for it before every call.
    if (first === '.well-known' || path.at(-1) === 'agent.json') {
      const headers = { 'cache-control': `max-age=${ABSENT_SECONDS}` }
      throw new AgentError('not_found', 'there is no such path', { headers })
    }
    if (request.method !== 'POST' && request.method !== 'GET') {
      throw new AgentError('method_not_allowed', 'call capabilities with POST', { headers: { allow: 'POST' } })
    }
    return routes.call(exchange, targetOf(path))
  }

  return async (given, place) => {
    const requestId = toRequestId(given.headers.get('x-request-id'), newId)
    const url = new URL(given.url)
    let response: Response
    try {
      if (isPreflight(given)) return preflight(given, origins)
      const path = segmentsBelow(url.pathname, place.basePath ?? '')
      if (!path) throw new AgentError('not_found', 'there is no such path')
      // HEAD is a GET whose body is not sent.
      const request = given.method === 'HEAD' ? new Request(given, { method: 'GET' }) : given
      const base = place.baseUrl ?? `${url.origin}${place.basePath ?? ''}`
      if (request.method !== 'GET') checkOrigin(request.headers.get('origin'), origins, base)
      response = await route({ request, url, base, path, requestId, place })
    } catch (error) {
      const known = toAgentError(error)
      if (known.code === 'internal_error' && known !== error) onError(error)
      response = errorResponse(known, { instance: url.pathname, requestId })
    }
    response.headers.set('x-request-id', requestId)
    if (!response.headers.has('x-agent-version')) response.headers.set('x-agent-version', version)
    allowOrigin(given, response, origins)
    return given.method === 'HEAD' ? new Response(null, response) : response
  }
}
