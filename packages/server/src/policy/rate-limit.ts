import { createTokenBuckets, DirectoryError, type TokenBucketOptions, type TokenBuckets } from '@switchboard/protocol'

/** Actions with a limit of their own, in requests per minute and client (CONTRACT: `rateLimits`). */
export type LimitedAction = 'search' | 'register' | 'lookup' | 'invoke'

/** Clients tracked for each action; the least recently seen are dropped first. */
const MAX_CLIENTS = 50_000
/** Seconds in which an empty bucket fills up. */
const WINDOW_SECONDS = 60

/** What a client may still do, for the `RateLimit` headers. */
export interface Quota {
  /** Ordinary requests in a window. */
  readonly limit: number
  readonly windowSeconds: number
  /** Ordinary requests that are left now. */
  readonly remaining: number
  /** Seconds until the whole limit is available again. */
  readonly resetSeconds: number
}

export interface RateLimits {
  /**
   * Counts requests against the client's limit, or throws `rate_limited`. More requests than the limit count as the limit.
   * Returns a promise, which may be rejected, only if other replicas have to be asked.
   */
  spend(action: LimitedAction, client: string, requests?: number): Promise<void> | undefined
  /** Counts work that turned out to cost more than one request. It is done already, so the client's next requests pay for it. */
  charge(action: LimitedAction, client: string, requests: number): void
  quotaOf(action: LimitedAction, client: string): Quota
}

/** A client's own limit of an action, in requests per minute; undefined: that of the config applies. */
export type OwnRate = (action: LimitedAction, client: string) => number | undefined

/** Token buckets that replicas may share: whether there are enough tokens may be known only later. */
export interface Buckets extends Pick<TokenBuckets, 'charge' | 'levelOf'> {
  take(key: string, cost?: number): ReturnType<TokenBuckets['take']> | Promise<ReturnType<TokenBuckets['take']>>
}

export type CreateBuckets = (name: string, options: TokenBucketOptions) => Buckets

export interface RateLimitOptions {
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: () => number
  readonly ownRate?: OwnRate
  readonly createBuckets?: CreateBuckets
  /** Called for every request that is refused. */
  readonly onRefused?: (action: LimitedAction, client: string) => void
}

/** A token bucket for each client and action, which holds the requests of a minute. */
export function createRateLimits(
  perMinute: Readonly<Record<LimitedAction, number>>,
  {
    monotonic,
    ownRate = () => undefined,
    createBuckets = (_name, options) => createTokenBuckets(options),
    onRefused,
  }: RateLimitOptions,
): RateLimits {
  const rateOf: (action: LimitedAction, client: string) => number = (action, client) =>
    ownRate(action, client) ?? perMinute[action]
  const bucketsFor = (action: LimitedAction): Buckets =>
    createBuckets(action, {
      capacity: (client) => rateOf(action, client),
      refillMs: WINDOW_SECONDS * 1000,
      maxKeys: MAX_CLIENTS,
      monotonic,
    })
  const buckets: Readonly<Record<LimitedAction, Buckets>> = {
    search: bucketsFor('search'),
    register: bucketsFor('register'),
    lookup: bucketsFor('lookup'),
    invoke: bucketsFor('invoke'),
  }
  const assertGranted = (action: LimitedAction, client: string, retryAfter: number | undefined): void => {
    if (retryAfter === undefined) return
    onRefused?.(action, client)
    throw new DirectoryError(
      'rate_limited',
      `the limit of ${rateOf(action, client)} ${action} requests per minute is exceeded: try again in ${retryAfter} s`,
      { retryAfter },
    )
  }
  return {
    spend(action, client, requests = 1) {
      const taken = buckets[action].take(client, requests)
      if (taken instanceof Promise) return taken.then((retryAfter) => assertGranted(action, client, retryAfter))
      assertGranted(action, client, taken)
      return undefined
    },
    charge: (action, client, requests) => buckets[action].charge(client, requests),
    quotaOf(action, client) {
      const { tokens, fullIn } = buckets[action].levelOf(client)
      return { limit: rateOf(action, client), windowSeconds: WINDOW_SECONDS, remaining: tokens, resetSeconds: fullIn }
    },
  }
}

/** What a request took, as far as it can be much more than usual. */
export interface Work {
  /** Agents that were checked one by one. */
  readonly agents: number
  /** Bytes of the response. */
  readonly bytes: number
}

/** Agents that can be checked in one to two milliseconds: a few times the work of an ordinary request. */
const AGENTS_PER_REQUEST = 2000
/** Bytes of a response that count as one request. */
const BYTES_PER_REQUEST = 1024 * 1024

/** As how many further requests the work counts, besides the request itself. */
export const extraRequests = ({ agents, bytes }: Work): number =>
  Math.floor(agents / AGENTS_PER_REQUEST) + Math.floor(bytes / BYTES_PER_REQUEST)
