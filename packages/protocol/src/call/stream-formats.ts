import { asObjects, isObject, type JsonObject, type JsonValue } from '../json.js'
import { STREAM_TYPES } from './media-type.js'

/** One part of a streamed output. */
export interface StreamPart {
  readonly data: JsonValue
  /** Name and id of a server-sent event; other formats leave them out. */
  readonly event?: string
  readonly id?: string
}

/** The parts of a stream; those that arrived together are one batch, because every await costs more than a part. No batch is empty. */
export type PartBatches = AsyncIterable<readonly StreamPart[]>

/** The parts of a stream one by one. */
export async function* eachPart(batches: PartBatches): AsyncGenerator<StreamPart, void> {
  for await (const batch of batches) yield* batch
}

/** How a stream is written over HTTP (C-59). */
export interface StreamFormat {
  readonly type: string
  part(part: StreamPart): string
  /** An error after the first byte; nothing follows it, not even the end mark. */
  error(error: JsonObject): string
  /** Marks the stream as complete. */
  readonly end: string
  /** Keeps an idle connection open. */
  readonly heartbeat: string
}

/** Server-sent events. JSON has no line breaks, so one `data` line holds a part. */
export const EVENT_STREAM: StreamFormat = {
  type: STREAM_TYPES[0],
  part: ({ data, event, id }) => `${field('id', id)}${field('event', event)}data: ${JSON.stringify(data)}\n\n`,
  error: (error) => `event: error\ndata: ${JSON.stringify(error)}\n\n`,
  end: 'event: end\ndata: {}\n\n',
  heartbeat: ': still here\n\n',
}

/** One JSON value a line. The stream ends with its lines; only an error line marks it as incomplete. */
export const NDJSON: StreamFormat = {
  type: STREAM_TYPES[1],
  part: ({ data }) => writeLine(data),
  error: (error) => writeLine(isErrorLine(error) ? error : { error }),
  end: '',
  heartbeat: '\n',
}

/** A value as one line of JSON. */
export const writeLine = (value: JsonValue | object): string => `${JSON.stringify(value)}\n`

/** Line breaks would start another field. */
const field = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `${name}: ${value.replaceAll(/[\r\n\0]/g, ' ')}\n`

/**
 * Whether a line of a stream is the error that broke it off (C-59): `{"error": …}`, as AIDIP and JSON-RPC write it, or
 * GraphQL's `{"errors": [{"message": …}]}`. With other members it is a part like any other.
 */
export function isErrorLine(value: JsonValue): value is JsonObject {
  if (!isObject(value) || !Object.keys(value).every((name) => ERROR_ENVELOPE.has(name))) return false
  const { error, errors } = value
  return isObject(error) || typeof error === 'string' || typeof asObjects(errors)[0]?.message === 'string'
}

/** Members that a line may have and still be nothing but an error. */
const ERROR_ENVELOPE: ReadonlySet<string> = new Set(['error', 'errors', 'jsonrpc', 'id'])
