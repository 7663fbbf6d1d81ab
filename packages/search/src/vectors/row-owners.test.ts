import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RowOwners } from './row-owners.js'

const change = fc.record({ number: fc.integer({ min: 0, max: 12 }), parts: fc.integer({ min: 0, max: 5 }) })

describe('RowOwners', () => {
  it('keeps rows contiguous and reports every move in any sequence of changes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const owners = new RowOwners()
        const model = new Map<number, number>()
        const contents: string[] = [] // of the rows, as in a row store
        for (const { number, parts } of changes) {
          owners.remove(number, (from, to) => {
            contents[to] = contents[from] ?? ''
          })
          for (let part = 0; part < parts; part++) contents[owners.add(number, part)] = `${number}/${part}`
          model.set(number, parts)
        }
        const expected = [...model].flatMap(([number, parts]) =>
          Array.from({ length: parts }, (_, i) => `${number}/${i}`),
        )
        expect(owners.size).toBe(expected.length)
        expect(contents.slice(0, owners.size).sort()).toEqual(expected.sort())
        for (let row = 0; row < owners.size; row++) {
          expect(contents[row]).toBe(`${owners.numberOf(row)}/${owners.partOf(row)}`)
          expect(owners.rowsOf(owners.numberOf(row))).toContain(row)
        }
      }),
    )
  })

  it('grows beyond its initial capacity', () => {
    const owners = new RowOwners()
    for (let i = 0; i < 5000; i++) expect(owners.add(2 ** 40 + i, 7)).toBe(i)
    expect(owners.numberOf(4999)).toBe(2 ** 40 + 4999)
    expect(owners.rowsOf(2 ** 40 + 2000)).toEqual([2000])
  })
})
