import type { JsonValue } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { isLoopback } from '../resolve/address-policy.js'
import { DEFAULT_LIMITS } from '../transports/call.js'
import { createDeadline } from '../transports/deadline.js'
import { exchange, type HttpDeps } from '../transports/http/exchange.js'
import { readWarnings } from '../transports/http/read-reply.js'
import { checkRequestId } from '../transports/identifiers.js'
import { readBody, readJsonBytes } from '../transports/read-body.js'

/** What every method of a client takes. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Milliseconds, repeats included; 30 seconds unless told. */
  readonly timeoutMs?: number
  /** One value that both sides can be asked about (C-74). */
  readonly requestId?: string
}

export interface DirectoryRequest extends RequestOptions {
  readonly method: string
  /** Below the base URL, or an absolute URL of the same directory, as in a link to the next page. */
  readonly path: string
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
  /** Sending it twice does no harm; GET, PUT and DELETE never do. */
  readonly isRepeatable?: boolean
}

export interface DirectoryAnswer {
  readonly status: number
  readonly headers: Headers
  /** Undefined if the body is empty. */
  readonly body: JsonValue | undefined
  readonly warnings: readonly string[]
  /** What was asked, for links that are relative to it. */
  readonly url: string
}

export interface Requester {
  (request: DirectoryRequest): Promise<DirectoryAnswer>
  /** The directory's own URL for a path. */
  urlOf(path: string): string
  /** What proves to the directory who is asking. */
  readonly credentials: Readonly<Record<string, string>>
}

const IDEMPOTENT = new Set(['GET', 'PUT', 'DELETE'])

/** Sends requests to one directory, and its credentials to no other place. */
export function createRequester(baseUrl: string, credentials: Record<string, string>, deps: HttpDeps): Requester {
  const base = readBase(baseUrl, Object.keys(credentials).length > 0)
  const urlOf = (path: string): string => {
    const url = path.startsWith('/') ? base.href.replace(/\/$/, '') + path : path
    if (!URL.canParse(url) || new URL(url).origin !== base.origin) {
      throw new ClientError('bad_response', 'the directory refers to a page of another origin', { url: base.origin })
    }
    return url
  }
  const send = async (request: DirectoryRequest): Promise<DirectoryAnswer> => {
    const { method, path, body, requestId } = request
    checkRequestId(requestId)
    const url = urlOf(path)
    const deadline = createDeadline(
      request.timeoutMs ?? DEFAULT_LIMITS.timeoutMs,
      `${method} ${path.split('?')[0]}`,
      request.signal,
    )
    try {
      const headers = {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(requestId !== undefined && { 'x-request-id': requestId }),
        ...request.headers,
        ...credentials,
      }
      const isRepeatable = request.isRepeatable ?? IDEMPOTENT.has(method)
      const payload = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await exchange(deps, { method, url, headers, ...payload, isRepeatable }, deadline)
      const bytes = await readBody(response.body, DEFAULT_LIMITS.maxBytes, deadline)
      return {
        status: response.status,
        headers: response.headers,
        body: bytes.byteLength === 0 ? undefined : readJsonBytes(bytes, `the answer to ${method} ${path}`),
        warnings: readWarnings(response.headers),
        url,
      }
    } finally {
      deadline.clear()
    }
  }
  return Object.assign(send, { urlOf, credentials })
}

/** A key goes to a directory over TLS, or not off this computer. */
function readBase(baseUrl: string, hasCredentials: boolean): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!base || !/^https?:$/.test(base.protocol) || base.username !== '' || base.search !== '' || base.hash !== '') {
    throw new ClientError(
      'invalid_argument',
      'baseUrl must be the http(s) URL of a directory, without query or userinfo',
    )
  }
  if (base.protocol === 'http:' && hasCredentials && !isLoopback(base.hostname)) {
    throw new ClientError('insecure', `a key is not sent to ${base.host} without TLS: use https`)
  }
  return base
}
