import { decodeUtf8 } from '@switchboard/protocol'
import { GatewayError } from '../../gateway/gateway.js'
import { sendOverFetch } from '../../gateway/http/send-over-fetch.js'
import { withTimeout } from '../../gateway/resilience/with-timeout.js'

/** Limits of a document that vouches for somebody; times in milliseconds, sizes in bytes. */
export interface FetchLimits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

/**
 * Reads a small public document of a publisher. No credential is sent, and no redirect is followed: whoever can redirect
 * a path does not necessarily own the host.
 *
 * @param fetch guarded against internal addresses
 * @throws {GatewayError} if there is no such document
 */
export function fetchText(fetch: typeof globalThis.fetch, url: URL, limits: FetchLimits): Promise<string> {
  const { timeoutMs, maxBytes } = limits
  return withTimeout(timeoutMs, async (signal) => {
    const { status, body } = await sendOverFetch(fetch)({ url, method: 'GET', headers: {}, signal })
    if (status !== 200) {
      body.cancel()
      throw new GatewayError('bad_response', `${url.href} returned status ${status}`)
    }
    const text = decodeUtf8(await body.collect(maxBytes))
    if (text === undefined) throw new GatewayError('bad_response', `${url.href} is not UTF-8 text`)
    return text
  })
}
