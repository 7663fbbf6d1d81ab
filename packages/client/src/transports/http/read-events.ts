import { createParser, type EventSourceMessage } from 'eventsource-parser'
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
  const messages: EventSourceMessage[] = []
  let pending = 0
  const parser = createParser({ onEvent: (message) => messages.push(message) })
  for await (const lines of readTextLines(body, limits, deadline, 'any')) {
    for (const line of lines) {
      // Fed by whole lines: the parser would look through a long beginning again with every piece.
      parser.feed(`${line}\n`)
      pending = line === '' ? 0 : pending + line.length
      if (pending > limits.maxPartLength) throw tooLong(limits)
      for (const message of messages.splice(0)) {
        if (isEnd(message)) return
        yield toPart(message)
      }
    }
  }
}

/** Parts of newline-delimited JSON; a line `{"error": …}` and nothing else is thrown (C-59). */
export async function* readNdjson(
  body: ReadableStream<Uint8Array> | null,
  limits: CallLimits,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  for await (const lines of readTextLines(body, limits, deadline, 'lf')) {
    for (const line of lines) {
      if (line.trim() === '') continue
      const data = readJsonText(line, 'a line of the stream')
      const problem = readProblem(data)
      if (problem?.isBare) throw toClientError(problem, { details: data })
      yield { data }
    }
  }
}

/** Lines of a body, those of one chunk at a time. */
async function* readTextLines(
  body: ReadableStream<Uint8Array> | null,
  limits: CallLimits,
  deadline: Deadline,
  ends: 'lf' | 'any',
): AsyncGenerator<string[], void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const splitter = createLineSplitter(limits.maxPartLength, ends)
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
    } catch (error) {
      throw new ClientError('bad_response', 'the stream is not UTF-8 text', { cause: error })
    }
  }
  for await (const chunk of readChunks(body, deadline, limits.silenceMs)) {
    yield splitter.push(decode(chunk))
  }
  const last = [...splitter.push(decode()), splitter.end()]
  yield last.filter((line) => line !== undefined)
}

const isEnd = ({ event, data }: EventSourceMessage): boolean =>
  data === END_DATA || (event !== undefined && END_EVENTS.has(event))

function toPart({ event, id, data }: EventSourceMessage): StreamPart {
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
