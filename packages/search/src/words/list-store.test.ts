import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ListStore } from './list-store.js'

describe('ListStore', () => {
  it('keeps every list sorted through any sequence of inserts and removals', () => {
    const change = fc.record({ list: fc.nat(400), value: fc.nat(1000), isRemoved: fc.boolean() })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 300 }), (changes) => {
        const store = new ListStore()
        const lists = new Map<number, number[]>()
        for (const { list, value, isRemoved } of changes) {
          const values = lists.get(list) ?? []
          const position = store.lowerBound(list, value)
          expect(position).toBe(values.filter((other) => other < value).length)
          if (isRemoved && store.at(list, position) === value) {
            store.removeAt(list, position)
            values.splice(position, 1)
          } else {
            store.insert(list, value)
            values.push(value)
          }
          lists.set(
            list,
            values.sort((a, b) => a - b),
          )
        }
        for (const [list, values] of lists) expect([...store.view(list)]).toEqual(values)
      }),
    )
  })

  it('reuses the memory of replaced and cleared lists', () => {
    const store = new ListStore()
    const values = Uint32Array.from({ length: 1000 }, (_, i) => i)
    store.set(1, values)
    const { bytes } = store
    for (let round = 0; round < 1000; round++) {
      store.set(1, values)
      store.clear(1)
      store.set(2, values.subarray(0, 900))
      store.clear(2)
    }
    expect(store.length(1)).toBe(0)
    expect(store.at(1, 0)).toBeUndefined()
    expect(store.bytes).toBe(bytes)
  })

  it('grows a list beyond the segment size and frees the memory when it is cleared', () => {
    const store = new ListStore()
    store.insert(1, 7)
    const { bytes } = store
    for (let value = 0; value < 200_000; value++) store.insert(0, value)
    expect(store.view(0).every((value, position) => value === position)).toBe(true)
    expect([...store.view(1)]).toEqual([7])
    store.clear(0)
    // The segments of the smaller blocks that it outgrew remain.
    expect(store.bytes - bytes).toBeLessThan(2 ** 20)
  })
})
