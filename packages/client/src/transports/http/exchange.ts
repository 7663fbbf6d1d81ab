import { readRetryAfter } from '@switchboard/protocol/http'
import type { JsonValue } from '@switchboard/protocol/json'
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
  readonly body?: string | Uint8Array | FormData | ReadableStream<Uint8Array>
  readonly isRepeatable: boolean
}

/** How requests are sent and retried. */
export interface HttpDeps {
  readonly fetch: typeof fetch
  readonly retry: RetryPolicy
}

/** Maximum bytes of an error body. */
const MAX_ERROR_BYTES = 64 * 1024

/** Sends a request and returns a 2xx response. Throws for any other, including redirects, which could lead anywhere. */
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
        // Never send the cookies of the page.
        credentials: 'omit',
        signal: deadline.signal,
        ...(body !== undefined && { body }),
        ...(body instanceof ReadableStream && { duplex: 'half' }),
      }),
    )
  } catch (error) {
    deadline.check()
    if (error instanceof ClientError) throw error
    throw new ClientError('unreachable', `${hostOf(url)} is not responding`, { cause: error, url: withoutQuery(url) })
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
    return new ClientError(
      'bad_redirect',
      `${hostOf(url)} responded with a redirect, and calls do not follow redirects`,
      options,
    )
  }
  const details = await readErrorBody(response, deadline)
  return toClientError(readProblem(details) ?? {}, {
    ...options,
    ...(details !== undefined && { details }),
    ...(challenge !== null && status === 401 && { cause: new Challenge(challenge) }),
  })
}

/** The cause of a 401; its message is the `WWW-Authenticate` header. */
export class Challenge extends Error {
  override readonly name = 'Challenge'
}

/** Undefined if the body is not JSON, too large or incomplete: then the status has to do. */
async function readErrorBody(response: Response, deadline: Deadline): Promise<JsonValue | undefined> {
  try {
    const bytes = await readBody(response.body, MAX_ERROR_BYTES, deadline)
    return bytes.byteLength === 0 ? undefined : readJsonBytes(bytes, 'the error')
  } catch {
    deadline.check()
    return undefined
  }
}

/** Reads the JSON body of a 2xx response. */
export async function readJsonBody(response: Response, maxBytes: number, deadline: Deadline): Promise<JsonValue> {
  return readJsonBytes(await readBody(response.body, maxBytes, deadline), 'the response')
}

/** Queries may contain personal data, so they stay out of errors and logs. */
const withoutQuery = (url: string): string => url.split(/[?#]/)[0] ?? ''

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)
