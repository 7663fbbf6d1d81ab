import {
  createByteLineSplitter,
  createEventDecoder,
  decodeUtf8,
  type EventStreamOptions,
  isEndEvent,
  isErrorLine,
  type JsonValue,
  parseJsonQuickly,
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

type Batches = AsyncGenerator<readonly StreamPart[], void>

/** The parts of a `text/event-stream` as they arrive. */
export async function* readEventParts(
  body: AsyncIterable<Uint8Array>,
  { maxPartBytes, maxResponseValues: maxValues }: PartLimits,
): Batches {
  const eventsIn = createEventDecoder(eventLimits(maxPartBytes))
  let isOver = false
  function* partsIn(chunk: Uint8Array): Generator<StreamPart, void> {
    for (const event of eventsIn(chunk)) {
      isOver = isEndEvent(event)
      if (isOver) return
      yield { ...event, data: translateJson(() => readEventData(event.data, { maxValues }, parseJsonQuickly)) }
    }
  }
  for await (const chunk of body) {
    yield* inBatches(partsIn(chunk))
    if (isOver) return
  }
}

/** The events of a `text/event-stream` as they arrive; throws `too_large` for an event over the limit. */
export const readEvents = (body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<ServerSentEvent, void> =>
  readEventStream(body, eventLimits(maxBytes))

const eventLimits = (maxBytes: number): EventStreamOptions => ({
  maxLength: maxBytes,
  tooLarge: () => tooLarge(maxBytes),
  notUtf8,
})

/** The parts of a body with one JSON value per line (NDJSON); `start` is what has already been read of it. */
export async function* readLineParts(
  body: AsyncIterable<Uint8Array>,
  { maxPartBytes, maxResponseValues }: PartLimits,
  start?: Uint8Array,
): Batches {
  const splitter = createByteLineSplitter(maxPartBytes, () => {
    throw tooLarge(maxPartBytes)
  })
  const batchesOf = (lines: Iterable<Uint8Array>) => inBatches(partsOf(lines, maxResponseValues))
  if (start) yield* batchesOf(splitter.push(start))
  for await (const chunk of body) yield* batchesOf(splitter.push(chunk))
  const last = splitter.end()
  if (last) yield* batchesOf([last])
}

function* partsOf(lines: Iterable<Uint8Array>, maxValues: number): Generator<StreamPart, void> {
  for (const line of lines) {
    const text = decodeText(line).trim()
    if (text === '') continue
    const data = parseResponseJson(text, maxValues)
    yield isErrorLine(data) ? { data, event: 'error' } : { data }
  }
}

/** The parts of one chunk as a batch, or none if there are none. An error comes after the parts before it. */
function* inBatches(parts: Iterable<StreamPart>): Generator<readonly StreamPart[], void> {
  const batch: StreamPart[] = []
  try {
    for (const part of parts) batch.push(part)
  } catch (error) {
    if (batch.length > 0) yield batch
    throw error
  }
  if (batch.length > 0) yield batch
}

/** Parses the JSON of a response strictly; throws `bad_response`, or `too_large` if it has more values than allowed. */
export const parseResponseJson = (text: string, maxValues: number): JsonValue =>
  translateJson(() => parseJsonQuickly(text, { maxValues }))

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
