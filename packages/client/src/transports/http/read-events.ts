import {
  createLineSplitter,
  DirectoryError,
  isEndEvent,
  isErrorLine,
  type JsonValue,
  readEventData,
  readEventStream,
  type ServerSentEvent,
  type StreamPart,
} from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { CallLimits } from '../call.js'
import type { Deadline } from '../deadline.js'
import { readProblem, toClientError } from '../problem.js'
import { readChunks, readJsonText } from '../read-body.js'

/**
 * The parts of a stream of server-sent events (C-59). `event: error` is thrown. The end mark is optional: many agents
 * send none, and a broken connection is reported as an error anyway.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array> | null,
  limits: CallLimits,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  const { maxPartLength: maxLength } = limits
  const tooLarge = (): ClientError => new ClientError('too_large', `an event has more than ${maxLength} characters`)
  const chunks = readChunks(body, deadline, limits.silenceMs)
  for await (const event of readEventStream(chunks, { maxLength, tooLarge, notUtf8 })) {
    if (isEndEvent(event)) return
    yield toPart(event)
  }
}

/** The parts of newline-delimited JSON; an error line is thrown (C-59). */
export async function* readNdjson(
  body: ReadableStream<Uint8Array> | null,
  limits: CallLimits,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  const splitter = createLineSplitter(limits.maxPartLength, () => {
    throw new ClientError('too_large', `a line has more than ${limits.maxPartLength} characters`)
  })
  for await (const text of readText(body, limits, deadline)) {
    for (const line of splitter.push(text)) yield* partOfLine(line)
  }
  yield* partOfLine(splitter.end() ?? '')
}

function* partOfLine(line: string): Generator<StreamPart> {
  if (line.trim() === '') return
  const data = readJsonText(line, 'a line of the stream')
  if (isErrorLine(data)) throw toClientError(readProblem(data) ?? {}, { details: data })
  yield { data }
}

/** The text of a body as it arrives. */
async function* readText(
  body: ReadableStream<Uint8Array> | null,
  limits: CallLimits,
  deadline: Deadline,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
    } catch (cause) {
      throw notUtf8(cause)
    }
  }
  for await (const chunk of readChunks(body, deadline, limits.silenceMs)) {
    yield decode(chunk)
  }
  yield decode()
}

const notUtf8 = (cause: unknown): ClientError =>
  new ClientError('bad_response', 'the stream is not valid UTF-8', { cause })

function toPart({ event, id, data }: ServerSentEvent): StreamPart {
  if (event === 'error') throw streamError(data)
  return {
    data: readData(data, 'an event of the stream'),
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id }),
  }
}

function streamError(data: string): ClientError {
  const details = readData(data, 'the error that ended the stream')
  return toClientError(readProblem(details) ?? {}, { details })
}

function readData(text: string, what: string): JsonValue {
  try {
    return readEventData(text)
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error
    throw new ClientError('bad_response', `${what}: ${error.message}`, { cause: error })
  }
}
