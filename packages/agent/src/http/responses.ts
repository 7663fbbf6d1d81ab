import type { JsonValue } from '@switchboard/protocol'
import { type AgentError, problemOf } from '../errors.js'

/** A JSON response, which browsers must not interpret as HTML. */
export function jsonResponse(value: JsonValue, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff', ...headers },
  })
}

/** An error response that clients of every draft can read (C-68). */
export function errorResponse(error: AgentError, at: { instance: string; requestId: string }): Response {
  const { retryAfter } = error
  return jsonResponse(problemOf(error, at), error.status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...error.headers,
  })
}
