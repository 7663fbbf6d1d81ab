import { isObject, type JsonValue, type ReplyFrame, writeFrame } from '@switchboard/protocol'
import type { AgentCall } from '../../gateway.js'

/** The id of the only call on a socket. */
export const CALL_ID = '1'

/** Headers and the members of a frame that replace them (AURI §8.1). */
const MEMBERS = [
  ['x-session-id', 'sessionId'],
  ['x-task-id', 'taskId'],
  ['x-agent-version', 'version'],
  ['x-request-id', 'requestId'],
  ['idempotency-key', 'idempotencyKey'],
  ['x-delegation-chain', 'delegationChain'],
] as const

/** The request frame of a call. */
export function writeRequest({ operation, headers, wantsStream }: AgentCall, input: JsonValue): string {
  const identifiers = MEMBERS.flatMap(([header, member]) => {
    const value = headers[header]
    return value === undefined ? [] : [[member, value] as const]
  })
  return writeFrame({ id: CALL_ID, operation, input, stream: wantsStream, ...Object.fromEntries(identifiers) })
}

/** The body of the HTTP error response that an error frame corresponds to; the status is not part of it. */
export function bodyOfError({ problem }: Extract<ReplyFrame, { kind: 'error' }>): JsonValue {
  const { error, errors } = problem
  if (error === undefined) return { errors: errors ?? null }
  if (!isObject(error)) return { error }
  const { status: _, ...rest } = error
  return { error: rest }
}
