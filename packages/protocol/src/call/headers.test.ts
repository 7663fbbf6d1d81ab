import { describe, expect, it } from 'vitest'
import { IDEMPOTENCY_KEY_VECTORS, PREFER_VECTORS } from '../../test-vectors/call/headers.js'
import { readIdempotencyKey } from './idempotency-key.js'
import { prefersAsync } from './prefer.js'

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
