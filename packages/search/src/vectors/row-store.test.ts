import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signBits } from './quantise.js'
import { createRowStore } from './row-store.js'

const DIMENSIONS = 128
/** Several blocks, the last one partly filled. */
const ROWS = 9001

const random = (seed: number) => (i: number) => (Math.sin(i * 12.9898 + seed * 78.233) * 43758.5453) % 1
const codesOf = (seed: number): Int8Array => Int8Array.from({ length: DIMENSIONS }, (_, i) => random(seed)(i) * 127)
const ones = (byte: number): number => byte.toString(2).replaceAll('0', '').length

describe('RowStore', () => {
  const store = createRowStore(DIMENSIONS)
  store.reserve(ROWS)
  const bits = Array.from({ length: ROWS }, (_, row) => {
    // Every tenth row is a duplicate of another, so that there are many ties.
    const codes = codesOf(row % 10 === 0 ? row % 700 : row)
    store.write(row, codes)
    return signBits(codes)
  })

  it('finds the nearest rows by Hamming distance, with all ties of the last one', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 1, max: ROWS }),
        fc.integer({ min: 1, max: ROWS }),
        (seed, wanted, rows) => {
          const query = Float32Array.from({ length: DIMENSIONS }, (_, i) => random(seed % 1e6)(i))
          const queryBits = signBits(Int8Array.from(query, (value) => Math.sign(value)))
          const distances = bits
            .slice(0, rows)
            .map((row) => row.reduce((sum, byte, i) => sum + ones(byte ^ (queryBits[i] ?? 0)), 0))
          const radius = distances.toSorted((a, b) => a - b)[Math.min(wanted, rows) - 1] ?? 0
          const expected = [...distances.keys()].filter((row) => (distances[row] ?? 0) <= radius)
          store.setQuery(query)
          expect([...store.scanSigns(rows)(wanted)]).toEqual(expected)
        },
      ),
      { numRuns: 30 },
    )
  })
})
