import { DirectoryError } from '@switchboard/protocol/errors'
import { parseJsonBody, readBytes } from '@switchboard/protocol/http'
import { type JsonValue, parseJson } from '@switchboard/protocol/json'
import { ClientError } from '../errors.js'
import type { Deadline } from './deadline.js'

/**
 * Chunks of a body as they arrive. The connection is released if the reader stops early or the deadline passes. With
 * `silenceMs` each chunk must arrive within that time, which does not run while the reader handles a chunk.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array> | null,
  deadline: Deadline,
  silenceMs?: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return
  const reader = body.getReader()
  let isDone = false
  try {
    for (;;) {
      if (silenceMs !== undefined) deadline.extend(silenceMs)
      const { done, value } = await deadline.race(reader.read()).catch((error: unknown) => {
        throw toConnectionError(error)
      })
      isDone = done
      if (done) return
      if (silenceMs !== undefined) deadline.pause()
      yield value
    }
  } finally {
    // Not awaited: a body that hangs must not hold up the reader.
    if (!isDone) void reader.cancel().catch(() => {})
  }
}

const toConnectionError = (error: unknown): ClientError =>
  error instanceof ClientError
    ? error
    : new ClientError('unreachable', 'the connection broke before the response was complete', { cause: error })

/** The whole body, of at most `maxBytes` bytes. */
export const readBody = (
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  deadline: Deadline,
): Promise<Uint8Array> =>
  readBytes(
    readChunks(body, deadline),
    maxBytes,
    () => new ClientError('too_large', `the response has more than ${maxBytes} bytes`),
  )

/** Parses JSON of the other side strictly; `what` names it in the error. */
export const readJsonBytes = (bytes: Uint8Array, what: string): JsonValue => readJson(() => parseJsonBody(bytes), what)

/** The same for JSON that is part of a stream. */
export const readJsonText = (text: string, what: string): JsonValue => readJson(() => parseJson(text), what)

function readJson(parse: () => JsonValue, what: string): JsonValue {
  try {
    return parse()
  } catch (cause) {
    if (!(cause instanceof DirectoryError)) throw cause
    throw new ClientError('bad_response', `${what}: ${cause.message}`, { cause })
  }
}
