export interface TokenBucketOptions {
  /** Tokens of a full bucket: the same for all keys, or of a key. */
  readonly capacity: number | ((key: string) => number)
  /** Milliseconds in which an empty bucket fills up. */
  readonly refillMs: number
  /** Buckets that are kept; the one that was used least recently is dropped, and is full when it is used again. */
  readonly maxKeys: number
  readonly monotonic: () => number
}

/** A rate limiter with one token bucket for each key; buckets refill evenly. */
export interface TokenBuckets {
  /**
   * Takes tokens from the bucket of a key; a cost above the capacity empties a full bucket.
   *
   * @returns undefined if there were enough tokens, else the seconds until there are
   */
  take(key: string, cost?: number): number | undefined
  /** Takes tokens even if there are not enough, for work whose cost is known only afterwards: up to one bucket of debt. */
  charge(key: string, cost: number): void
  /** Sets the tokens of a key, such as to what is left in a bucket that several processes share. */
  set(key: string, tokens: number): void
  /** How full the bucket of a key is. */
  levelOf(key: string): BucketLevel
}

export interface BucketLevel {
  /** Whole tokens that can be taken now. */
  readonly tokens: number
  /** Whole seconds until the bucket is full. */
  readonly fullIn: number
}

/** Tolerance for sums of fractions: 10.000000000000002 seconds are 10. */
const ROUNDING = 1e-9

interface Bucket {
  tokens: number
  at: number
}

/** Creates full buckets for all keys. */
export function createTokenBuckets(options: TokenBucketOptions): TokenBuckets {
  const { refillMs, maxKeys, monotonic } = options
  const given = options.capacity
  const capacityOf = typeof given === 'number' ? () => given : given
  const buckets = new Map<string, Bucket>()
  /** The bucket that was used last. */
  let newest: Bucket | undefined

  const tokensAt = (key: string, at: number): number => {
    const known = buckets.get(key)
    const capacity = capacityOf(key)
    return known ? Math.min(capacity, known.tokens + ((at - known.at) / refillMs) * capacity) : capacity
  }
  const set = (key: string, tokens: number, at: number): void => {
    const known = buckets.get(key)
    if (known && known === newest) {
      known.tokens = tokens
      known.at = at
      return
    }
    // Deleted first, so that the keys are in the order of their last use.
    buckets.delete(key)
    newest = { tokens, at }
    buckets.set(key, newest)
    if (buckets.size <= maxKeys) return
    const [oldest] = buckets.keys()
    if (oldest !== undefined) buckets.delete(oldest)
  }
  const secondsFor = (tokens: number, capacity: number): number =>
    Math.ceil(((tokens / capacity) * refillMs) / 1000 - ROUNDING)

  return {
    take(key, cost = 1) {
      const at = monotonic()
      const tokens = tokensAt(key, at)
      const capacity = capacityOf(key)
      const missing = Math.min(cost, capacity) - tokens
      const isEnough = missing < ROUNDING
      set(key, isEnough ? Math.max(0, -missing) : tokens, at)
      return isEnough ? undefined : Math.max(1, secondsFor(missing, capacity))
    },
    charge(key, cost) {
      const at = monotonic()
      set(key, Math.max(-capacityOf(key), tokensAt(key, at) - cost), at)
    },
    set: (key, tokens) => set(key, Math.max(-capacityOf(key), Math.min(capacityOf(key), tokens)), monotonic()),
    levelOf(key) {
      const tokens = tokensAt(key, monotonic())
      const capacity = capacityOf(key)
      const fullIn = Math.max(0, secondsFor(capacity - tokens, capacity))
      return { tokens: Math.max(0, Math.floor(tokens + ROUNDING)), fullIn }
    },
  }
}
