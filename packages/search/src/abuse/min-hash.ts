/** Hash functions of a signature. The standard error of an estimated similarity of 0.8 is about 0.04. */
export const SIGNATURE_LENGTH = 96
/** LSH bands: of pairs with similarity 0.8, 99 % share at least one band; with similarity 0.5, 22 %. */
export const BANDS = 16
const ROWS = SIGNATURE_LENGTH / BANDS

/** The b-bit MinHash signature of a set, with b = 8, and its LSH bands. */
export interface MinHash {
  readonly signature: Uint8Array
  /** One hash table key for each band, computed from the full 32-bit minima. */
  readonly bands: Uint32Array
}

/** The hash functions are x ↦ a·x + b with odd a. Any constants will do, as long as they do not change at run time. */
const MULTIPLIERS = new Int32Array(SIGNATURE_LENGTH)
const INCREMENTS = new Int32Array(SIGNATURE_LENGTH)
for (let i = 0; i < SIGNATURE_LENGTH; i++) {
  MULTIPLIERS[i] = mix32(2 * i + 1) | 1
  INCREMENTS[i] = mix32(2 * i + 2)
}

/** Computes the MinHash of a set of hashes. */
export function minHash(hashes: Iterable<number>): MinHash {
  // Signed: V8 keeps signed 32-bit integers as small integers, but may turn unsigned ones into doubles.
  const minima = new Int32Array(SIGNATURE_LENGTH).fill(0x7fffffff)
  for (const hash of hashes) {
    for (let i = 0; i < SIGNATURE_LENGTH; i++) {
      const value = (Math.imul(hash, MULTIPLIERS[i] ?? 0) + (INCREMENTS[i] ?? 0)) | 0
      if (value < (minima[i] ?? 0)) minima[i] = value
    }
  }
  const signature = new Uint8Array(SIGNATURE_LENGTH)
  const bands = new Uint32Array(BANDS)
  for (let i = 0; i < SIGNATURE_LENGTH; i++) {
    const band = Math.floor(i / ROWS)
    bands[band] = mix32((bands[band] ?? 0) ^ (minima[i] ?? 0))
    signature[i] = mix32(minima[i] ?? 0)
  }
  return { signature, bands }
}

/** Probability that two different minima have the same 8-bit value. */
const COLLISION = 1 / 256

/** Estimates the Jaccard similarity from the number of equal values of two signatures, corrected for collisions. */
export const estimateSimilarity = (equal: number): number =>
  Math.max(0, (equal / SIGNATURE_LENGTH - COLLISION) / (1 - COLLISION))

/** The 32-bit finaliser of MurmurHash3. */
export function mix32(value: number): number {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
