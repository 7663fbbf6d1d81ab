import type { JsonValue } from '@switchboard/protocol'
import { type AgentError, problemOf } from '../errors.js'

/** A JSON answer. Whatever an agent says, it is no page. */
export function answerJson(value: JsonValue, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff', ...headers },
  })
}

/** An error as problem details that a client of any draft can read (C-68). */
export function answerError(error: AgentError, at: { instance: string; requestId: string }): Response {
  const { retryAfter } = error
  return answerJson(problemOf(error, at), error.status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...error.headers,
  })
}
