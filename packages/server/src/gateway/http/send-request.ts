import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { CancelSignal } from '../../cancellation.js'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import { abortError } from '../resilience/with-timeout.js'
import { type BodySource, createResponseBody, type ResponseBody, type WritableBody } from './response-body.js'

/** One HTTP request. */
export interface HttpRequest {
  readonly url: URL
  readonly method: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable | undefined
  /** Aborts the request, also while the body is read. A GatewayError as its reason gives the code of the error. */
  readonly signal: CancelSignal
  /** Idle timeout of the body in milliseconds, if longer than the default. */
  readonly silenceMs?: number | undefined
  /** Milliseconds after which the signal is aborted, at least until the response begins: then no longer timeout is needed. */
  readonly timeoutMs?: number | undefined
  /** Called when the agent may have received the request; until then it waits for a connection. */
  readonly onSent?: (() => void) | undefined
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
  limits: Pick<GatewayOptions, 'firstByteMs' | 'silenceMs'>,
): SendRequest {
  const send = (
    { url, method, headers, signal, silenceMs, timeoutMs, onSent }: HttpRequest,
    body: NonNullable<HttpRequest['body']> | null,
  ): Promise<HttpResponse> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortError(signal, false))
      const options = { signal, silenceMs, timeoutMs, onSent }
      const exchange = new Exchange(options, limits, resolve, reject)
      dispatcher.dispatch({ origin: url.origin, path: url.pathname + url.search, method, headers, body }, exchange)
    })

  return (request) => {
    const { body } = request
    if (body === undefined) return send(request, null)
    if (body instanceof Readable || body.length < LARGE_BODY) return send(request, body)
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const headers = { ...request.headers, 'content-length': String(bytes.byteLength) }
    return send({ ...request, headers }, sentOnce(bytes))
  }
}

/**
 * One request and its response, as undici reports them. A class, because every call has one. It lives as long as the
 * response, which may be a stream of an hour, so it does not refer to the body of the request.
 */
class Exchange implements Dispatcher.DispatchHandler, BodySource {
  readonly silenceMs: number
  readonly isTimed: boolean
  readonly #signal: CancelSignal
  readonly #onSent: (() => void) | undefined
  readonly #resolve: (response: HttpResponse) => void
  readonly #reject: (error: GatewayError) => void
  readonly #onAbort = (): void => this.cancel(abortError(this.#signal, this.#controller !== undefined))
  readonly #timer: NodeJS.Timeout | undefined
  #controller: Dispatcher.DispatchController | undefined
  #body: WritableBody | undefined
  #failure: GatewayError | undefined

  constructor(
    { signal, silenceMs = 0, timeoutMs = Number.POSITIVE_INFINITY, onSent }: ExchangeOptions,
    limits: Pick<GatewayOptions, 'firstByteMs' | 'silenceMs'>,
    resolve: (response: HttpResponse) => void,
    reject: (error: GatewayError) => void,
  ) {
    const { firstByteMs } = limits
    this.silenceMs = Math.max(limits.silenceMs, silenceMs)
    this.isTimed = timeoutMs <= silenceMs
    this.#signal = signal
    this.#onSent = onSent
    this.#resolve = resolve
    this.#reject = reject
    if (firstByteMs < timeoutMs) this.#timer = setTimeout(onLate, firstByteMs, this, firstByteMs)
    signal.addEventListener('abort', this.#onAbort)
  }

  // Until now the request was waiting for a connection; from here on it may have been sent.
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure) controller.abort(this.#failure)
    else this.#onSent?.()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, received: ReceivedHeaders): void {
    if (status < 200 || this.#failure) return
    clearTimeout(this.#timer)
    const headers = joinHeaders(received)
    if (status > 599) this.cancel(invalidStatus(status))
    else if (!headers) this.cancel(tooManyHeaders(true))
    else {
      this.#body = createResponseBody(this)
      this.#resolve({ status, headers, body: this.#body })
    }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk)
  }

  onResponseEnd(): void {
    this.#settle()
    this.#body?.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.cancel(translate(error, { isSent: this.#controller !== undefined, hasBegun: this.#body !== undefined }))
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  cancel(error: GatewayError): void {
    if (this.#failure) return
    this.#failure = error
    this.#settle()
    if (this.#body) this.#body.fail(error)
    else this.#reject(error)
    this.#controller?.abort(error)
  }

  expire(ms: number): void {
    const mayHaveRun = this.#controller !== undefined
    this.cancel(new GatewayError('timeout', `no response headers within ${ms} ms`, { mayHaveRun }))
  }

  #settle(): void {
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#onAbort)
  }
}

type ExchangeOptions = Pick<HttpRequest, 'signal' | 'silenceMs' | 'timeoutMs' | 'onSent'>

type ReceivedHeaders = Record<string, string | string[] | undefined>

const onLate = (exchange: Exchange, ms: number): void => exchange.expire(ms)

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

/** Not `too_large`, which may depend on the input: such headers are a fault of the agent. */
const tooManyHeaders = (mayHaveRun: boolean, cause?: unknown): GatewayError =>
  new GatewayError('bad_response', 'the response has too many or too large headers', { mayHaveRun, cause })

/** RFC 9110 §15: statuses end at 599, and others could not be passed on to the caller. */
const invalidStatus = (status: number): GatewayError =>
  new GatewayError('bad_response', `${status} is not a valid HTTP status`, { mayHaveRun: true })

/** Undefined if there are too many. */
function joinHeaders(received: ReceivedHeaders): Record<string, string> | undefined {
  const headers: Record<string, string> = {}
  let count = 0
  for (const name of Object.keys(received)) {
    const value = received[name]
    if (value === undefined) continue
    count += typeof value === 'string' ? 1 : value.length
    if (count > MAX_HEADERS) return undefined
    headers[name] = typeof value === 'string' ? value : value.join(', ')
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
