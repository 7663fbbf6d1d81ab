import { describe, expect, it } from 'vitest'
import { BUCKET_CAPACITY, BUCKET_REFILL_SECONDS, TOKEN_BUCKET_VECTORS } from '../../test-vectors/call/token-buckets.js'
import { createTokenBuckets } from './token-buckets.js'

const options = { capacity: BUCKET_CAPACITY, refillMs: BUCKET_REFILL_SECONDS * 1000, maxKeys: 2 }

describe('createTokenBuckets', () => {
  it('grants tokens while there are any, and otherwise returns how long to wait', () => {
    let time = 0
    const { take } = createTokenBuckets({ ...options, monotonic: () => time })
    for (const [seconds, key, wait] of TOKEN_BUCKET_VECTORS) {
      time = seconds * 1000
      expect(take(key), `${key} at ${seconds} s`).toBe(wait)
    }
  })

  it('takes several tokens at once, at most a full bucket', () => {
    const { take } = createTokenBuckets({ ...options, monotonic: () => 0 })
    expect(take('ann', 100)).toBeUndefined()
    expect([take('ann', 1), take('ann', 2), take('ann', 100)]).toEqual([30, 60, 60])
  })

  it('evicts the least recently used key', () => {
    const { take } = createTokenBuckets({ ...options, monotonic: () => 0 })
    for (const key of ['ann', 'ben', 'ann']) take(key)
    take('cy')
    // Ben's bucket was dropped, so it is full again; dropping Ann's would have filled hers.
    expect(take('ann')).toBe(30)
    expect([take('ben'), take('ben'), take('ben')]).toEqual([undefined, undefined, 30])
  })
  it('charges work afterwards, up to one bucket of debt', () => {
    let time = 0
    const { take, charge, levelOf } = createTokenBuckets({ ...options, monotonic: () => time })
    expect(levelOf('ann')).toEqual({ tokens: 2, fullIn: 0 })
    expect(take('ann')).toBeUndefined()
    expect(levelOf('ann')).toEqual({ tokens: 1, fullIn: 30 })
    charge('ann', 100)
    expect(levelOf('ann')).toEqual({ tokens: 0, fullIn: 120 })
    expect(take('ann')).toBe(90)
    time = 90_000
    expect(levelOf('ann')).toEqual({ tokens: 1, fullIn: 30 })
    expect([take('ann'), take('ann')]).toEqual([undefined, 30])
  })
})
