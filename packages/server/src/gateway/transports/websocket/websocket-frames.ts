import { isObject, type JsonValue, type ReplyFrame, writeFrame } from '@switchboard/protocol'
import type { AgentCall } from '../../gateway.js'

/** Each call has its own socket. */
export const CALL_ID = '1'

/** Members of a frame that stand for headers (AURI §8.1). */
const MEMBERS = [
  ['x-session-id', 'sessionId'],
  ['x-task-id', 'taskId'],
  ['x-agent-version', 'version'],
  ['x-request-id', 'requestId'],
  ['idempotency-key', 'idempotencyKey'],
  ['x-delegation-chain', 'delegationChain'],
] as const

/** The request line for a call. */
export function writeRequest({ operation, headers, wantsStream }: AgentCall, input: JsonValue): string {
  const identifiers = MEMBERS.flatMap(([header, member]) => {
    const value = headers[header]
    return value === undefined ? [] : [[member, value] as const]
  })
  return writeFrame({ id: CALL_ID, operation, input, stream: wantsStream, ...Object.fromEntries(identifiers) })
}

/** The body of the HTTP response that an error frame stands for. Its status belongs to the frame, not to the body. */
export function bodyOfError({ problem }: Extract<ReplyFrame, { kind: 'error' }>): JsonValue {
  const { error, errors } = problem
  if (error === undefined) return { errors: errors ?? null }
  if (!isObject(error)) return { error }
  const { status: _, ...rest } = error
  return { error: rest }
}
