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
} from '@switchboard/protocol'
import { GatewayError } from '../gateway.js'

/** The parts of a `text/event-stream` as they arrive. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  maxPartBytes: number,
): AsyncGenerator<StreamPart, void> {
  for await (const event of readAllEvents(body, maxPartBytes)) {
    if (isEndEvent(event)) return
    yield { ...event, data: translateJson(() => readEventData(event.data)) }
  }
}

/** The events of a `text/event-stream` as they arrive, none larger than the limit. */
export const readAllEvents = (
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<ServerSentEvent, void> =>
  readEventStream(body, { maxLength: maxBytes, tooLarge: () => tooLarge(maxBytes), notUtf8 })

/** The parts of a body with one JSON value a line (NDJSON); `begun` is its beginning, if that has been read already. */
export async function* readLines(
  body: AsyncIterable<Buffer>,
  maxPartBytes: number,
  begun?: Buffer,
): AsyncGenerator<StreamPart, void> {
  const splitter = createByteLineSplitter(maxPartBytes, () => {
    throw tooLarge(maxPartBytes)
  })
  if (begun) for (const line of splitter.push(begun)) yield* partsOf(line)
  for await (const piece of body) for (const line of splitter.push(piece)) yield* partsOf(line)
  const last = splitter.end()
  if (last) yield* partsOf(last)
}

function* partsOf(line: Uint8Array): Generator<StreamPart, void> {
  const text = decodeWhole(line).trim()
  if (text === '') return
  const data = parseAnswer(text)
  yield isErrorLine(data) ? { data, event: 'error' } : { data }
}

/** The JSON of a response, parsed strictly. */
export const parseAnswer = (text: string): JsonValue => translateJson(() => parseJson(text))

function translateJson(read: () => JsonValue): JsonValue {
  try {
    return read()
  } catch (cause) {
    throw new GatewayError('bad_response', 'the answer is not valid JSON', { mayHaveRun: true, cause })
  }
}

export function decodeWhole(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw notUtf8()
  return text
}

const notUtf8 = (cause?: unknown): GatewayError =>
  new GatewayError('bad_response', 'the answer is not UTF-8', { mayHaveRun: true, cause })

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('too_large', `a part of the answer is larger than ${maxBytes} bytes`, { mayHaveRun: true })
