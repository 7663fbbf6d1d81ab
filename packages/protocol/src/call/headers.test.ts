import { describe, expect, it } from 'vitest'
import { CHANGED_AT, CONDITIONAL_REQUEST_VECTORS, CURRENT_TAG } from '../../test-vectors/call/conditional-request.js'
import { IDEMPOTENCY_KEY_VECTORS, PREFER_VECTORS } from '../../test-vectors/call/headers.js'
import { NOT_REQUEST_IDS, REQUEST_IDS } from '../../test-vectors/call/request-id.js'
import { RETRY_AFTER_NOW, RETRY_AFTER_VECTORS } from '../../test-vectors/call/retry-after.js'
import { isNotModified, prefersAsync, readIdempotencyKey, readRetryAfter, toRequestId } from './headers.js'

describe('prefersAsync', () => {
  it.each(PREFER_VECTORS)('C-62 Prefer: %s: %s', (prefer, isAsync) => {
    expect(prefersAsync(prefer)).toBe(isAsync)
  })

  it('is false without the header', () => {
    expect([prefersAsync(null), prefersAsync(undefined)]).toEqual([false, false])
  })
})

describe('readIdempotencyKey', () => {
  it.each(IDEMPOTENCY_KEY_VECTORS)('C-61 Idempotency-Key: %s: %s', (key, isValid) => {
    if (isValid) expect(readIdempotencyKey(key)).toBe(key)
    else expect(() => readIdempotencyKey(key)).toThrow('Idempotency-Key must be 1 to 255 visible ASCII characters')
  })

  it('is undefined without the header, and never empty', () => {
    expect([readIdempotencyKey(null), readIdempotencyKey(undefined)]).toEqual([undefined, undefined])
    expect(() => readIdempotencyKey('')).toThrow('Idempotency-Key')
  })
})

describe('toRequestId', () => {
  it.each(REQUEST_IDS)('C-74 keeps %s', (id) => {
    expect(toRequestId(id)).toBe(id)
  })

  it.each(NOT_REQUEST_IDS)('C-74 replaces "%s"', (id) => {
    expect(toRequestId(id, () => 'new')).toBe('new')
  })

  it('C-74 creates a new id each time for anything that is not a string', () => {
    const ids = [undefined, null, 7, ['a'], {}].map((value) => toRequestId(value))
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('readRetryAfter', () => {
  it.each(RETRY_AFTER_VECTORS)('reads "%s" as %s', (header, seconds) => {
    expect(readRetryAfter(header, () => RETRY_AFTER_NOW)).toBe(seconds)
  })

  it('is undefined without a header', () => {
    expect([readRetryAfter(null, Date.now), readRetryAfter(undefined, Date.now)]).toEqual([undefined, undefined])
  })
})

describe('isNotModified', () => {
  it.each(CONDITIONAL_REQUEST_VECTORS)('$ifNoneMatch, $ifModifiedSince: $isNotModified', (vector) => {
    const { ifNoneMatch, ifModifiedSince } = vector
    const current = { tag: CURRENT_TAG, changedAt: CHANGED_AT }
    expect(isNotModified({ ifNoneMatch, ifModifiedSince }, current)).toBe(vector.isNotModified)
    // Caches may have weakened our own ETag too.
    const weakened = { ...current, tag: `W/${CURRENT_TAG}` }
    expect(isNotModified({ ifNoneMatch, ifModifiedSince }, weakened)).toBe(vector.isNotModified)
  })
})
