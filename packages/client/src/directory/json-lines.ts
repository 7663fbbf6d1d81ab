import { createLineSplitter } from '@switchboard/protocol/http'
import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { ClientError } from '../errors.js'
import { createDeadline, type Deadline } from '../transports/deadline.js'
import { readChunks, readJsonText } from '../transports/read-body.js'

/** Characters of a line: error messages, warnings and audit entries are far shorter. */
const MAX_LINE_LENGTH = 1024 * 1024

/** For an exchange that takes as long as its sender or reader does; `leave` ends it. */
export function openEnded(what: string, signal: AbortSignal | undefined): { deadline: Deadline; leave: () => void } {
  const leaving = new AbortController()
  const deadline = createDeadline(0, what, signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal)
  deadline.pause()
  const leave = (): void => {
    leaving.abort()
    deadline.clear()
  }
  return { deadline, leave }
}

/** The objects of a body that has one in each line. */
export async function* readObjects(
  body: ReadableStream<Uint8Array> | null,
  deadline: Deadline,
  what: string,
  maxLength = MAX_LINE_LENGTH,
): AsyncGenerator<JsonObject, void, undefined> {
  const splitter = createLineSplitter(maxLength, () => {
    throw new ClientError('too_large', `${what} has more than ${maxLength} characters`)
  })
  const decoder = new TextDecoder()
  for await (const chunk of readChunks(body, deadline)) {
    for (const line of splitter.push(decoder.decode(chunk, { stream: true }))) yield* readObject(line, what)
  }
  yield* readObject(splitter.end() ?? '', what)
}

function* readObject(line: string, what: string): Generator<JsonObject, void, undefined> {
  if (line.trim() === '') return
  const value: JsonValue = readJsonText(line, what)
  if (!isObject(value)) throw new ClientError('bad_response', `${what} is not an object`)
  yield value
}
