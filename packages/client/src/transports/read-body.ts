import { DirectoryError, type JsonValue, parseJson } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import type { Deadline } from './deadline.js'

/**
 * Chunks of a body as they come. The connection is let go of when the reader leaves early or the deadline ends. With
 * `silenceMs` each chunk has that long to come, and the time that the reader takes for it counts for nothing.
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
        throw toBroken(error)
      })
      isDone = done
      if (done) return
      if (silenceMs !== undefined) deadline.pause()
      yield value
    }
  } finally {
    // A body that never answers must not hold back whoever leaves it.
    if (!isDone) void reader.cancel().catch(() => {})
  }
}

const toBroken = (error: unknown): ClientError =>
  error instanceof ClientError
    ? error
    : new ClientError('unreachable', 'the connection broke before the answer was complete', { cause: error })

/** A whole body, if it has no more bytes than that. */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  deadline: Deadline,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of readChunks(body, deadline)) {
    length += chunk.byteLength
    if (length > maxBytes) throw new ClientError('too_large', `the answer has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

/** Bytes as UTF-8 text; undefined if they are none. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** JSON of the far side, read as strictly as everywhere; what it is part of is named in the error. */
export function readJsonText(text: string | undefined, what: string): JsonValue {
  if (text === undefined) throw new ClientError('bad_response', `${what} is not UTF-8 text`)
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error
    throw new ClientError('bad_response', `${what}: ${error.message}`, { cause: error })
  }
}
