import { asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentCall, StreamPart } from '../call.js'

/**
 * What goes over a WebSocket, as lines of JSON (AURI §8). The caller sends one request a call:
 *
 *     {"id":"1","operation":"translate","input":{…},"stream":true,"sessionId":"s1"}
 *
 * and the agent answers with parts and an end, or with the whole, or with an error:
 *
 *     {"id":"1","data":{…}}   {"id":"1","done":true}
 *     {"id":"1","result":{…}}
 *     {"id":"1","error":{"code":"NotFound","message":"…","status":404}}
 *
 * A line that is none of these is itself a part; an agent that knows no frames ends its stream by closing the socket.
 */
export type ReplyFrame =
  | { readonly kind: 'part'; readonly part: StreamPart; readonly isBare: boolean }
  | { readonly kind: 'result'; readonly value: JsonValue }
  | { readonly kind: 'error'; readonly status: number; readonly value: JsonObject }
  | { readonly kind: 'end' }

/** One call has a socket to itself. */
const CALL_ID = '1'

/** Where headers are lacking, what they would say is said in the envelope (AURI §8.1). */
const MEMBERS: readonly (readonly [header: string, member: string])[] = [
  ['x-session-id', 'sessionId'],
  ['x-task-id', 'taskId'],
  ['x-agent-version', 'version'],
  ['x-request-id', 'requestId'],
  ['idempotency-key', 'idempotencyKey'],
  ['x-delegation-chain', 'delegationChain'],
]

export function writeRequest({ operation, headers, wantsStream }: AgentCall, input: JsonValue): string {
  const identifiers = MEMBERS.flatMap(([header, member]) => {
    const value = headers[header]
    return value === undefined ? [] : [[member, value] as const]
  })
  const frame = { id: CALL_ID, operation, input, stream: wantsStream, ...Object.fromEntries(identifiers) }
  return `${JSON.stringify(frame)}\n`
}

export function readReply(line: JsonValue): ReplyFrame {
  if (!isObject(line) || String(line.id) !== CALL_ID) {
    const isError = isObject(line) && isObject(line.error) && Object.keys(line).length === 1
    return isError ? errorFrame(line.error, undefined) : { kind: 'part', part: { data: line }, isBare: true }
  }
  const { data, result, error } = line
  if (error !== undefined) return errorFrame(error, line.status)
  if (result !== undefined) return { kind: 'result', value: result }
  if (line.done === true) return { kind: 'end' }
  if (data === undefined) return { kind: 'part', part: { data: line }, isBare: true }
  const event = asString(line.event)
  return { kind: 'part', part: { data, ...(event !== undefined && { event }) }, isBare: false }
}

function errorFrame(error: JsonValue | undefined, beside: JsonValue | undefined): ReplyFrame {
  // A problem of RFC 9457 has its status inside.
  const status = beside ?? (isObject(error) ? error.status : undefined)
  const isError = typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
  // It is the frame's, as that of an answer is: other agents have no such member.
  const { status: _, ...said } = isObject(error) ? error : {}
  return { kind: 'error', status: isError ? status : 500, value: { error: isObject(error) ? said : (error ?? null) } }
}
