import type { JsonValue } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { isLoopback } from '../resolve/address-policy.js'
import { DEFAULT_LIMITS } from '../transports/call.js'
import { credentialHeader } from '../transports/credential.js'
import { createDeadline } from '../transports/deadline.js'
import { exchange, type HttpDeps } from '../transports/http/exchange.js'
import { readWarnings } from '../transports/http/read-reply.js'
import { checkRequestId } from '../transports/identifiers.js'
import { readBody, readJsonBytes } from '../transports/read-body.js'
import { DEFAULT_RETRY, type RetryPolicy } from '../transports/retry.js'

/** How a directory is reached. */
export interface ConnectionOptions {
  /** URL of the directory, such as `https://directory.example`, with or without a base path such as `/v0`. */
  readonly baseUrl: string
  /** An API key or a JWT for the directory. */
  readonly token?: string
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /** How often repeatable requests are retried, and how long to wait in between. */
  readonly retry?: Partial<RetryPolicy>
  /**
   * Requires of every request that it sees what this client has written before. Use it if a load balancer distributes requests
   * to several replicas; default: false.
   */
  readonly readYourWrites?: boolean
}

/** Options of every request to a directory. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Milliseconds, retries included; default: 30 s. */
  readonly timeoutMs?: number
  /** Identifies the request in the logs of both sides (C-74). */
  readonly requestId?: string
}

export interface DirectoryRequest extends RequestOptions {
  readonly method: string
  /** A path below the base URL, or an absolute URL of the same directory, such as a link to the next page. */
  readonly path: string
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
  /** Changes nothing; default: true for GET. */
  readonly isRead?: boolean
  /** May be sent twice; default: true for what changes nothing, PUT and DELETE. */
  readonly isRepeatable?: boolean
}

export interface DirectoryResponse {
  readonly status: number
  readonly headers: Headers
  /** Undefined if the body is empty. */
  readonly body: JsonValue | undefined
  readonly warnings: readonly string[]
  /** The URL of the request, the base of relative links. */
  readonly url: string
}

export interface Requester {
  (request: DirectoryRequest): Promise<DirectoryResponse>
  /** The directory's own URL for a path. */
  urlOf(path: string): string
  /** Headers that identify the caller to the directory. */
  readonly credentials: Readonly<Record<string, string>>
  /** Headers of every request: the credentials, and the state of the directory that it requires. */
  headers(): Record<string, string>
}

const IDEMPOTENT = new Set(['PUT', 'DELETE'])

/** Connects to a directory; `deps` is for other requests with the same fetch and retries. */
export function openRequester({ baseUrl, token, fetch, retry, readYourWrites = false }: ConnectionOptions): {
  request: Requester
  deps: HttpDeps
} {
  const deps: HttpDeps = {
    // Browsers reject a fetch that is detached from its global.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    retry: { ...DEFAULT_RETRY, ...retry },
  }
  const credentials = credentialHeader(token === undefined ? undefined : { type: 'bearer', token })
  return { request: createRequester(baseUrl, credentials, deps, readYourWrites), deps }
}

/** Sends requests to one directory, and its credentials nowhere else. */
function createRequester(
  baseUrl: string,
  credentials: Record<string, string>,
  deps: HttpDeps,
  readYourWrites: boolean,
): Requester {
  const base = readBase(baseUrl, Object.keys(credentials).length > 0)
  /** The state of the directory after the last write. */
  let revision: string | undefined
  const commonHeaders = (): Record<string, string> => ({
    ...credentials,
    ...(revision !== undefined && { 'min-revision': revision }),
  })
  const urlOf = (path: string): string => {
    if (/\/\.\.?(?:[/?]|$)/.test(path)) throw new ClientError('invalid_argument', 'an id cannot be "." or ".."')
    const url = path.startsWith('/') ? base.href.replace(/\/$/, '') + path : path
    if (!URL.canParse(url) || new URL(url).origin !== base.origin) {
      throw new ClientError('bad_response', 'the directory links to another origin', { url: base.origin })
    }
    return url
  }
  const send = async (request: DirectoryRequest): Promise<DirectoryResponse> => {
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
        ...commonHeaders(),
      }
      const isRead = request.isRead ?? method === 'GET'
      const isRepeatable = request.isRepeatable ?? (isRead || IDEMPOTENT.has(method))
      const payload = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await exchange(deps, { method, url, headers, ...payload, isRepeatable }, deadline)
      if (readYourWrites && !isRead) revision = response.headers.get('x-directory-revision') ?? revision
      const bytes = await readBody(response.body, DEFAULT_LIMITS.maxBytes, deadline)
      return {
        status: response.status,
        headers: response.headers,
        body: bytes.byteLength === 0 ? undefined : readJsonBytes(bytes, `the response to ${method} ${path}`),
        warnings: readWarnings(response.headers),
        url,
      }
    } finally {
      deadline.clear()
    }
  }
  return Object.assign(send, { urlOf, credentials, headers: commonHeaders })
}

/** A token is sent over TLS only, except to this computer. */
function readBase(baseUrl: string, hasCredentials: boolean): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!base || !/^https?:$/.test(base.protocol) || base.username !== '' || base.search !== '' || base.hash !== '') {
    throw new ClientError('invalid_argument', 'baseUrl must be an http(s) URL without userinfo, query and fragment')
  }
  if (base.protocol === 'http:' && hasCredentials && !isLoopback(base.hostname)) {
    throw new ClientError('insecure', `the token is not sent to ${base.host} without TLS: use https in baseUrl`)
  }
  return base
}
