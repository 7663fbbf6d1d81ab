import { describe, expect, it } from 'vitest'
import { packVectors, unpackVectors } from './packed-vectors.js'
import { quantise } from './quantise.js'

const vectors = [1, 2, 3].map((k) => Float32Array.from({ length: 128 }, (_, i) => Math.sin(i * k)))

describe('packVectors', () => {
  it('stores the quantised vectors in one byte for each dimension', () => {
    const bytes = packVectors(vectors)
    expect(bytes.length).toBe(4 + 3 * 128)
    expect(unpackVectors(bytes, 128)).toEqual(vectors.map(quantise))
  })

  it('can be read at any offset of a buffer', () => {
    const bytes = packVectors(vectors)
    const shifted = new Uint8Array(bytes.length + 7).subarray(7)
    shifted.set(bytes)
    expect(unpackVectors(shifted, 128)).toEqual(unpackVectors(bytes, 128))
  })

  it('packs an empty list', () => {
    expect(unpackVectors(packVectors([]), 512)).toEqual([])
  })

  it('rejects vectors of different dimensions', () => {
    expect(() => packVectors([new Float32Array(128), new Float32Array(256)])).toThrow(RangeError)
  })
})

describe('unpackVectors', () => {
  it('returns undefined for another version, other dimensions or truncated bytes', () => {
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
