import { isStreamType, mediaTypeOf } from '@switchboard/protocol'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import { outgoingHeaders } from '../http/outgoing-headers.js'
import { refuseDetours } from '../http/read-response.js'
import { limitBytes } from '../http/response-body.js'
import { reasonOf, type SendRequest } from '../http/send-request.js'
import { withCleanup } from '../http/with-cleanup.js'

/** Statuses that come without a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * `fetch` for addresses from outside: guarded, without redirects, cookies and compression, limited in size and time.
 * What goes wrong on the way is a GatewayError. A stream has no limit of size; whoever reads it bounds its parts.
 */
export function createGuardedFetch(
  sendRequest: SendRequest,
  { timeoutMs, maxBodyBytes }: Pick<GatewayOptions, 'timeoutMs' | 'maxBodyBytes'>,
): typeof fetch {
  return async (input, init) => {
    // The signal is watched here; a Request would keep a listener of its own on it until it is collected.
    const { signal: wish, ...rest } = init ?? {}
    const request = new Request(input, rest)
    const caller = wish ?? (input instanceof Request ? input.signal : undefined)
    const limit = new AbortController()
    const cancel = (): void => limit.abort(caller?.reason)
    const timer = setTimeout(() => limit.abort(new GatewayError('timeout', 'no answer in time')), timeoutMs)
    const release = (): void => {
      clearTimeout(timer)
      caller?.removeEventListener('abort', cancel)
    }
    caller?.addEventListener('abort', cancel)
    if (caller?.aborted) cancel()

    try {
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
      const answer = await sendRequest({
        url: new URL(request.url),
        method: request.method,
        headers: outgoingHeaders(request.headers),
        signal: limit.signal,
        ...(body && { body }),
      })
      refuseDetours(answer)
      const isStream = isStreamType(mediaTypeOf(answer.headers['content-type']))
      if (isStream) clearTimeout(timer)
      const { status, headers } = answer
      if (BODILESS.has(status) || request.method === 'HEAD') {
        answer.body.cancel()
        release()
        return new Response(null, { status, headers })
      }
      const bytes = released(limitBytes(answer.body, isStream ? Number.POSITIVE_INFINITY : maxBodyBytes), release)
      const stop = (): void => {
        answer.body.cancel()
        release()
      }
      return new Response(ReadableStream.from(withCleanup(bytes, stop)), { status, headers })
    } catch (error) {
      release()
      throw error instanceof GatewayError || !limit.signal.aborted ? error : reasonOf(limit.signal, true)
    }
  }
}

async function* released(bytes: AsyncIterable<Uint8Array>, release: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    yield* bytes
  } finally {
    release()
  }
}
