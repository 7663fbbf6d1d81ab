import { quantise } from './quantise.js'

/** Names the layout and the way of quantising; bytes of another version are not read. */
const VERSION = 1
/** The version (1 byte), 0 (1 byte), the number of dimensions (2 bytes, little-endian); then 8 bits a dimension. */
const HEADER_BYTES = 4

/**
 * An agent's vectors as bytes to keep with its record: about a quarter of the floats, and exactly what the index would
 * make of them, so that after a restart it finds the same without embedding anything.
 */
export function packVectors(vectors: readonly Float32Array[]): Uint8Array {
  const dimensions = vectors[0]?.length ?? 0
  const bytes = new Uint8Array(HEADER_BYTES + vectors.length * dimensions)
  bytes.set([VERSION, 0, dimensions & 0xff, dimensions >> 8])
  vectors.forEach((vector, i) => {
    if (vector.length !== dimensions) throw new RangeError('vectors of one agent have the same number of dimensions')
    bytes.set(quantise(vector), HEADER_BYTES + i * dimensions)
  })
  return bytes
}

/** The codes of each vector, or undefined if the bytes are of another version or have other dimensions. */
export function unpackVectors(bytes: Uint8Array, dimensions: number): Int8Array[] | undefined {
  const [version, zero, low, high] = bytes
  if (version !== VERSION || zero !== 0 || low === undefined || high === undefined) return undefined
  if (bytes.length === HEADER_BYTES) return []
  const length = bytes.length - HEADER_BYTES
  if (low + high * 256 !== dimensions || length % dimensions !== 0) return undefined
  const codes = new Int8Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, length)
  return Array.from({ length: length / dimensions }, (_, i) => codes.subarray(i * dimensions, (i + 1) * dimensions))
}
