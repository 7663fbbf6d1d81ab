import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Reputation, reputationFactor } from './reputation.js'

const UNKNOWN: Reputation = { calls: 0, failures: 0, latencyMs: undefined, ratings: 0, rating: undefined }
const known = (changes: Partial<Reputation>): number => reputationFactor({ ...UNKNOWN, ...changes })

describe('reputationFactor', () => {
  it('is 1 without evidence', () => {
    expect(reputationFactor(UNKNOWN)).toBe(1)
  })

  it('stays between 0.95 and 1.05 for any evidence', () => {
    const some = fc.double({ min: 0, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(
        some,
        fc.double({ min: 0, max: 1, noNaN: true }),
        some,
        some,
        fc.double({ min: 1, max: 5, noNaN: true }),
        (calls, share, latencyMs, ratings, rating) => {
          const factor = reputationFactor({ calls, failures: calls * share, latencyMs, ratings, rating })
          expect(factor).toBeGreaterThanOrEqual(0.95)
          expect(factor).toBeLessThanOrEqual(1.05)
        },
      ),
    )
  })

  it('prefers agents that succeed, respond fast and have good ratings', () => {
    expect(known({ calls: 100, failures: 0, latencyMs: 2000 })).toBeGreaterThan(1)
    expect(known({ calls: 100, failures: 60, latencyMs: 2000 })).toBeLessThan(1)
    expect(known({ calls: 100, latencyMs: 100 })).toBeGreaterThan(known({ calls: 100, latencyMs: 4000 }))
    expect(known({ ratings: 20, rating: 5 })).toBeGreaterThan(1)
    expect(known({ ratings: 20, rating: 1 })).toBeLessThan(1)
  })

  it('gives many calls and ratings more weight than few', () => {
    expect(known({ calls: 100, failures: 100 })).toBeLessThan(known({ calls: 1, failures: 1 }))
    expect(known({ ratings: 50, rating: 5 })).toBeGreaterThan(known({ ratings: 1, rating: 5 }))
  })
})
