import { type JsonValue, readRetryAfter } from '@switchboard/protocol'
import { ClientError, type ClientErrorOptions } from '../../errors.js'
import type { Deadline } from '../deadline.js'
import { readProblem, toClientError } from '../problem.js'
import { readBody, readJsonBytes } from '../read-body.js'
import { type RetryPolicy, withRetries } from '../retry.js'

/** One request over HTTP. */
export interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | FormData
  readonly isRepeatable: boolean
}

/** What sends requests, and how often. */
export interface HttpDeps {
  readonly fetch: typeof fetch
  readonly retry: RetryPolicy
}

/** Bytes of an error's body that are read. */
const MAX_ERROR_BYTES = 64 * 1024

/** Sends a request; the answer is a 2xx. Everything else is thrown, redirects too: they could lead anywhere. */
export function exchange(deps: HttpDeps, request: HttpRequest, deadline: Deadline): Promise<Response> {
  return withRetries(deps.retry, request.isRepeatable, deadline, async () => {
    const response = await send(deps, request, deadline)
    if (response.ok) return response
    throw await readFailure(response, request.url, deps.retry.now, deadline)
  })
}

async function send({ fetch }: HttpDeps, request: HttpRequest, deadline: Deadline): Promise<Response> {
  const { method, url, headers, body } = request
  deadline.check()
  try {
    return await deadline.race(
      fetch(url, {
        method,
        headers,
        redirect: 'manual',
        // Cookies of a page belong to nobody who is called here.
        credentials: 'omit',
        signal: deadline.signal,
        ...(body !== undefined && { body }),
      }),
    )
  } catch (error) {
    deadline.check()
    if (error instanceof ClientError) throw error
    throw new ClientError('unreachable', `${hostOf(url)} does not answer`, { cause: error, url: withoutQuery(url) })
  }
}

async function readFailure(
  response: Response,
  url: string,
  now: () => number,
  deadline: Deadline,
): Promise<ClientError> {
  const { status, headers } = response
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  const requestId = headers.get('x-request-id')
  const challenge = headers.get('www-authenticate')
  const options: ClientErrorOptions = {
    status,
    url: withoutQuery(url),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(requestId !== null && { requestId }),
  }
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    void response.body?.cancel().catch(() => {})
    return new ClientError('bad_redirect', `${hostOf(url)} redirects, and calls follow no redirects`, options)
  }
  const details = await readErrorBody(response, deadline)
  return toClientError(readProblem(details) ?? {}, {
    ...options,
    ...(details !== undefined && { details }),
    ...(challenge !== null && status === 401 && { cause: new Challenge(challenge) }),
  })
}

/** Why a 401 came: how the far side wants its callers to prove who they are. */
export class Challenge extends Error {
  override readonly name = 'Challenge'
}

/** A body that is no JSON, too long or broken off says nothing more than the status does. */
async function readErrorBody(response: Response, deadline: Deadline): Promise<JsonValue | undefined> {
  try {
    const bytes = await readBody(response.body, MAX_ERROR_BYTES, deadline)
    return bytes.byteLength === 0 ? undefined : readJsonBytes(bytes, 'the error')
  } catch {
    deadline.check()
    return undefined
  }
}

/** A JSON body of a 2xx. */
export async function readJsonBody(response: Response, maxBytes: number, deadline: Deadline): Promise<JsonValue> {
  return readJsonBytes(await readBody(response.body, maxBytes, deadline), 'the response')
}

/** What people ask for stays out of errors and logs. */
const withoutQuery = (url: string): string => url.split(/[?#]/)[0] ?? ''

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)
