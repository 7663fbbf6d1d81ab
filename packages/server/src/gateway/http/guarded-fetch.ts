import { isStreamType, mediaTypeOf } from '@switchboard/protocol'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import { abortError } from '../resilience/with-timeout.js'
import { observeStream } from './observe-stream.js'
import { outgoingHeaders } from './outgoing-headers.js'
import { rejectCompressed, rejectUnsupported } from './read-response.js'
import { limitBytes } from './response-body.js'
import type { SendRequest } from './send-request.js'

/** Statuses without a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * `fetch` for untrusted addresses: it goes through the address guard, follows no redirects (with `redirect: 'manual'` it
 * returns them, otherwise it rejects), sends no cookies, accepts no compression, and limits size and time. Failures are GatewayErrors. The size of a stream is not limited; its
 * reader must limit the size of each part.
 */
export function createGuardedFetch(
  sendRequest: SendRequest,
  { timeoutMs, maxBodyBytes }: Pick<GatewayOptions, 'timeoutMs' | 'maxBodyBytes'>,
): typeof fetch {
  return async (input, init) => {
    // Not passed to Request, which would keep a listener on the signal until it is garbage-collected.
    const { signal, ...rest } = init ?? {}
    const request = new Request(input, rest)
    const caller = signal ?? (input instanceof Request ? input.signal : undefined)
    const limit = new AbortController()
    const cancel = (): void => limit.abort(caller?.reason)
    const onTimeout = (): void => limit.abort(new GatewayError('timeout', `no response within ${timeoutMs} ms`))
    const timer = setTimeout(onTimeout, timeoutMs)
    const release = (): void => {
      clearTimeout(timer)
      caller?.removeEventListener('abort', cancel)
    }
    caller?.addEventListener('abort', cancel)
    if (caller?.aborted) cancel()

    try {
      const payload = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
      const response = await sendRequest({
        url: new URL(request.url),
        method: request.method,
        headers: outgoingHeaders(Object.fromEntries(request.headers)),
        signal: limit.signal,
        ...(payload && { body: payload }),
      })
      if (request.redirect === 'manual') rejectCompressed(response)
      else rejectUnsupported(response)
      const { status, headers, body } = response
      const isStream = isStreamType(mediaTypeOf(headers['content-type']))
      if (isStream) clearTimeout(timer)
      if (BODILESS.has(status) || request.method === 'HEAD') {
        body.cancel()
        release()
        return new Response(null, { status, headers })
      }
      const bytes = limitBytes(body, isStream ? Number.POSITIVE_INFINITY : maxBodyBytes)
      const observed = observeStream(bytes, { onCancel: () => body.cancel(), onEnd: release })
      return new Response(ReadableStream.from(observed), { status, headers })
    } catch (error) {
      release()
      throw error instanceof GatewayError || !limit.signal.aborted ? error : abortError(limit.signal, true)
    }
  }
}
