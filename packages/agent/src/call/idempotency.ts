import { createHash } from 'node:crypto'
import { AgentError } from '../errors.js'
import { ExpiringMap } from '../expiring-map.js'

/** Milliseconds that an answer is kept for its key (C-61). */
const KEPT_MS = 86_400_000
/** Keys at once; the oldest is forgotten first, unless its call is under way. */
const MAX_KEYS = 10_000
/** Characters of an answer; a larger one is not kept, and its key is good for another call. */
const MAX_ANSWER = 262_144
/** Characters of all answers together. */
const MAX_SIZE = 64 * 1024 * 1024

interface Entry<T> {
  readonly fingerprint: string
  /** Undefined while the call is under way. */
  readonly answer?: T
  readonly size: number
}

/** Does work once for its key, however often it is asked for; a call that fails may be made again with the same key. */
export type Once<T> = (
  key: string,
  request: unknown,
  work: () => Promise<T>,
) => Promise<{ answer: T; isReplay: boolean }>

export function createOnce<T>(now: () => number): Once<T> {
  const entries = new ExpiringMap<Entry<T>>({
    now,
    max: MAX_KEYS,
    mayGo: ({ answer }) => answer !== undefined,
    sizeOf: ({ size }) => size,
    maxSize: MAX_SIZE,
  })
  return async (key, request, work) => {
    const fingerprint = createHash('sha256').update(JSON.stringify(request)).digest('base64')
    const known = entries.get(key)
    if (known && known.fingerprint !== fingerprint) {
      throw new AgentError('idempotency_mismatch', 'this Idempotency-Key was used for another request')
    }
    if (known?.answer !== undefined) return { answer: known.answer, isReplay: true }
    if (known) {
      throw new AgentError('conflict', 'a call with this Idempotency-Key is under way: ask again', { retryAfter: 1 })
    }
    if (!entries.set(key, { fingerprint, size: 0 }, KEPT_MS)) {
      throw new AgentError('unavailable', 'too many calls with an Idempotency-Key are under way', { retryAfter: 1 })
    }
    try {
      const answer = await work()
      const size = JSON.stringify(answer).length
      if (size <= MAX_ANSWER) entries.set(key, { fingerprint, answer, size }, KEPT_MS)
      else entries.delete(key)
      return { answer, isReplay: false }
    } catch (error) {
      entries.delete(key)
      throw error
    }
  }
}
