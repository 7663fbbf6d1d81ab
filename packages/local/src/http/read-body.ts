import type { IncomingMessage } from 'node:http'
import {
  DirectoryError,
  isJsonType,
  isObject,
  type JsonObject,
  type JsonValue,
  mediaTypeOf,
  parseJsonBody,
  readBytes,
} from '@switchboard/protocol'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'

/** The whole body of a request, up to the limit. */
export async function readBody(message: IncomingMessage): Promise<Uint8Array> {
  const tooLarge = (): LocalError =>
    new LocalError('payload_too_large', `the body is larger than ${LIMITS.bodyBytes} bytes`)
  if (Number(message.headers['content-length'] ?? 0) > LIMITS.bodyBytes) throw tooLarge()
  // The socket stays open for the response.
  return readBytes(message.iterator({ destroyOnReturn: false }), LIMITS.bodyBytes, tooLarge)
}

/** The body as a JSON object. */
export async function readJsonObject(message: IncomingMessage): Promise<JsonObject> {
  requireJson(message)
  const value = parseJsonBytes(await readBody(message), 'the body')
  if (!isObject(value)) throw new LocalError('invalid_input', 'the body must be a JSON object')
  return value
}

/** Parses JSON; `what` names it in the error. */
export function parseJsonBytes(bytes: Uint8Array, what: string): JsonValue {
  try {
    return parseJsonBody(bytes)
  } catch (cause) {
    if (!(cause instanceof DirectoryError)) throw cause
    throw new LocalError('invalid_input', cause.message.replace(/^the body/, what), { cause })
  }
}

/**
 * Rejects bodies that are not declared to be JSON: a form or script of any web page can send those without a CORS
 * preflight.
 */
export function requireJson({ headers }: IncomingMessage): void {
  if (isJsonType(mediaTypeOf(headers['content-type']))) return
  throw new LocalError('unsupported_media_type', 'send JSON with "Content-Type: application/json"')
}

/** A required member that is a non-empty string. */
export function stringIn(body: JsonObject, name: string): string {
  const value = body[name]
  if (typeof value === 'string' && value !== '' && value.length <= MAX_STRING) return value
  throw new LocalError('invalid_input', `/${name} must be a string of 1 to ${MAX_STRING} characters`)
}

const MAX_STRING = 2000
