import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  DirectoryError,
  invalid,
  isJsonType,
  isObject,
  type JsonObject,
  type JsonValue,
  mediaTypeOf,
  parseDocumentBody,
  subjectProblem,
} from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { DOCUMENT_LIMITS } from '../policy/document-limits.js'
import { assertParameterCount } from '../policy/filter-limits.js'
import { configOf } from './route-group.js'

/** The `id` parameter of the path. */
export function idOf({ params }: FastifyRequest): string {
  return isObject(params) ? String(params.id) : ''
}

/** The path of the URL, without the query. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? ''

/** Query parameters in the order they were sent, repeated ones included. */
export function readQuery(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf('?')
  const query = at < 0 ? '' : request.url.slice(at + 1)
  assertParameterCount(query)
  assertEncoded(query)
  return new URLSearchParams(query)
}

/** The text of a search; an empty one is none. */
export function searchTextOf(params: URLSearchParams): string | undefined {
  const text = params.get('q') ?? params.get('query')
  return text === null || text.trim() === '' ? undefined : text
}

/** URLSearchParams replaces invalid UTF-8 with U+FFFD, which would store a name that nobody sent. */
function assertEncoded(query: string): void {
  if (!query.includes('%')) return
  try {
    decodeURIComponent(query)
  } catch (cause) {
    throw new DirectoryError('invalid_request', 'the query is not valid percent-encoded UTF-8', { cause })
  }
}

/** At most this many languages of `Accept-Language` count. */
const MAX_LANGUAGES = 5

/** The languages of `Accept-Language`, as primary subtags: those that the caller reads. */
export function readLanguages({ headers }: FastifyRequest): string[] {
  const accepted = (headers['accept-language'] ?? '').split(',', MAX_LANGUAGES).flatMap((range) => {
    const [, tag] = /^\s*([a-z]{2,3})\b(?!.*;\s*q=0(?:\.0*)?\s*$)/i.exec(range) ?? []
    return tag === undefined ? [] : [tag.toLowerCase()]
  })
  return [...new Set(accepted)]
}

/** Reads a whole number of at least `minimum` from a query parameter. */
export function wholeNumber(params: URLSearchParams, name: string, minimum: number): number | undefined {
  const text = params.get(name)
  if (text === null) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= minimum)) throw invalid([{ at: `?${name}`, message: `must be a whole number, ${minimum} or more` }])
  return value
}

/** Reads a time from a query parameter, in milliseconds since 1970. */
export function readTime(params: URLSearchParams, name: string): number | undefined {
  const text = params.get(name)
  const at = text === null ? undefined : Date.parse(text)
  if (Number.isNaN(at)) throw invalid([{ at: `?${name}`, message: 'must be an RFC 3339 time' }])
  return at
}

/** Describes the `owner` parameter of registrations. */
export const OWNER_QUERY = { owner: 'the owner of the agent (administrators only)' }

/** The `owner` parameter: administrators may register on behalf of another subject. */
export function readOwner(params: URLSearchParams): string | undefined {
  const owner = params.get('owner')
  if (owner === null) return undefined
  const problem = subjectProblem(owner)
  if (problem !== undefined) throw invalid([{ at: '?owner', message: problem }])
  return owner
}

/** The JSON value of a request's body. */
export function readJson(request: FastifyRequest): JsonValue {
  const value = readOptionalJson(request)
  if (value === undefined) throw new DirectoryError('invalid_request', 'the body is empty: send a JSON document')
  return value
}

/** The JSON value of a request's body; `undefined` if there is no body. */
export function readOptionalJson(request: FastifyRequest): JsonValue | undefined {
  const body = takeBody(request)
  if (body.length === 0) return undefined
  assertJsonType(request.headers['content-type'])
  return parseDocumentBody(body, { maxValues: DOCUMENT_LIMITS.values })
}

/** The bytes of the body. The request, which lives until the response has been sent, no longer has them. */
export function takeBody(request: FastifyRequest): Buffer {
  const { body } = request
  request.body = undefined
  return body instanceof Buffer ? body : Buffer.alloc(0)
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

/** A body that is too large is read up to here, so that its sender can read the error response. */
const DRAIN_LIMIT = 16 * 1024 * 1024

/** Collects a body up to the route's limit; routes without a limit read the stream themselves. */
export function collectBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: unknown) => void,
): void {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    const message = `encoded bodies are not supported: send it without "Content-Encoding: ${encoding.slice(0, 80)}"`
    done(new DirectoryError('unsupported_media_type', message))
    return
  }
  const own = configOf(request).route?.bodyLimit ?? DOCUMENT_LIMITS.bytes
  const limit = request.caller.kind === 'anonymous' ? Math.min(own, DOCUMENT_LIMITS.bytes) : own
  if (limit === Number.POSITIVE_INFINITY) {
    done(null, payload)
    return
  }
  const chunks: Buffer[] = []
  let size = 0
  payload.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
    else {
      chunks.length = 0
      if (size > DRAIN_LIMIT) payload.destroy()
    }
  })
  payload.on('end', () => {
    if (size <= limit) {
      const body = Buffer.concat(chunks)
      // This listener lives as long as the request, whose response may be a stream of an hour.
      chunks.length = 0
      done(null, body)
      return
    }
    const message = `the body has ${size} bytes, but the limit is ${limit}: send less, or refer to large content by URL`
    done(new DirectoryError('payload_too_large', message))
  })
  payload.on('error', (cause) => done(new DirectoryError('invalid_request', 'the body ended too early', { cause })))
}

/** The first value of a header. */
export const headerOf = (request: FastifyRequest, name: string): string | undefined => firstOf(request.headers[name])

/** The first of the values of a header that may be repeated. */
export const firstOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

/** Compares secrets; takes the same time wherever they differ. */
export const isSameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
