import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BestScores } from './best-scores.js'

describe('BestScores', () => {
  it('keeps what sorting all would put first, and says what it does not want', () => {
    const best = new BestScores()
    const scored = fc.array(fc.record({ score: fc.nat(9), order: fc.nat(9) }), { maxLength: 60 })
    fc.assert(
      fc.property(scored, fc.nat(20), (all, limit) => {
        best.begin(
          limit,
          Float64Array.from(all, ({ order }) => order),
        )
        for (const [item, { score }] of all.entries()) {
          if (score < best.floor) continue
          best.add(item, score)
        }
        const sorted = all.toSorted((a, b) => b.score - a.score || a.order - b.order).slice(0, limit)
        expect(best.take().map((item) => all[item])).toEqual(sorted)
      }),
    )
  })
})
