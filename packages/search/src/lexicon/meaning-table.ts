/** Meanings kept for each word; a query uses fewer, but some of them have the same English stem. */
export const MAX_KEPT_MEANINGS = 4

const INITIAL_SLOTS = 2 ** 10
/** Share of used slots from which the table grows. */
const MAX_LOAD = 0.6

/**
 * Maps words to small numbers, in the order they were added. A hundred thousand words of a dozen languages take a few
 * megabytes, because only a 53-bit hash of each word is stored; two words with the same hash are not to be expected.
 */
export class MeaningTable {
  #hashes = new Float64Array(INITIAL_SLOTS)
  /** For each slot its meanings, each plus 1; 0: none. */
  #meanings = new Uint16Array(INITIAL_SLOTS * MAX_KEPT_MEANINGS)
  #used = 0

  get bytes(): number {
    return this.#hashes.byteLength + this.#meanings.byteLength
  }

  /** Adds a meaning after those that the word already has, unless it has it or has enough. */
  add(word: string, meaning: number): void {
    if (this.#used >= MAX_LOAD * this.#hashes.length) this.#grow()
    const hash = hashOf(word)
    const slot = slotOf(this.#hashes, hash)
    if (this.#hashes[slot] === 0) {
      this.#hashes[slot] = hash
      this.#used++
    }
    const start = slot * MAX_KEPT_MEANINGS
    for (let i = start; i < start + MAX_KEPT_MEANINGS; i++) {
      if (this.#meanings[i] === meaning + 1) return
      if (this.#meanings[i] !== 0) continue
      this.#meanings[i] = meaning + 1
      return
    }
  }

  has(word: string): boolean {
    return this.#hashes[slotOf(this.#hashes, hashOf(word))] !== 0
  }

  /** The meanings of a word in the order they were added; empty if it is unknown. */
  find(word: string): number[] {
    const slot = slotOf(this.#hashes, hashOf(word))
    const found: number[] = []
    for (let i = slot * MAX_KEPT_MEANINGS; i < (slot + 1) * MAX_KEPT_MEANINGS; i++) {
      const meaning = this.#meanings[i] ?? 0
      if (meaning === 0) break
      found.push(meaning - 1)
    }
    return found
  }

  #grow(): void {
    const [hashes, meanings] = [this.#hashes, this.#meanings]
    this.#hashes = new Float64Array(2 * hashes.length)
    this.#meanings = new Uint16Array(2 * meanings.length)
    for (const [slot, hash] of hashes.entries()) {
      if (hash === 0) continue
      const to = slotOf(this.#hashes, hash)
      this.#hashes[to] = hash
      const kept = meanings.subarray(slot * MAX_KEPT_MEANINGS, (slot + 1) * MAX_KEPT_MEANINGS)
      this.#meanings.set(kept, to * MAX_KEPT_MEANINGS)
    }
  }
}

/** The slot of a hash, or the free one where it belongs. The number of slots is a power of two. */
function slotOf(hashes: Float64Array, hash: number): number {
  const mask = hashes.length - 1
  let slot = hash & mask
  while (hashes[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) & mask
  return slot
}

/** A hash of 53 bits that is never 0. */
function hashOf(word: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i)
    a = Math.imul(a ^ code, 0x9e3779b1)
    b = Math.imul(b ^ code, 0x5f356495)
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ (b >>> 13)
  b = Math.imul(b ^ (b >>> 16), 0xc2b2ae35) ^ (a >>> 13)
  return (b >>> 11) * 2 ** 32 + (a >>> 0) || 1
}
