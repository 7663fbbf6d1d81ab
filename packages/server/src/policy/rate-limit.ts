import { DirectoryError } from '@switchboard/protocol'

/** What is limited apart from each other, in requests a minute for one client (CONTRACT: `rateLimits`). */
export type LimitedAction = 'search' | 'register' | 'lookup' | 'invoke'

/** Clients remembered; the one that has been quiet longest is forgotten first, which only ever helps it. */
const MAX_CLIENTS = 50_000

export interface RateLimits {
  /** Takes requests of the client's allowance, or throws `rate_limited`; more than a minute's count as a minute's. */
  spend(action: LimitedAction, client: string, requests?: number): void
}

/** A bucket a client and action: it holds a minute's allowance and fills evenly. */
export function createRateLimits(perMinute: Readonly<Record<LimitedAction, number>>, now: () => number): RateLimits {
  const buckets = new Map<string, { left: number; at: number }>()
  return {
    spend(action, client, requests = 1) {
      const allowance = perMinute[action]
      const cost = Math.min(requests, allowance)
      const key = `${action} ${client}`
      const time = now()
      const bucket = buckets.get(key) ?? { left: allowance, at: time }
      const left = Math.min(allowance, bucket.left + ((time - bucket.at) / 60_000) * allowance)
      buckets.delete(key)
      buckets.set(key, { left: Math.max(0, left - cost), at: time })
      if (buckets.size > MAX_CLIENTS) for (const oldest of buckets.keys()) return void buckets.delete(oldest)
      if (left >= cost) return
      buckets.set(key, { left, at: time })
      const retryAfter = Math.ceil(((cost - left) / allowance) * 60)
      throw new DirectoryError(
        'rate_limited',
        `more than ${allowance} ${action} requests a minute: wait ${retryAfter} s`,
        { retryAfter },
      )
    },
  }
}
