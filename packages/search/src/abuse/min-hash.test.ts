import { describe, expect, it } from 'vitest'
import { likenessOf, mix, sketch } from './min-hash.js'

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => mix(from + i + 1))
const equalBytes = (a: Uint8Array, b: Uint8Array): number => a.filter((byte, i) => byte === b[i]).length
const estimate = (a: number[], b: number[]): number => likenessOf(equalBytes(sketch(a).signature, sketch(b).signature))

describe('sketch', () => {
  it('gives equal sets the same signature and the same bands, whatever their order', () => {
    const set = range(0, 50)
    expect(sketch([...set].reverse())).toEqual(sketch(set))
  })

  it.each([0, 0.25, 0.5, 0.8, 0.95])('shows a likeness of %d', (likeness) => {
    const common = Math.round((400 * likeness) / (1 + likeness))
    const errors = Array.from({ length: 100 }, (_, round) => {
      const from = round * 1000
      return estimate(range(from, from + 200), range(from + 200 - common, from + 400 - common)) - likeness
    })
    expect(Math.abs(errors.reduce((sum, error) => sum + error, 0) / errors.length)).toBeLessThan(0.02)
    expect(Math.max(...errors.map(Math.abs))).toBeLessThan(0.2)
  })
})
