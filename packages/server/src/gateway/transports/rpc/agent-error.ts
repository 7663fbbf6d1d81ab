import type { JsonObject } from '@switchboard/protocol'
import type { AgentResponse, Endpoint } from '../../gateway.js'
import type { Asked } from './ask.js'

/** An error that the agent answered, in the form of AIDIP §5.2 (C-97). */
export interface AgentFailure {
  readonly status: number
  readonly value: JsonObject
  readonly retryAfter?: string
}

/** What agents say is passed on, but not at any length. */
const MAX_MESSAGE = 2000

export function agentFailure(status: number, code: string, message: string): AgentFailure {
  const said = message.trim().slice(0, MAX_MESSAGE).toWellFormed() || 'The agent gave no reason'
  return { status, value: { error: { code, message: said } } }
}

/** An HTTP error whose body says nothing that the protocol knows. */
export function httpFailure(
  answer: Pick<Asked, 'status' | 'headers'>,
  code = 'AgentError',
  message = '',
): AgentFailure {
  const retryAfter = answer.headers['retry-after']
  return {
    ...agentFailure(answer.status, code, message || `The agent answered with status ${answer.status}`),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

export function failureAnswer({ status, value, retryAfter }: AgentFailure, endpoint: Endpoint): AgentResponse {
  return {
    kind: 'json',
    status,
    value,
    endpoint,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  }
}
