import { TextDecoder } from 'node:util'
import {
  createEventReader,
  DirectoryError,
  decodeUtf8,
  isObject,
  type JsonValue,
  parseJson,
  type ServerSentEvent,
} from '@switchboard/protocol'
import type { AnswerBody } from './answer-body.js'
import { GatewayError, type StreamPart } from './call.js'

/** Words that end a stream of events; they carry nothing themselves. */
const END_EVENTS: ReadonlySet<string | undefined> = new Set(['end', 'done'])
const END_DATA = '[DONE]'

/** The parts of a `text/event-stream`, each as it comes. */
export async function* readEvents(body: AnswerBody, maxPartBytes: number): AsyncGenerator<StreamPart, void> {
  const reader = createEventReader(maxPartBytes, () => tooLarge(maxPartBytes))
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const piece of body) {
    for (const event of reader.read(decodeNext(decoder, piece))) {
      if (isEnd(event)) return
      yield { ...event, data: dataOf(event.data) }
    }
  }
}

/** The parts of a body that has one JSON value a line (NDJSON); `begun` is what was already taken from it. */
export async function* readLines(
  body: AsyncIterable<Buffer>,
  maxPartBytes: number,
  begun?: Buffer,
): AsyncGenerator<StreamPart, void> {
  for await (const line of lines(body, maxPartBytes, begun)) {
    const text = decodeWhole(line).trim()
    if (text !== '') yield toPart(parseAnswer(text))
  }
}

/** A line that holds nothing but an error tells that the rest will not come (C-59). */
export const toPart = (data: JsonValue): StreamPart =>
  isObject(data) && isObject(data.error) && Object.keys(data).length === 1 ? { data, event: 'error' } : { data }

/** Time is linear in the bytes, however small the pieces are that they come in. */
async function* lines(body: AsyncIterable<Buffer>, maxBytes: number, begun?: Buffer): AsyncGenerator<Buffer, void> {
  let pieces: Buffer[] = []
  let size = 0
  const add = (piece: Buffer): void => {
    size += piece.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    pieces.push(piece)
  }
  const taken = (): Buffer => {
    const line = Buffer.concat(pieces, size)
    pieces = []
    size = 0
    return line
  }
  const split = function* (piece: Buffer): Generator<Buffer, void> {
    let start = 0
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
      add(piece.subarray(start, end))
      yield taken()
      start = end + 1
    }
    if (start < piece.length) add(piece.subarray(start))
  }
  if (begun) yield* split(begun)
  for await (const piece of body) yield* split(piece)
  if (size > 0) yield taken()
}

const isEnd = ({ event, data }: ServerSentEvent): boolean =>
  data === END_DATA || (END_EVENTS.has(event) && (data === '' || data === '{}' || data === 'null'))

/** Many agents stream bare words: what does not begin like an object or array and is no JSON is a text. */
function dataOf(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof DirectoryError) || /^\s*[[{]/.test(text)) throw notJson(error)
    return text.toWellFormed()
  }
}

/** An answer's text as JSON, strictly. */
export function parseAnswer(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    throw notJson(error)
  }
}

export function decodeWhole(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw notUtf8()
  return text
}

function decodeNext(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true })
  } catch (cause) {
    throw notUtf8(cause)
  }
}

const notUtf8 = (cause?: unknown): GatewayError =>
  new GatewayError('bad_answer', 'the answer is not UTF-8', { mayHaveRun: true, cause })

const notJson = (cause: unknown): GatewayError =>
  new GatewayError('bad_answer', 'the answer is not valid JSON', { mayHaveRun: true, cause })

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('too_large', `a part of the answer is larger than ${maxBytes} bytes`, { mayHaveRun: true })
