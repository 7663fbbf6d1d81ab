import { DirectoryError } from '../errors.js'
import { type JsonLimits, type JsonValue, parseJson } from '../json.js'

/**
 * Collects a body of at most `maxBytes` bytes. A longer one is not read to its end.
 *
 * @param tooLarge the error that a longer body is rejected with
 */
export async function readBytes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge()
    read.push(chunk)
  }
  const [first = new Uint8Array()] = read
  return read.length <= 1 ? first : concat(read, size)
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

// Kept, so that only a byte order mark at the start of JSON is skipped, by `parseJson`.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a body; undefined if it is not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

/** A text in UTF-8 that can be passed on: JSON must not start with a byte order mark (RFC 8259 §8.1), though some does. */
export const withoutMark = (utf8: Uint8Array): Uint8Array => (utf8[0] === 0xef ? utf8.subarray(3) : utf8)

/**
 * Parses a JSON body as strictly as `parseJson` does: what is stored and signed must be exactly what was sent.
 *
 * @throws {DirectoryError} `invalid_request` that says what is wrong, and where
 */
export function parseJsonBody(bytes: Uint8Array, limits?: JsonLimits): JsonValue {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw new DirectoryError('invalid_request', 'the body is not valid UTF-8')
  return parseJson(text, limits)
}
