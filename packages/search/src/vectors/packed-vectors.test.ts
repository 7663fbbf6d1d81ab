import { describe, expect, it } from 'vitest'
import { packVectors, unpackVectors } from './packed-vectors.js'
import { quantise } from './quantise.js'

const vectors = [1, 2, 3].map((k) => Float32Array.from({ length: 128 }, (_, i) => Math.sin(i * k)))

describe('packVectors', () => {
  it('gives back what quantising gives, in a byte a dimension', () => {
    const bytes = packVectors(vectors)
    expect(bytes.length).toBe(4 + 3 * 128)
    expect(unpackVectors(bytes, 128)).toEqual(vectors.map(quantise))
  })

  it('is read wherever the bytes lie in their buffer', () => {
    const bytes = packVectors(vectors)
    const elsewhere = new Uint8Array(bytes.length + 7).subarray(7)
    elsewhere.set(bytes)
    expect(unpackVectors(elsewhere, 128)).toEqual(unpackVectors(bytes, 128))
  })

  it('keeps that there are none', () => {
    expect(unpackVectors(packVectors([]), 512)).toEqual([])
  })

  it('refuses vectors of different dimensions', () => {
    expect(() => packVectors([new Float32Array(128), new Float32Array(256)])).toThrow(RangeError)
  })
})

describe('unpackVectors', () => {
  it('reads nothing of another version, of other dimensions, or cut short', () => {
    const bytes = packVectors(vectors)
    expect(
      unpackVectors(
        Uint8Array.from(bytes, (byte, i) => (i === 0 ? 2 : byte)),
        128,
      ),
    ).toBeUndefined()
    expect(unpackVectors(bytes, 384)).toBeUndefined()
    for (const length of [0, 1, 3, 5, bytes.length - 1]) {
      expect(unpackVectors(bytes.subarray(0, length), 128)).toBeUndefined()
    }
  })
})
