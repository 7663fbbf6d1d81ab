import { DirectoryError } from '../errors.js'
import { type JsonValue, parseJson } from '../json.js'

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

/**
 * Parses a JSON body as strictly as `parseJson` does: what is stored and signed must be exactly what was sent.
 *
 * @throws {DirectoryError} `invalid_request` that says what is wrong, and where
 */
export function parseJsonBody(bytes: Uint8Array): JsonValue {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw new DirectoryError('invalid_request', 'the body is not valid UTF-8')
  return parseJson(text)
}
