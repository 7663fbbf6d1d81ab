import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TopK } from './top-k.js'

describe('TopK', () => {
  const top = new TopK()

  it('equals sorting everything and truncating, even with many equal scores, each time it is reused', () => {
    const scored = fc.array(fc.record({ score: fc.nat(9), order: fc.nat(9) }), { maxLength: 400, size: 'max' })
    fc.assert(
      fc.property(scored, fc.nat(60), (all, k) => {
        top.reset(k, (a, b) => (all[a]?.order ?? 0) - (all[b]?.order ?? 0))
        for (const [item, { score }] of all.entries()) {
          if (score >= top.threshold) top.add(item, score)
        }
        const sorted = all.toSorted((a, b) => b.score - a.score || a.order - b.order).slice(0, k)
        expect(top.sorted().map((item) => all[item])).toEqual(sorted)
      }),
    )
  })

  it('breaks ties in the given direction', () => {
    const sorted = (direction: number): number[] => {
      top.reset(2, (a, b) => direction * (a - b))
      for (const item of [1, 0, 2]) top.add(item, 7)
      return top.sorted()
    }
    expect([sorted(1), sorted(-1)]).toEqual([
      [0, 1],
      [2, 1],
    ])
  })
})
