import { describe, expect, it } from 'vitest'
import { fuseRanks } from './rank-fusion.js'

describe('rank fusion', () => {
  it('gives 1 to what is first everywhere, and joins what several lists contain', () => {
    const scores = fuseRanks([
      { weight: 1, ids: ['a', 'b', 'c'] },
      { weight: 1, ids: ['a', 'c'] },
    ])
    expect(scores.get('a')).toBe(1)
    expect([...scores].sort(([, x], [, y]) => y - x).map(([id]) => id)).toEqual(['a', 'c', 'b'])
  })

  it('counts a list with a lower weight less', () => {
    const scores = fuseRanks([
      { weight: 1, ids: ['a', 'b'] },
      { weight: 0.5, ids: ['c'] },
    ])
    expect(scores.get('c')).toBeLessThan(scores.get('b') ?? 0)
    expect(scores.get('a')).toBeLessThan(1)
  })
})
