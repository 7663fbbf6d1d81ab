import {
  createByteLineSplitter,
  decodeUtf8,
  isEndEvent,
  isErrorLine,
  type JsonValue,
  parseJson,
  readEventData,
  readEventStream,
  type ServerSentEvent,
  type StreamPart,
  TooManyValues,
} from '@switchboard/protocol'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'

/** Limits of one event or line. */
export type PartLimits = Pick<GatewayOptions, 'maxPartBytes' | 'maxResponseValues'>

/** The parts of a `text/event-stream` as they arrive. */
export async function* readEventParts(
  body: AsyncIterable<Uint8Array>,
  { maxPartBytes, maxResponseValues: maxValues }: PartLimits,
): AsyncGenerator<StreamPart, void> {
  for await (const event of readEvents(body, maxPartBytes)) {
    if (isEndEvent(event)) return
    yield { ...event, data: translateJson(() => readEventData(event.data, { maxValues })) }
  }
}

/** The events of a `text/event-stream` as they arrive; throws `too_large` for an event over the limit. */
export const readEvents = (body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<ServerSentEvent, void> =>
  readEventStream(body, { maxLength: maxBytes, tooLarge: () => tooLarge(maxBytes), notUtf8 })

/** The parts of a body with one JSON value per line (NDJSON); `start` is what has already been read of it. */
export async function* readLineParts(
  body: AsyncIterable<Uint8Array>,
  { maxPartBytes, maxResponseValues }: PartLimits,
  start?: Uint8Array,
): AsyncGenerator<StreamPart, void> {
  const splitter = createByteLineSplitter(maxPartBytes, () => {
    throw tooLarge(maxPartBytes)
  })
  if (start) for (const line of splitter.push(start)) yield* partsOf(line, maxResponseValues)
  for await (const chunk of body) for (const line of splitter.push(chunk)) yield* partsOf(line, maxResponseValues)
  const last = splitter.end()
  if (last) yield* partsOf(last, maxResponseValues)
}

function* partsOf(line: Uint8Array, maxValues: number): Generator<StreamPart, void> {
  const text = decodeText(line).trim()
  if (text === '') return
  const data = parseResponseJson(text, maxValues)
  yield isErrorLine(data) ? { data, event: 'error' } : { data }
}

/** Parses the JSON of a response strictly; throws `bad_response`, or `too_large` if it has more values than allowed. */
export const parseResponseJson = (text: string, maxValues: number): JsonValue =>
  translateJson(() => parseJson(text, { maxValues }))

function translateJson(read: () => JsonValue): JsonValue {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof TooManyValues) throw tooManyValues(cause.maxValues, cause)
    throw new GatewayError('bad_response', 'the response is not valid JSON', { mayHaveRun: true, cause })
  }
}

/** Decodes UTF-8 strictly; throws `bad_response`. */
export function decodeText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw notUtf8()
  return text
}

const notUtf8 = (cause?: unknown): GatewayError =>
  new GatewayError('bad_response', 'the response is not valid UTF-8', { mayHaveRun: true, cause })

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('too_large', `an event or line of the response is larger than ${maxBytes} bytes`, {
    mayHaveRun: true,
    allowed: `${maxBytes} bytes in an event or line`,
  })

/** The error for a response with too many JSON values. */
export const tooManyValues = (maxValues: number, cause?: unknown): GatewayError =>
  new GatewayError('too_large', `the response has more than ${maxValues} JSON values`, {
    mayHaveRun: true,
    allowed: `${maxValues} JSON values`,
    cause,
  })
