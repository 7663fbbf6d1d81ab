import { describe, expect, it } from 'vitest'
import { estimateSimilarity, minHash, mix32 } from './min-hash.js'

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => mix32(from + i + 1))
const equalBytes = (a: Uint8Array, b: Uint8Array): number => a.filter((byte, i) => byte === b[i]).length
const estimate = (a: number[], b: number[]): number =>
  estimateSimilarity(equalBytes(minHash(a).signature, minHash(b).signature))

describe('minHash', () => {
  it('gives equal sets the same signature and bands, in any order', () => {
    const set = range(0, 50)
    expect(minHash([...set].reverse())).toEqual(minHash(set))
  })

  it.each([0, 0.25, 0.5, 0.8, 0.95])('estimates a similarity of %d', (similarity) => {
    const common = Math.round((400 * similarity) / (1 + similarity))
    const errors = Array.from({ length: 100 }, (_, round) => {
      const from = round * 1000
      return estimate(range(from, from + 200), range(from + 200 - common, from + 400 - common)) - similarity
    })
    expect(Math.abs(errors.reduce((sum, error) => sum + error, 0) / errors.length)).toBeLessThan(0.02)
    expect(Math.max(...errors.map(Math.abs))).toBeLessThan(0.2)
  })
})
