/** Values of a signature. The likeness that two signatures show is off by about 0.04 at 0.8. */
export const SIGNATURE_LENGTH = 96
/** Signatures are looked up by bands: two that are 0.8 alike share one of 16 in 99 of 100 cases, 0.5 alike in 22. */
export const BANDS = 16
const ROWS = SIGNATURE_LENGTH / BANDS

/** What is kept of a text: a byte for each value of the signature, and a key for each band. */
export interface Sketch {
  readonly signature: Uint8Array
  readonly bands: Uint32Array
}

/** Odd factors and terms of the hash functions; any will do, as long as they stay the same while a process runs. */
const FACTORS = new Int32Array(SIGNATURE_LENGTH)
const TERMS = new Int32Array(SIGNATURE_LENGTH)
for (let i = 0; i < SIGNATURE_LENGTH; i++) {
  FACTORS[i] = mix(2 * i + 1) | 1
  TERMS[i] = mix(2 * i + 2)
}

/** Sketches a set of hashes, so that the share of equal bytes tells how much two sets have in common (MinHash). */
export function sketch(hashes: Iterable<number>): Sketch {
  // Signed, for they fit the numbers that the engine is quick with.
  const least = new Int32Array(SIGNATURE_LENGTH).fill(0x7fffffff)
  for (const hash of hashes) {
    for (let i = 0; i < SIGNATURE_LENGTH; i++) {
      const value = (Math.imul(hash, FACTORS[i] ?? 0) + (TERMS[i] ?? 0)) | 0
      if (value < (least[i] ?? 0)) least[i] = value
    }
  }
  const signature = new Uint8Array(SIGNATURE_LENGTH)
  const bands = new Uint32Array(BANDS)
  for (let i = 0; i < SIGNATURE_LENGTH; i++) {
    const band = Math.floor(i / ROWS)
    bands[band] = mix((bands[band] ?? 0) ^ (least[i] ?? 0))
    signature[i] = mix(least[i] ?? 0)
  }
  return { signature, bands }
}

/** Chance that two different values have the same byte. */
const CHANCE = 1 / 256

/** The likeness that so many equal bytes of two signatures show, 0 to 1. */
export const likenessOf = (equal: number): number => Math.max(0, (equal / SIGNATURE_LENGTH - CHANCE) / (1 - CHANCE))

/** Spreads the bits of a number over all 32 (the finaliser of MurmurHash3). */
export function mix(value: number): number {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
