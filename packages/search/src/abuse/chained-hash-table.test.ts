import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChainedHashTable } from './chained-hash-table.js'

describe('ChainedHashTable', () => {
  it('finds the entries of a key after any sequence of changes', () => {
    const step = fc.record({
      entry: fc.nat(40),
      key: fc.constantFrom(0, 1, 7, 1031, 0xffffffff),
      removed: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = new ChainedHashTable()
        const keys = new Map<number, number>()
        for (const { entry, key, removed } of steps) {
          if (keys.delete(entry)) table.remove(entry)
          if (removed) continue
          table.add(entry, key)
          keys.set(entry, key)
        }
        for (const key of [0, 1, 7, 1031, 0xffffffff]) {
          const expected = [...keys].filter(([, other]) => other === key).map(([entry]) => entry)
          expect([...table.find(key, 1000)].sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b))
        }
      }),
    )
  })

  it('grows, returns the latest entries first, and stops at the visit limit', () => {
    const table = new ChainedHashTable()
    for (let entry = 0; entry < 5000; entry++) table.add(entry, entry % 3)
    expect([...table.find(1, 4)]).toHaveLength(4)
    expect([...table.find(2, 10_000)]).toHaveLength(1666)
    const small = new ChainedHashTable()
    for (const entry of [5, 6, 9]) small.add(entry, 3)
    expect([...small.find(3, 2)]).toEqual([9, 6])
  })
})
