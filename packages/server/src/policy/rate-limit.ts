import { createTokenBuckets, DirectoryError, type TakeTokens } from '@switchboard/protocol'

/** Actions with a limit of their own, in requests per minute and client (CONTRACT: `rateLimits`). */
export type LimitedAction = 'search' | 'register' | 'lookup' | 'invoke'

/** Clients tracked for each action; the least recently seen are dropped first. */
const MAX_CLIENTS = 50_000

export interface RateLimits {
  /** Counts requests against the client's limit, or throws `rate_limited`. More requests than the limit count as the limit. */
  spend(action: LimitedAction, client: string, requests?: number): void
}

/** A token bucket for each client and action, which holds the requests of a minute. */
export function createRateLimits(
  perMinute: Readonly<Record<LimitedAction, number>>,
  monotonic: () => number,
): RateLimits {
  const bucketsFor = (action: LimitedAction): TakeTokens =>
    createTokenBuckets({ capacity: perMinute[action], refillMs: 60_000, maxKeys: MAX_CLIENTS, monotonic })
  const buckets: Readonly<Record<LimitedAction, TakeTokens>> = {
    search: bucketsFor('search'),
    register: bucketsFor('register'),
    lookup: bucketsFor('lookup'),
    invoke: bucketsFor('invoke'),
  }
  return {
    spend(action, client, requests = 1) {
      const retryAfter = buckets[action](client, requests)
      if (retryAfter === undefined) return
      throw new DirectoryError(
        'rate_limited',
        `the limit of ${perMinute[action]} ${action} requests per minute is exceeded: try again in ${retryAfter} s`,
        { retryAfter },
      )
    },
  }
}
