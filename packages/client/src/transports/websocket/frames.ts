import { asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call, StreamPart } from '../call.js'
import { readProblem, toClientError } from '../problem.js'

/**
 * What goes over a WebSocket, as lines of JSON (AURI §8). A caller sends one request a call, and may take it back:
 *
 *     {"id":"1","operation":"translate","input":{…},"stream":true,"sessionId":"s1","taskId":"t1"}
 *     {"id":"1","cancel":true}
 *
 * The agent answers with parts and an end, with the whole, or with an error, in any order among the calls of a socket:
 *
 *     {"id":"1","data":{…}}   {"id":"1","done":true}
 *     {"id":"1","result":{…}}
 *     {"id":"1","error":{"type":"…","title":"…","status":404,"detail":"…"}}
 */
export type Frame =
  | { readonly kind: 'part'; readonly part: StreamPart; readonly isBare: boolean }
  | { readonly kind: 'result'; readonly value: JsonValue; readonly version?: string }
  | { readonly kind: 'error'; readonly error: ClientError }
  | { readonly kind: 'end' }

/** What has no header here has a place in the envelope (AURI §8.1). */
export function requestFrame(id: string, call: Call, wantsStream: boolean): JsonObject {
  const { operation, input, identifiers, accept } = call
  if (input instanceof Uint8Array || input instanceof FormData) {
    throw new ClientError('invalid_argument', `${call.endpoint.transport} carries JSON: send bytes over https`)
  }
  return {
    id,
    ...(operation !== undefined && { operation }),
    input: input ?? {},
    stream: wantsStream,
    ...identifiers,
    ...(accept.length > 0 && { accept: [...accept] }),
  }
}

/** The known call that a line is for; undefined if it names none, as the lines of agents do which know no frames. */
export function callOf(line: JsonValue, isKnown: (id: string) => boolean): string | undefined {
  const id =
    isObject(line) && (typeof line.id === 'string' || typeof line.id === 'number') ? String(line.id) : undefined
  return id !== undefined && isKnown(id) ? id : undefined
}

/** Reads a line that is for a call by its id. */
export function readFrame(line: JsonObject): Frame {
  const { result, data, done } = line
  if (line.error !== undefined || line.errors !== undefined) return errorFrame(line)
  if (result !== undefined) {
    const version = asString(line.version)
    return { kind: 'result', value: result, ...(version !== undefined && { version }) }
  }
  if (done === true || line.end === true) return { kind: 'end' }
  if (data === undefined) return { kind: 'error', error: new ClientError('bad_response', 'a frame says nothing') }
  const event = asString(line.event)
  return { kind: 'part', part: { data, ...(event !== undefined && { event }) }, isBare: false }
}

/** A line without an id: an error if it is nothing else, else itself a part. */
export function readBareLine(line: JsonValue): Frame {
  return readProblem(line)?.isBare && isObject(line)
    ? errorFrame(line)
    : { kind: 'part', part: { data: line }, isBare: true }
}

function errorFrame(line: JsonObject): Frame {
  return { kind: 'error', error: toClientError(readProblem(line) ?? {}, { details: line }) }
}
