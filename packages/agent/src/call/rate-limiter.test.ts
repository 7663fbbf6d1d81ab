import { describe, expect, it } from 'vitest'
import { createRateLimiter } from './rate-limiter.js'

describe('the rate limiter', () => {
  it('AIDIP-9-12 refuses what is too much, and lets the allowance fill up again', () => {
    let time = 0
    const limit = createRateLimiter({ calls: 2, seconds: 10 }, () => time)
    limit('ann')
    limit('ann')
    expect(() => limit('ann')).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfter: 5 }))
    limit('ben')
    time = 5000
    limit('ann')
    expect(() => limit('ann')).toThrow(/2 calls within 10 seconds/)
    time = 60_000
    limit('ann')
    limit('ann')
    expect(() => limit('ann')).toThrow()
  })
})
