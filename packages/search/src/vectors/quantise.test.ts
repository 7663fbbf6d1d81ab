import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quantise, quantiseQuery, signBits, unitScale } from './quantise.js'

const vector = fc
  .float32Array({ minLength: 128, maxLength: 128, noNaN: true, min: -1, max: 1 })
  .filter((values) => values.some((value) => Math.abs(value) > 0.001))

const cosine = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>) =>
    Array.from(x, (v, i) => v * (y[i] ?? 0)).reduce((s, v) => s + v)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

describe('quantise', () => {
  it('preserves the direction of a vector, and that of a query more precisely', () => {
    fc.assert(
      fc.property(vector, (values) => {
        expect(cosine(quantise(values), values)).toBeGreaterThan(0.999)
        expect(cosine(quantiseQuery(values), values)).toBeGreaterThan(0.999999)
      }),
    )
  })

  it('negates the codes of a negated vector', () => {
    expect([...quantise(Float32Array.of(1, -1, 0.25, -0.25))]).toEqual([127, -127, 32, -32])
  })

  it('gives zero codes for a vector without a direction', () => {
    for (const value of [0, Number.NaN, Number.POSITIVE_INFINITY]) {
      const codes = quantise(new Float32Array(128).fill(value))
      expect(codes.every((code) => code === 0)).toBe(true)
      expect(unitScale(codes)).toBe(0)
    }
  })

  it('never overflows 32 bits in a dot product', () => {
    for (const dimensions of [128, 512, 4096]) {
      const largest = quantiseQuery(new Float32Array(dimensions).fill(1))[0] ?? 0
      expect(largest).toBeGreaterThan(1000)
      expect(largest * 127 * dimensions).toBeLessThan(2 ** 31)
    }
  })
})

describe('signBits', () => {
  it('sets a bit for each positive code', () => {
    expect([...signBits(Int8Array.of(1, -1, 0, 127, -128, 0, 0, 5, 0, 3, 0, 0, 0, 0, 0, 0))]).toEqual([
      0b10001001, 0b10,
    ])
    expect([...signBits(Int16Array.of(-1, 32767, -32768, 0, 0, 0, 1, 0))]).toEqual([0b01000010])
  })
})
