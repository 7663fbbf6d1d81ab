import { ClientError } from '../errors.js'
import type { Deadline } from './deadline.js'

/** How often and how fast to retry; tests inject the clock and the randomness. */
export interface RetryPolicy {
  /** Maximum number of retries after the first attempt. */
  readonly retries: number
  readonly sleep: (ms: number) => Promise<void>
  readonly random: () => number
  /** Milliseconds since 1970, to read dates in Retry-After. */
  readonly now: () => number
}

/** Two retries, with real time and randomness. */
export const DEFAULT_RETRY: RetryPolicy = {
  retries: 2,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: Math.random,
  now: Date.now,
}

/** Exponential backoff: the first delay and the longest one. */
const FIRST_DELAY_MS = 200
const MAX_DELAY_MS = 5000
/** With a longer Retry-After the call fails at once, so that the caller can decide what to do. */
const MAX_RETRY_AFTER_SECONDS = 30

/**
 * Sends a request and retries it when that is safe: the server rejected it and said when to come back (429 or 503 with
 * Retry-After), or it is repeatable and the error looks transient.
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  isRepeatable: boolean,
  deadline: Deadline,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt()
    } catch (error) {
      const ms = retryDelay(error, retries, isRepeatable, policy)
      if (ms === undefined) throw error
      await deadline.race(policy.sleep(ms))
    }
  }
}

/** Milliseconds until the next attempt; undefined if there should be none. */
function retryDelay(
  error: unknown,
  retriesSoFar: number,
  isRepeatable: boolean,
  { retries, random }: RetryPolicy,
): number | undefined {
  if (!(error instanceof ClientError) || retriesSoFar >= retries) return undefined
  const { status, retryAfter } = error
  if (retryAfter !== undefined && (status === 429 || status === 503)) {
    if (retryAfter > MAX_RETRY_AFTER_SECONDS) return undefined
    // Jitter, so that clients do not all return at once; never earlier than the server asked.
    return retryAfter * 1000 + random() * FIRST_DELAY_MS
  }
  if (!isRepeatable || !isTransient(error)) return undefined
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retriesSoFar) * (0.5 + random() / 2)
}

const isTransient = ({ code, status }: ClientError): boolean =>
  code === 'unreachable' || status === 429 || status === 502 || status === 503 || status === 504
