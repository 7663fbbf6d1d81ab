import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import { abortError } from '../resilience/with-timeout.js'
import { createResponseBody, type ResponseBody, type WritableBody } from './response-body.js'

/** One HTTP request. */
export interface HttpRequest {
  readonly url: URL
  readonly method: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable
  /** Aborts the request, also while the body is read. A GatewayError as its reason gives the code of the error. */
  readonly signal: AbortSignal
  /** Idle timeout of the body in milliseconds, if longer than the default. */
  readonly silenceMs?: number
}

/** Status and headers of a response, and its body as it arrives. */
export interface HttpResponse {
  readonly status: number
  /** Lower-case names; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: ResponseBody
}

/** Sends a request and resolves once the response headers have arrived. Every failure is a GatewayError. */
export type SendRequest = (request: HttpRequest) => Promise<HttpResponse>

/** Sends requests through a pool of connections (dial.ts), which opens new ones through the address guard. */
export function createSendRequest(
  dispatcher: Dispatcher,
  { firstByteMs, silenceMs }: Pick<GatewayOptions, 'firstByteMs' | 'silenceMs'>,
): SendRequest {
  const send = (
    { url, method, headers, signal, silenceMs: minSilenceMs = 0 }: Omit<HttpRequest, 'body'>,
    payload: HttpRequest['body'],
  ): Promise<HttpResponse> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortError(signal, false))
      let controller: Dispatcher.DispatchController | undefined
      let body: WritableBody | undefined
      let failure: GatewayError | undefined

      const settle = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
      const fail = (error: GatewayError): void => {
        if (failure) return
        failure = error
        settle()
        if (body) body.fail(error)
        else reject(error)
        controller?.abort(error)
      }
      const onAbort = (): void => fail(abortError(signal, controller !== undefined))
      const onTimeout = (): void =>
        fail(new GatewayError('timeout', `no response headers within ${firstByteMs} ms`, { mayHaveRun: !!controller }))
      const timer = setTimeout(onTimeout, firstByteMs)
      signal.addEventListener('abort', onAbort)

      dispatcher.dispatch(
        { origin: url.origin, path: url.pathname + url.search, method, headers, body: payload ?? null },
        {
          // Until now the request was waiting for a connection; from here on it may have been sent.
          onRequestStart(started) {
            controller = started
            if (failure) started.abort(failure)
          },
          onResponseStart(_, status, received) {
            if (status < 200 || failure) return
            clearTimeout(timer)
            if (status > 599) return fail(invalidStatus(status))
            if (countHeaders(received) > MAX_HEADERS) return fail(tooManyHeaders(true))
            body = createResponseBody({
              silenceMs: Math.max(silenceMs, minSilenceMs),
              pause: () => controller?.pause(),
              resume: () => controller?.resume(),
              cancel: fail,
            })
            resolve({ status, headers: joinHeaders(received), body })
          },
          onResponseData(_, chunk) {
            body?.push(chunk)
          },
          onResponseEnd() {
            settle()
            body?.end()
          },
          onResponseError(_, error) {
            fail(translate(error, { isSent: controller !== undefined, hasBegun: body !== undefined }))
          },
        },
      )
    })

  return ({ body, ...request }) => {
    if (body === undefined || body instanceof Readable || body.length < LARGE_BODY) return send(request, body)
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const headers = { ...request.headers, 'content-length': String(bytes.byteLength) }
    return send({ ...request, headers }, sentOnce(bytes))
  }
}

/** A body of this length is sent as a stream: undici keeps any other one until the response is complete. */
const LARGE_BODY = 16 * 1024

/** A stream of the bytes, which forgets them once they are read. */
function sentOnce(bytes: Uint8Array): Readable {
  let left: Uint8Array | undefined = bytes
  return new Readable({
    read() {
      if (left) this.push(left)
      left = undefined
      this.push(null)
    },
  })
}

/** Many tiny headers cost more than their bytes, and the HTTP parser limits only the bytes. */
const MAX_HEADERS = 200

const countHeaders = (received: Record<string, string | string[] | undefined>): number =>
  Object.values(received).reduce((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0)

/** Not `too_large`, which may depend on the input: such headers are a fault of the agent. */
const tooManyHeaders = (mayHaveRun: boolean, cause?: unknown): GatewayError =>
  new GatewayError('bad_response', 'the response has too many or too large headers', { mayHaveRun, cause })

/** RFC 9110 §15: statuses end at 599, and others could not be passed on to the caller. */
const invalidStatus = (status: number): GatewayError =>
  new GatewayError('bad_response', `${status} is not a valid HTTP status`, { mayHaveRun: true })

function joinHeaders(received: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(received)) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}

function translate(cause: Error, { isSent, hasBegun }: { isSent: boolean; hasBegun: boolean }): GatewayError {
  if (cause instanceof GatewayError) return cause
  const code = 'code' in cause ? String(cause.code) : ''
  const options = { mayHaveRun: isSent, cause }
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') {
    return tooManyHeaders(isSent, cause)
  }
  if (code.startsWith('HPE_')) return new GatewayError('bad_response', 'the response is not valid HTTP', options)
  if (hasBegun) return new GatewayError('bad_response', 'the connection broke during the response', options)
  return new GatewayError('unreachable', 'the connection broke before the response', options)
}
