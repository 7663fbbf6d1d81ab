import { ClientError } from '../errors.js'
import type { Deadline } from './deadline.js'

/** What waiting and luck are made of; given by tests. */
export interface RetryPolicy {
  /** How often a request is sent again at the most. */
  readonly retries: number
  /** Milliseconds. */
  readonly sleep: (ms: number) => Promise<void>
  readonly random: () => number
  /** Milliseconds since 1970, for dates in Retry-After. */
  readonly now: () => number
}

export const DEFAULT_RETRY: RetryPolicy = {
  retries: 2,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: Math.random,
  now: Date.now,
}

/** Milliseconds before the first repeat, and at the most between two. */
const FIRST_WAIT_MS = 200
const MAX_WAIT_MS = 5000
/** Whoever says "come back later than this" is not waited for: the caller knows better what to do meanwhile. */
const MAX_RETRY_AFTER_SECONDS = 30

/**
 * Sends a request, and again where that does no harm: the far side said that it did not take it and when to come back
 * (429, or 503 with Retry-After), or it is one that may run twice and the trouble looks passing.
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  isRepeatable: boolean,
  deadline: Deadline,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await attempt()
    } catch (error) {
      const ms = waitBefore(error, repeats, isRepeatable, policy)
      if (ms === undefined) throw error
      await deadline.race(policy.sleep(ms))
    }
  }
}

/** Milliseconds until the next try; undefined: there is none. */
function waitBefore(
  error: unknown,
  repeats: number,
  isRepeatable: boolean,
  { retries, random }: RetryPolicy,
): number | undefined {
  if (!(error instanceof ClientError) || repeats >= retries) return undefined
  const { status, retryAfter } = error
  if (retryAfter !== undefined && (status === 429 || status === 503)) {
    if (retryAfter > MAX_RETRY_AFTER_SECONDS) return undefined
    // Not all at the same moment, and never before the time that was named.
    return retryAfter * 1000 + random() * FIRST_WAIT_MS
  }
  if (!isRepeatable || !isPassing(error)) return undefined
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** repeats) * (0.5 + random() / 2)
}

const isPassing = ({ code, status }: ClientError): boolean =>
  code === 'unreachable' || status === 429 || status === 502 || status === 503 || status === 504
