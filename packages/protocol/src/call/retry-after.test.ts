import { describe, expect, it } from 'vitest'
import { RETRY_AFTER_NOW, RETRY_AFTER_VECTORS } from '../../test-vectors/call/retry-after.js'
import { readRetryAfter } from './retry-after.js'

describe('readRetryAfter', () => {
  it.each(RETRY_AFTER_VECTORS)('reads "%s" as %s', (header, seconds) => {
    expect(readRetryAfter(header, () => RETRY_AFTER_NOW)).toBe(seconds)
  })

  it('is undefined without a header', () => {
    expect([readRetryAfter(null, Date.now), readRetryAfter(undefined, Date.now)]).toEqual([undefined, undefined])
  })
})
