import type { JsonObject } from '@switchboard/protocol'
import type { AgentResponse, Endpoint } from '../../gateway.js'
import type { HttpResponse } from '../../http/send-request.js'

/** An error response of the agent, in the form of AIDIP §5.2 (C-97). */
export interface AgentFailure {
  readonly status: number
  readonly value: JsonObject
  readonly retryAfter?: string
}

/** Longer error messages are cut. */
const MAX_MESSAGE_LENGTH = 2000

/** Builds an error response with this code and message. */
export function agentFailure(status: number, code: string, message: string): AgentFailure {
  const text = message.trim().slice(0, MAX_MESSAGE_LENGTH).toWellFormed() || 'The agent gave no reason'
  return { status, value: { error: { code, message: text } } }
}

/** Builds an error response that keeps the status and `Retry-After` of an HTTP error (C-97). */
export function httpFailure(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  code = 'AgentError',
  message = '',
): AgentFailure {
  const retryAfter = headers['retry-after']
  return {
    ...agentFailure(status, code, message || `The agent responded with status ${status}`),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** The failure as the response to a call. */
export function failureResponse({ status, value, retryAfter }: AgentFailure, endpoint: Endpoint): AgentResponse {
  return {
    kind: 'json',
    status,
    value,
    endpoint,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  }
}
