import { describe, expect, it } from 'vitest'
import { CHOICE_RANGE, choiceFactor } from './choice-factor.js'

describe('choiceFactor', () => {
  it('is 1 without evidence, and if an agent is chosen every other time', () => {
    expect(choiceFactor([])).toBe(1)
    expect(choiceFactor([undefined, undefined])).toBe(1)
    expect(choiceFactor([{ shown: 40, chosen: 20 }])).toBe(1)
  })

  it('concludes nothing from fewer than five callers', () => {
    expect(choiceFactor([{ shown: 4.9, chosen: 4.9 }])).toBe(1)
    expect(choiceFactor([{ shown: 5, chosen: 5 }])).toBeGreaterThan(1)
  })

  it('never leaves its range, however often an agent is chosen or passed over', () => {
    const [best, worst] = [choiceFactor([{ shown: 1e9, chosen: 1e9 }]), choiceFactor([{ shown: 1e9, chosen: 0 }])]
    expect([best, worst]).toEqual([expect.closeTo(CHOICE_RANGE.most, 6), expect.closeTo(CHOICE_RANGE.least, 6)])
    expect(choiceFactor([{ shown: 20, chosen: 20 }])).toBeLessThan(best)
  })

  it('is weaker if only some of the terms of the query are known', () => {
    const known = { shown: 30, chosen: 30 }
    expect(choiceFactor([known, undefined, undefined])).toBeLessThan(choiceFactor([known, known, known]))
  })
})
