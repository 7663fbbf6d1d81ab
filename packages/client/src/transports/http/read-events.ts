import { createEventReader, type ServerSentEvent } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { CallLimits, StreamPart } from '../call.js'
import type { Deadline } from '../deadline.js'
import { readProblem, toClientError } from '../problem.js'
import { readChunks, readJsonText } from '../read-body.js'
import { createLineSplitter } from '../split-lines.js'

/** Names of the event that says: this was all. */
const END_EVENTS = new Set(['end', 'done', 'complete'])
/** What some agents send as their last data. */
const END_DATA = '[DONE]'

/**
 * Parts of a stream of server-sent events (C-59). `event: error` is thrown; a stream that ends without an end mark has
 * ended, for many agents send none and a broken connection is an error of its own.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array> | null,
  limits: CallLimits,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  const reader = createEventReader(limits.maxPartLength, () => tooLong(limits))
  for await (const text of readText(body, limits, deadline)) {
    for (const event of reader.read(text)) {
      if (isEnd(event)) return
      yield toPart(event)
    }
  }
}

/** Parts of newline-delimited JSON; a line `{"error": …}` and nothing else is thrown (C-59). */
export async function* readNdjson(
  body: ReadableStream<Uint8Array> | null,
  limits: CallLimits,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  const splitter = createLineSplitter(limits.maxPartLength)
  for await (const text of readText(body, limits, deadline)) {
    for (const line of splitter.push(text)) yield* partOfLine(line)
  }
  yield* partOfLine(splitter.end() ?? '')
}

function* partOfLine(line: string): Generator<StreamPart> {
  if (line.trim() === '') return
  const data = readJsonText(line, 'a line of the stream')
  const problem = readProblem(data)
  if (problem?.isBare) throw toClientError(problem, { details: data })
  yield { data }
}

/** A body as text, piece by piece. */
async function* readText(
  body: ReadableStream<Uint8Array> | null,
  limits: CallLimits,
  deadline: Deadline,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
    } catch (error) {
      throw new ClientError('bad_response', 'the stream is not UTF-8 text', { cause: error })
    }
  }
  for await (const chunk of readChunks(body, deadline, limits.silenceMs)) {
    yield decode(chunk)
  }
  yield decode()
}

const isEnd = ({ event, data }: ServerSentEvent): boolean =>
  data === END_DATA || (event !== undefined && END_EVENTS.has(event))

function toPart({ event, id, data }: ServerSentEvent): StreamPart {
  if (event === 'error') throw streamError(data)
  return {
    data: readJsonText(data, 'an event of the stream'),
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id }),
  }
}

function streamError(data: string): ClientError {
  const details = readJsonText(data, 'the error that ended the stream')
  return toClientError(readProblem(details) ?? {}, { details })
}

const tooLong = (limits: CallLimits): ClientError =>
  new ClientError('too_large', `an event has more than ${limits.maxPartLength} characters`)
