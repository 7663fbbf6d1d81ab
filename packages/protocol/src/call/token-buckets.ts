export interface TokenBucketOptions {
  /** Tokens of a full bucket. */
  readonly capacity: number
  /** Milliseconds in which an empty bucket fills up. */
  readonly refillMs: number
  /** Buckets that are kept; the one that was used least recently is dropped, and is full when it is used again. */
  readonly maxKeys: number
  readonly monotonic: () => number
}

/**
 * Takes tokens from the bucket of a key; a cost above the capacity empties a full bucket.
 *
 * @returns undefined if there were enough tokens, else the seconds until there are
 */
export type TakeTokens = (key: string, cost?: number) => number | undefined

/** Tolerance for sums of fractions: 10.000000000000002 seconds are 10. */
const ROUNDING = 1e-9

/** A rate limiter with one token bucket for each key; buckets refill evenly. */
export function createTokenBuckets({ capacity, refillMs, maxKeys, monotonic }: TokenBucketOptions): TakeTokens {
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>()
  return (key, cost = 1) => {
    const at = monotonic()
    const known = buckets.get(key)
    const tokens = known ? Math.min(capacity, known.tokens + ((at - known.at) / refillMs) * capacity) : capacity
    const wanted = Math.min(cost, capacity)
    const missing = wanted - tokens
    const isEnough = missing < ROUNDING
    // Deleted first, so that the keys are in the order of their last use.
    buckets.delete(key)
    buckets.set(key, { tokens: isEnough ? Math.max(0, -missing) : tokens, at })
    const [oldest] = buckets.keys()
    if (buckets.size > maxKeys && oldest !== undefined) buckets.delete(oldest)
    return isEnough ? undefined : Math.max(1, Math.ceil(((missing / capacity) * refillMs) / 1000 - ROUNDING))
  }
}
