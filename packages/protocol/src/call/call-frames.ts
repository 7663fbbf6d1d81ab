import { asString, isObject, type JsonObject, type JsonValue } from '../json.js'
import { isErrorLine } from './stream-formats.js'

/**
 * Calls over a WebSocket, as lines of JSON in both directions (AURI §8). Members replace what HTTP says in headers
 * (AURI §8.1). The caller sends a request for each call, and may cancel it:
 *
 *     {"id":"1","operation":"translate","input":{…},"stream":true,"sessionId":"s1"}
 *     {"id":"1","cancel":true}
 *
 * The agent replies with the whole output, with parts and an end, or with an error; replies to different calls may be
 * interleaved:
 *
 *     {"id":"1","result":{…}}
 *     {"id":"1","data":{…}}   {"id":"1","done":true}
 *     {"id":"1","error":{"type":"…","title":"…","status":404,"detail":"…"}}
 *
 * An agent that does not use frames sends bare lines, each of which is a part, and ends by closing the socket.
 */
export type FrameId = string | number

/** Members of a request frame that are texts. */
export const FRAME_TEXTS = [
  'operation',
  'sessionId',
  'taskId',
  'version',
  'requestId',
  'idempotencyKey',
  'delegationChain',
] as const

/** A request as it is written. */
export type RequestLine = {
  readonly id: FrameId
  readonly input: JsonValue
  readonly stream: boolean
  /** Acceptable media types. */
  readonly accept?: string[]
} & { readonly [name in (typeof FRAME_TEXTS)[number]]?: string }

/** A reply as it is written. */
export type ReplyLine = { readonly id: FrameId } & (
  | { readonly data: JsonValue; readonly event?: string }
  | { readonly result: JsonValue; readonly [member: string]: JsonValue }
  | { readonly done: true; readonly version?: string }
  | { readonly error: JsonObject }
)

/** Any frame as a line of text. */
export const writeFrame = (frame: RequestLine | { readonly id: FrameId; readonly cancel: true } | ReplyLine): string =>
  `${JSON.stringify(frame)}\n`

/** A frame of a caller. */
export type CallerFrame =
  | {
      readonly kind: 'request'
      readonly id: FrameId
      readonly input: JsonValue
      readonly wantsStream: boolean
      /** The other members, not checked yet. */
      readonly members: JsonObject
    }
  | { readonly kind: 'cancel'; readonly id: FrameId }

/** Reads a line of a caller; undefined if it is not a frame. A request without `input` has the input `{}`. */
export function readCallerFrame(line: JsonValue): CallerFrame | undefined {
  if (!isObject(line) || !isFrameId(line.id)) return undefined
  const { id, cancel, input = {}, stream, ...members } = line
  if (cancel === true) return { kind: 'cancel', id }
  return { kind: 'request', id, input, wantsStream: stream === true, members }
}

const REQUEST_MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'input',
  'stream',
  'accept',
  'respondAsync',
  ...FRAME_TEXTS,
])

/**
 * Whether the first line of a caller can only be a request frame, where it could also be the bare input of one call:
 * it has an id, an input, and no member that a request does not have.
 */
export const isRequestFrame = (line: JsonValue): boolean =>
  isObject(line) &&
  isFrameId(line.id) &&
  line.input !== undefined &&
  Object.keys(line).every((name) => REQUEST_MEMBERS.has(name))

/** A reply of an agent. */
export type ReplyFrame =
  | { readonly kind: 'part'; readonly data: JsonValue; readonly event?: string; readonly isBare: boolean }
  | { readonly kind: 'result'; readonly value: JsonValue; readonly version?: string }
  | {
      readonly kind: 'error'
      /** The line without its id: `{"error": …}`, or another of the usual shapes. */
      readonly problem: JsonObject
      /** An HTTP error status, if the frame gives one. */
      readonly status?: number
    }
  | { readonly kind: 'end' }

export interface ReadReply {
  /** The call that the line is for, if it has the id of a known one. */
  readonly id?: string
  /** The line looks like a frame of an unknown call, such as one that was cancelled in the meantime. */
  readonly isForeign: boolean
  readonly frame: ReplyFrame
}

/** Reads a line of an agent. A line without the id of a known call is bare. */
export function readReply(line: JsonValue, isKnown: (id: string) => boolean): ReadReply {
  const id = isObject(line) && isFrameId(line.id) ? String(line.id) : undefined
  if (isObject(line) && id !== undefined && isKnown(id)) return { id, isForeign: false, frame: readFrame(line) }
  return {
    isForeign: id !== undefined && isObject(line) && REPLY_MEMBERS.some((name) => line[name] !== undefined),
    frame: isObject(line) && isErrorLine(line) ? errorFrame(line) : { kind: 'part', data: line, isBare: true },
  }
}

const REPLY_MEMBERS = ['data', 'result', 'error', 'done']

function readFrame(line: JsonObject): ReplyFrame {
  const { data, result } = line
  if (line.error !== undefined || line.errors !== undefined) return errorFrame(line)
  if (result !== undefined) {
    const version = asString(line.version)
    return { kind: 'result', value: result, ...(version !== undefined && { version }) }
  }
  // Some agents say `end`.
  if (line.done === true || line.end === true) return { kind: 'end' }
  if (data === undefined) return { kind: 'part', data: line, isBare: true }
  const event = asString(line.event)
  return { kind: 'part', data, isBare: false, ...(event !== undefined && { event }) }
}

function errorFrame({ id: _, ...problem }: JsonObject): ReplyFrame {
  const { error } = problem
  // Problem details (RFC 9457) have their status inside.
  const status = [problem.status, isObject(error) ? error.status : undefined].find(isErrorStatus)
  return { kind: 'error', problem, ...(status !== undefined && { status }) }
}

const isErrorStatus = (value: JsonValue | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599

const isFrameId = (id: JsonValue | undefined): id is FrameId => typeof id === 'string' || typeof id === 'number'
