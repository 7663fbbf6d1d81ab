import { DirectoryError } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { BUCKET_CAPACITY, TOKEN_BUCKET_VECTORS } from '../../../protocol/test-vectors/call/token-buckets.js'
import { createRateLimits, type LimitedAction, type RateLimits } from './rate-limit.js'

const limitsOf = (monotonic: () => number): RateLimits =>
  createRateLimits({ search: BUCKET_CAPACITY, register: BUCKET_CAPACITY, lookup: 1, invoke: 100 }, { monotonic })

const waitOf = (limits: RateLimits, action: LimitedAction, client: string): number | undefined => {
  try {
    limits.spend(action, client)
    return undefined
  } catch (error) {
    return error instanceof DirectoryError ? error.retryAfter : Number.NaN
  }
}

describe('createRateLimits', () => {
  it('AIDIP-9-12 returns how long the client has to wait', () => {
    let time = 0
    const limits = limitsOf(() => time)
    for (const [seconds, client, wait] of TOKEN_BUCKET_VECTORS) {
      time = seconds * 1000
      expect(waitOf(limits, 'search', client), `${client} at ${seconds} s`).toBe(wait)
    }
  })

  it('counts each action separately', () => {
    const limits = limitsOf(() => 0)
    expect([waitOf(limits, 'lookup', 'ann'), waitOf(limits, 'lookup', 'ann')]).toEqual([undefined, 60])
    expect([waitOf(limits, 'search', 'ann'), waitOf(limits, 'register', 'ann')]).toEqual([undefined, undefined])
  })
})
