import { describe, expect, it } from 'vitest'
import {
  BUCKET_CAPACITY,
  BUCKET_REFILL_SECONDS,
  TOKEN_BUCKET_VECTORS,
} from '../../../protocol/test-vectors/call/token-buckets.js'
import { AgentError } from '../errors.js'
import { createRateLimiter } from './rate-limiter.js'

describe('the rate limiter', () => {
  it('AIDIP-9-12 says when the client may call again', () => {
    let time = 0
    const limit = createRateLimiter({ calls: BUCKET_CAPACITY, seconds: BUCKET_REFILL_SECONDS }, () => time)
    const waitOf = (client: string): number | undefined => {
      try {
        limit(client)
        return undefined
      } catch (error) {
        return error instanceof AgentError ? error.retryAfter : Number.NaN
      }
    }
    for (const [seconds, client, wait] of TOKEN_BUCKET_VECTORS) {
      time = seconds * 1000
      expect(waitOf(client), `${client} at ${seconds} s`).toBe(wait)
    }
  })

  it('AIDIP-9-12 rejects calls beyond the limit, and refills the allowance', () => {
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
