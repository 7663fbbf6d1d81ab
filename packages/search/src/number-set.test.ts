import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NumberSet } from './number-set.js'

const numbers = fc.uniqueArray(fc.oneof(fc.nat(70), fc.nat(3000)), { maxLength: 60 })
const inOrder = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b)

describe('NumberSet', () => {
  it('has what was added and not deleted, in order in both directions', () => {
    fc.assert(
      fc.property(numbers, numbers, fc.nat(70), (added, deleted, skip) => {
        const set = new NumberSet(added)
        for (const number of deleted) set.delete(number)
        const expected = inOrder(added.filter((number) => !deleted.includes(number)))
        expect(set.size).toBe(expected.length)
        expect([...set]).toEqual(expected)
        expect([...set.ascending(skip)]).toEqual(expected.slice(skip))
        expect([...set.descending(skip)]).toEqual(expected.toReversed().slice(skip))
        for (const number of [...added, ...deleted, 10_000]) expect(set.has(number)).toBe(expected.includes(number))
      }),
    )
  })

  it('is united, intersected and subtracted like other sets, and leaves the other and copies as they are', () => {
    const ways = {
      unite: (a: Set<number>, b: Set<number>) => [...a, ...b],
      intersect: (a: Set<number>, b: Set<number>) => [...a].filter((number) => b.has(number)),
      subtract: (a: Set<number>, b: Set<number>) => [...a].filter((number) => !b.has(number)),
    }
    const way = fc.constantFrom('unite' as const, 'intersect' as const, 'subtract' as const)
    fc.assert(
      fc.property(numbers, numbers, way, (some, others, way) => {
        const [set, other] = [new NumberSet(some), new NumberSet(others)]
        const copy = set.copy()
        set[way](other)
        const expected = inOrder(new Set(ways[way](new Set(some), new Set(others))))
        expect([[...set], set.size]).toEqual([expected, expected.length])
        expect([[...other], [...copy]]).toEqual([inOrder(others), inOrder(some)])
      }),
    )
  })

  it('is the same made of a few numbers', () => {
    fc.assert(
      fc.property(numbers, numbers, fc.nat(70), (some, others, skip) => {
        const expected = inOrder(some)
        const few = () => NumberSet.ofFew(expected)
        expect([[...few()], few().size]).toEqual([expected, expected.length])
        expect([...few().ascending(skip)]).toEqual(expected.slice(skip))
        expect([...few().descending(skip)]).toEqual(expected.toReversed().slice(skip))
        expect(few().bits).toEqual(few().copy().bits)
        for (const number of [...some, ...others]) expect(few().has(number)).toBe(some.includes(number))
        const set = few()
        for (const number of others) set.add(number)
        expect([...set]).toEqual(inOrder(new Set([...some, ...others])))
        const rest = few()
        for (const number of rest) if (others.includes(number)) rest.delete(number)
        expect([[...rest], rest.size]).toEqual([
          expected.filter((number) => !others.includes(number)),
          expected.filter((number) => !others.includes(number)).length,
        ])
        const both = new NumberSet(others)
        both.intersect(few())
        expect([...both]).toEqual(inOrder(others.filter((number) => some.includes(number))))
      }),
    )
  })
})
