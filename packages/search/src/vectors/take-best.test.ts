import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { takeBest } from './take-best.js'

describe('takeBest', () => {
  it('is sorting all and cutting off, also where many are equal', () => {
    const few = fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 2000, size: 'max' })
    fc.assert(
      fc.property(few, fc.integer({ min: 0, max: 300 }), fc.boolean(), (values, limit, backwards) => {
        const compareEqual = (a: number, b: number) => (backwards ? b - a : a - b)
        const scores = Float32Array.from(values)
        const sorted = [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || compareEqual(a, b))
        expect(takeBest(scores, limit, compareEqual)).toEqual(sorted.slice(0, limit))
      }),
    )
  })

  it('takes all if the limit has no end', () => {
    expect(takeBest(Float32Array.of(1, 3, 2), Number.POSITIVE_INFINITY, () => 0)).toEqual([1, 2, 0])
  })
})
