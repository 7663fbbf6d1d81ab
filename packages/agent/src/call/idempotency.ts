import { createHash } from 'node:crypto'
import { AgentError } from '../errors.js'
import { ExpiringMap } from '../expiring-map.js'

/** Milliseconds that the result of a key is stored (C-61). */
const RETENTION_MS = 86_400_000
/** Maximum number of keys; the oldest is evicted first, unless its call is in progress. */
const MAX_KEYS = 10_000
/** Characters of a result; a larger one is not stored, and its key can be used again. */
const MAX_RESULT = 262_144
/** Characters of all stored results. */
const MAX_SIZE = 64 * 1024 * 1024

interface Entry<T> {
  readonly fingerprint: string
  /** Undefined while the call is in progress. */
  readonly result?: T
  readonly size: number
}

/** Runs work once per idempotency key, and returns the stored result afterwards. Failed work can be retried. */
export type RunIdempotently<T> = (
  key: string,
  request: unknown,
  work: () => Promise<T>,
) => Promise<{ result: T; isReplay: boolean }>

export function createIdempotentRunner<T>(monotonic: () => number): RunIdempotently<T> {
  const entries = new ExpiringMap<Entry<T>>({
    monotonic,
    max: MAX_KEYS,
    isEvictable: ({ result }) => result !== undefined,
    sizeOf: ({ size }) => size,
    maxSize: MAX_SIZE,
  })
  return async (key, request, work) => {
    const fingerprint = createHash('sha256').update(JSON.stringify(request)).digest('base64')
    const known = entries.get(key)
    if (known && known.fingerprint !== fingerprint) {
      throw new AgentError(
        'idempotency_mismatch',
        'this Idempotency-Key was used for a different request: choose another',
      )
    }
    if (known?.result !== undefined) return { result: known.result, isReplay: true }
    if (known) {
      throw new AgentError('conflict', 'a call with this Idempotency-Key is in progress: try again later', {
        retryAfter: 1,
      })
    }
    if (!entries.set(key, { fingerprint, size: 0 }, RETENTION_MS)) {
      throw new AgentError('unavailable', 'too many calls with an Idempotency-Key are in progress: try again later', {
        retryAfter: 1,
      })
    }
    try {
      const result = await work()
      const size = JSON.stringify(result).length
      if (size <= MAX_RESULT) entries.set(key, { fingerprint, result, size }, RETENTION_MS)
      else entries.delete(key)
      return { result, isReplay: false }
    } catch (error) {
      entries.delete(key)
      throw error
    }
  }
}
