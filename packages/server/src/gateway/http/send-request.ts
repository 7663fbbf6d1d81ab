import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import { createResponseBody, type ResponseBody } from './response-body.js'

/** One HTTP request. */
export interface HttpRequest {
  readonly url: URL
  readonly method: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable
  /** Ends the exchange, the body included; its reason is thrown if it is a GatewayError. */
  readonly signal: AbortSignal
  /** Milliseconds that nothing may come within the answer, where that is longer than usual: nobody waits for it. */
  readonly silenceMs?: number
}

/** The answer to it, as far as it has come. */
export interface HttpResponse {
  readonly status: number
  /** Lower-case names; a header that came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: ResponseBody
}

/** Sends a request and gives the answer when its headers are there. Every failure is a GatewayError. */
export type SendRequest = (request: HttpRequest) => Promise<HttpResponse>

export function createSendRequest(
  dispatcher: Dispatcher,
  { firstByteMs, silenceMs }: Pick<GatewayOptions, 'firstByteMs' | 'silenceMs'>,
): SendRequest {
  return ({ url, method, headers, body: payload, signal, silenceMs: patience = 0 }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(reasonOf(signal, false))
      let controller: Dispatcher.DispatchController | undefined
      let body: ResponseBody | undefined
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
      const onAbort = (): void => fail(reasonOf(signal, controller !== undefined))
      const onFirstByteMissing = (): void =>
        fail(new GatewayError('timeout', 'the agent did not begin to answer in time', { mayHaveRun: !!controller }))
      const timer = setTimeout(onFirstByteMissing, firstByteMs)
      signal.addEventListener('abort', onAbort)

      dispatcher.dispatch(
        { origin: url.origin, path: url.pathname + url.search, method, headers, body: payload ?? null },
        {
          // From here on something may have been sent; before it, the request only waited for a connection.
          onRequestStart(started) {
            controller = started
            if (failure) started.abort(failure)
          },
          onResponseStart(_, status, received) {
            if (status < 200 || failure) return
            clearTimeout(timer)
            if (status > 599) return fail(noStatus(status))
            if (countHeaders(received) > MAX_HEADERS) return fail(tooManyHeaders(true))
            body = createResponseBody({
              silenceMs: Math.max(silenceMs, patience),
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
}

/** What an aborted signal means for the exchange. */
export function reasonOf(signal: AbortSignal, mayHaveRun: boolean): GatewayError {
  const { reason } = signal
  const [code, message] =
    reason instanceof GatewayError
      ? [reason.code, reason.message]
      : (['cancelled', 'the call was given up by its caller'] as const)
  return new GatewayError(code, message, { mayHaveRun, cause: reason })
}

/** Small ones cost more than their bytes; the parser counts bytes only. */
const MAX_HEADERS = 200

const countHeaders = (received: Record<string, string | string[] | undefined>): number =>
  Object.values(received).reduce((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0)

/** Not `too_large`, which may be due to what was asked for: whoever answers so does it whatever the question. */
const tooManyHeaders = (mayHaveRun: boolean, cause?: unknown): GatewayError =>
  new GatewayError('bad_response', 'the headers of the answer are too many or too large', { mayHaveRun, cause })

/** RFC 9110 §15: such a number says nothing, and nobody could be answered with it. */
const noStatus = (status: number): GatewayError =>
  new GatewayError('bad_response', `the agent answers with the status ${status}`, { mayHaveRun: true })

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
  if (code.startsWith('HPE_')) return new GatewayError('bad_response', 'the agent does not answer in HTTP', options)
  if (hasBegun) return new GatewayError('bad_response', 'the answer broke off', options)
  return new GatewayError('unreachable', 'the connection broke before an answer', options)
}
