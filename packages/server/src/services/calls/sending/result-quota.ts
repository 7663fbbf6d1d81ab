import type { CreateBuckets } from '../../../policy/rate-limit.js'

/** Milliseconds for which the result of an idempotent call is stored (C-61). */
export const STORED_MS = 86_400_000

/** Callers tracked; the least recently seen are dropped first. */
const MAX_CALLERS = 50_000

/** Limits the bytes of results that are stored for the Idempotency-Keys of each caller. */
export interface ResultQuota {
  /** Bytes for each caller within the time that results are stored. */
  readonly maxBytes: number
  /** Takes bytes from the caller's quota; false if they are more than is left. */
  take(client: string, bytes: number): Promise<boolean>
}

/**
 * The quota refills as results expire, so that at no time more than twice the quota is stored: a sum over the stored results
 * would cost more than storing one.
 */
export function createResultQuota(
  maxBytes: number,
  monotonic: () => number,
  createBuckets: CreateBuckets,
): ResultQuota {
  const options = { capacity: maxBytes, refillMs: STORED_MS, maxKeys: MAX_CALLERS, monotonic }
  const buckets = createBuckets('stored results', options)
  return {
    maxBytes,
    // A cost above the capacity would be accepted once.
    take: async (client, bytes) => bytes <= maxBytes && (await buckets.take(client, bytes)) === undefined,
  }
}
