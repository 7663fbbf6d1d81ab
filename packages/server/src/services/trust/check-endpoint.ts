import { GatewayError, type GatewayErrorCode } from '../../gateway/gateway.js'
import { withTimeout } from '../../gateway/resilience/with-timeout.js'
import type { FailedCheck } from '../../policy/health.js'

/** `unknown`: the directory must not connect to the address, or could not try. */
export type Reachability = 'reachable' | FailedCheck | 'unknown'

/** Whether something responds at the URL of an endpoint. */
export type CheckEndpoint = (url: URL) => Promise<Reachability>

/** Milliseconds for one check. */
const TIMEOUT_MS = 5000
/** Statuses with which a proxy says that the agent behind it does not respond. */
const NOT_BEHIND_PROXY: ReadonlySet<number> = new Set([502, 503, 504])
const NO_CONNECTION: ReadonlySet<GatewayErrorCode> = new Set(['unreachable', 'timeout'])
/** Errors after which the agent has responded, although not well. */
const BAD_RESPONSES: ReadonlySet<GatewayErrorCode> = new Set(['bad_response', 'too_large'])

/**
 * Sends HEAD, which changes nothing and transfers nothing. Every response proves that the agent can be reached, even one
 * that says that it does not know HEAD.
 *
 * @param fetch guarded against internal addresses
 */
export function createCheckEndpoint(fetch: typeof globalThis.fetch): CheckEndpoint {
  return async (url) => {
    try {
      const { status } = await withTimeout(TIMEOUT_MS, (signal) =>
        fetch(url, { method: 'HEAD', redirect: 'manual', headers: { 'user-agent': 'switchboard-liveness' }, signal }),
      )
      return NOT_BEHIND_PROXY.has(status) ? 'down' : 'reachable'
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      if (NO_CONNECTION.has(error.code)) return 'silent'
      return BAD_RESPONSES.has(error.code) ? 'reachable' : 'unknown'
    }
  }
}
