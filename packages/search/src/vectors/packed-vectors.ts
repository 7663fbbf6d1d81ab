import { quantise } from './quantise.js'

/** Version of the layout and the quantisation; other versions are not read. */
const VERSION = 1
/** Version (1 byte), 0 (1 byte), dimensions (2 bytes, little-endian); then 8 bits for each dimension of each vector. */
const HEADER_BYTES = 4

/**
 * Packs an agent's vectors for storage, quantised as the index quantises them: a quarter of the size of floats, and
 * search results do not change when they are loaded again.
 */
export function packVectors(vectors: readonly Float32Array[]): Uint8Array {
  const dimensions = vectors[0]?.length ?? 0
  const bytes = new Uint8Array(HEADER_BYTES + vectors.length * dimensions)
  bytes.set([VERSION, 0, dimensions & 0xff, dimensions >> 8])
  vectors.forEach((vector, i) => {
    if (vector.length !== dimensions) throw new RangeError('all vectors of an agent must have the same dimensions')
    bytes.set(quantise(vector), HEADER_BYTES + i * dimensions)
  })
  return bytes
}

/** Whether packed vectors have the current version and these dimensions. */
export function isPacked(bytes: Uint8Array, dimensions: number): boolean {
  const [version, zero, low, high] = bytes
  if (version !== VERSION || zero !== 0 || low === undefined || high === undefined) return false
  const length = bytes.length - HEADER_BYTES
  return length === 0 || (low + high * 256 === dimensions && length % dimensions === 0)
}

/** The codes of each vector; undefined if the bytes have another version or other dimensions. */
export function unpackVectors(bytes: Uint8Array, dimensions: number): Int8Array[] | undefined {
  if (!isPacked(bytes, dimensions)) return undefined
  const length = bytes.length - HEADER_BYTES
  const codes = new Int8Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, length)
  return Array.from({ length: length / dimensions }, (_, i) => codes.subarray(i * dimensions, (i + 1) * dimensions))
}
