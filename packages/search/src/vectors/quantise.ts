/** Codes of stored vectors range from -127 to 127, so that negating a vector negates its codes. */
const LARGEST_CODE = 127

/** Quantises a vector to 8 bits for each dimension. The scale is dropped: a cosine depends on the direction only. */
export function quantise(vector: Float32Array): Int8Array {
  return scaleInto(new Int8Array(vector.length), vector, LARGEST_CODE)
}

/** Quantises a query to 16 bits for each dimension: the scan widens codes to 16 bits anyway, so the precision is free. */
export function quantiseQuery(vector: Float32Array): Int16Array {
  return scaleInto(new Int16Array(vector.length), vector, largestQueryCode(vector.length))
}

/** The factor that scales codes to a unit vector; 0 for the zero vector, which is then similar to nothing. */
export function unitScale(codes: Int8Array | Int16Array): number {
  let squares = 0
  for (let i = 0; i < codes.length; i++) squares += (codes[i] ?? 0) ** 2
  return squares === 0 ? 0 : 1 / Math.sqrt(squares)
}

/** Binary quantisation: one bit for each dimension, set if the code is positive. */
export function signBits(codes: Int8Array | Int16Array): Uint8Array {
  const bits = new Uint8Array(codes.length / 8)
  for (let i = 0; i < codes.length; i++) {
    // The sign bit of the negated code: a comparison would be a branch that is mispredicted half the time.
    const positive = -(codes[i] ?? 0) >>> 31
    bits[i >> 3] = (bits[i >> 3] ?? 0) | (positive << (i & 7))
  }
  return bits
}

/** The largest query code for which no dot product overflows 32 bits. */
const largestQueryCode = (dimensions: number): number =>
  Math.min(0x7fff, Math.floor(0x7fffffff / (LARGEST_CODE * dimensions)))

function scaleInto<T extends Int8Array | Int16Array>(codes: T, vector: Float32Array, largestCode: number): T {
  let largest = 0
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i] ?? 0))
  const factor = largest > 0 ? largestCode / largest : 0
  // Math.round would take three times as long.
  for (let i = 0; i < codes.length; i++) codes[i] = Math.floor((vector[i] ?? 0) * factor + 0.5)
  return codes
}
