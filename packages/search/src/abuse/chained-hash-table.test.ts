import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HashChains } from './chained-hash-table.js'

describe('HashChains', () => {
  it('finds what is in it by key, after any changes', () => {
    const step = fc.record({ entry: fc.nat(40), key: fc.constantFrom(0, 1, 7, 1031, 0xffffffff), gone: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const chains = new HashChains()
        const keys = new Map<number, number>()
        for (const { entry, key, gone } of steps) {
          if (keys.delete(entry)) chains.remove(entry)
          if (gone) continue
          chains.add(entry, key)
          keys.set(entry, key)
        }
        for (const key of [0, 1, 7, 1031, 0xffffffff]) {
          const expected = [...keys].filter(([, other]) => other === key).map(([entry]) => entry)
          expect([...chains.find(key, 1000)].sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b))
        }
      }),
    )
  })

  it('grows, gives the latest first, and looks at no more than asked for', () => {
    const chains = new HashChains()
    for (let entry = 0; entry < 5000; entry++) chains.add(entry, entry % 3)
    expect([...chains.find(1, 4)]).toHaveLength(4)
    expect([...chains.find(2, 10_000)]).toHaveLength(1666)
    const small = new HashChains()
    for (const entry of [5, 6, 9]) small.add(entry, 3)
    expect([...small.find(3, 2)]).toEqual([9, 6])
  })
})
