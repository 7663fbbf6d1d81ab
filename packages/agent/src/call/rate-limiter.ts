import { AgentError } from '../errors.js'
import { ExpiringMap } from '../expiring-map.js'

export interface RateLimit {
  /** Calls that a client may make within `seconds`. */
  readonly calls: number
  readonly seconds: number
}

interface Allowance {
  tokens: number
  at: number
}

/** Clients whose allowance is remembered; those who were silent longest are forgotten, with a full allowance. */
const MAX_CLIENTS = 100_000

/** Throws `rate_limited` for a client that calls too often: its allowance fills up again steadily (AIDIP §9). */
export function createRateLimiter({ calls, seconds }: RateLimit, now: () => number): (client: string) => void {
  const allowances = new ExpiringMap<Allowance>({ now, max: MAX_CLIENTS })
  const perMs = calls / (seconds * 1000)
  return (client) => {
    const at = now()
    const known = allowances.get(client)
    const tokens = known ? Math.min(calls, known.tokens + (at - known.at) * perMs) : calls
    if (tokens < 1) {
      const retryAfter = Math.max(1, Math.ceil((1 - tokens) / perMs / 1000))
      throw new AgentError('rate_limited', `more than ${calls} calls within ${seconds} seconds: wait`, { retryAfter })
    }
    allowances.set(client, { tokens: tokens - 1, at }, seconds * 1000)
  }
}
