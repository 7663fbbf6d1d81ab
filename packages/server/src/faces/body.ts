import {
  DirectoryError,
  isJsonType,
  isObject,
  type JsonObject,
  type JsonValue,
  mediaTypeOf,
  parseJsonBody,
} from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'

/** The JSON value of a request's body. */
export function readJson(request: FastifyRequest): JsonValue {
  const value = readOptionalJson(request)
  if (value === undefined) throw new DirectoryError('invalid_request', 'the body is empty: send a JSON document')
  return value
}

/** The same where a request may come without a body. */
export function readOptionalJson(request: FastifyRequest): JsonValue | undefined {
  const { body } = request
  if (!(body instanceof Buffer) || body.length === 0) return undefined
  assertJsonType(request.headers['content-type'])
  return parseJsonBody(body)
}

/** A JSON object, for requests that have no schema of their own. */
export function readJsonObject(request: FastifyRequest): JsonObject {
  const value = readJson(request)
  if (!isObject(value)) throw new DirectoryError('invalid_request', 'the body must be a JSON object')
  return value
}

function assertJsonType(header: string | undefined): void {
  const type = mediaTypeOf(header)
  if (isJsonType(type)) return
  throw new DirectoryError(
    'unsupported_media_type',
    `send JSON with "Content-Type: application/json", not "${type.slice(0, 80)}"`,
  )
}
