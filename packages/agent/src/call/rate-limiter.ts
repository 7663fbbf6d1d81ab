import { createTokenBuckets } from '@switchboard/protocol'
import { AgentError } from '../errors.js'

export interface RateLimit {
  /** Calls that a client may make within `seconds`. */
  readonly calls: number
  readonly seconds: number
}

/** Maximum number of clients that are tracked. */
const MAX_CLIENTS = 100_000

/** Throws `rate_limited` for a client that calls too often; its allowance refills evenly (AIDIP §9). */
export function createRateLimiter({ calls, seconds }: RateLimit, monotonic: () => number): (client: string) => void {
  const { take } = createTokenBuckets({ capacity: calls, refillMs: seconds * 1000, maxKeys: MAX_CLIENTS, monotonic })
  return (client) => {
    const retryAfter = take(client)
    if (retryAfter === undefined) return
    const message = `more than ${calls} calls within ${seconds} seconds: wait ${retryAfter} s`
    throw new AgentError('rate_limited', message, { retryAfter })
  }
}
