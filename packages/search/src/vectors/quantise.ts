/** Codes of stored vectors are -127 to 127, so that negating a vector negates its codes. */
const LARGEST_CODE = 127

/**
 * A vector in 8 bits a dimension. Its length is not kept: similarity is a cosine, which depends on directions only,
 * so codes need no scale beside them.
 */
export function quantise(vector: Float32Array): Int8Array {
  return scaleInto(new Int8Array(vector.length), vector, LARGEST_CODE)
}

/** A query in 16 bits a dimension: the scan widens codes to 16 bits anyway, so what the query loses is next to nothing. */
export function quantiseQuery(vector: Float32Array): Int16Array {
  return scaleInto(new Int16Array(vector.length), vector, largestQueryCode(vector.length))
}

/** What to multiply codes with to get a vector of length 1; 0 for a vector without direction, which is like nothing. */
export function unitScale(codes: Int8Array | Int16Array): number {
  let squares = 0
  for (let i = 0; i < codes.length; i++) squares += (codes[i] ?? 0) ** 2
  return squares === 0 ? 0 : 1 / Math.sqrt(squares)
}

/** One bit a dimension, set where the code is positive. */
export function signBits(codes: Int8Array | Int16Array): Uint8Array {
  const bits = new Uint8Array(codes.length / 8)
  for (let i = 0; i < codes.length; i++) {
    // The sign bit of the negated code rather than a comparison, which the processor would guess wrong half the time.
    const positive = -(codes[i] ?? 0) >>> 31
    bits[i >> 3] = (bits[i >> 3] ?? 0) | (positive << (i & 7))
  }
  return bits
}

/** The largest that leaves no dot product with codes beyond 32 bits. */
const largestQueryCode = (dimensions: number): number =>
  Math.min(0x7fff, Math.floor(0x7fffffff / (LARGEST_CODE * dimensions)))

function scaleInto<T extends Int8Array | Int16Array>(codes: T, vector: Float32Array, largestCode: number): T {
  let largest = 0
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i] ?? 0))
  const factor = largest > 0 ? largestCode / largest : 0
  // Not Math.round, which takes three times as long.
  for (let i = 0; i < codes.length; i++) codes[i] = Math.floor((vector[i] ?? 0) * factor + 0.5)
  return codes
}
