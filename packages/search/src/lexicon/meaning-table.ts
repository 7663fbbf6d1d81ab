/** Meanings kept for each word; a query uses fewer, but some of them have the same English stem. */
export const MAX_KEPT_MEANINGS = 4

/** Two numbers: of words, and of English terms. */
const HEADER_BYTES = 8
/** Most look-ups find nothing. */
const NONE: readonly string[] = []

/**
 * Maps words to English terms. A hundred thousand words of a dozen languages take a few megabytes, because only a 53-bit
 * hash of each word is stored; two words with the same hash are not to be expected. The bytes can be kept in a file.
 */
export class MeaningTable {
  readonly bytes: Uint8Array
  /** Of the words, ascending. */
  readonly #hashes: Float64Array
  /** For each word the numbers of its terms, each plus 1; 0: none. */
  readonly #meanings: Uint16Array
  /** Where each term begins in `#terms`, and where the last one ends. */
  readonly #starts: Uint32Array
  /** UTF-8. */
  readonly #terms: Buffer
  /** The terms that were needed so far. */
  readonly #decoded: string[] = []

  /** @param bytes of a table, in a buffer of their own */
  constructor(bytes: Uint8Array) {
    const { buffer } = bytes
    const [words = 0, terms = 0] = new Uint32Array(buffer, 0, 2)
    this.bytes = bytes
    this.#hashes = new Float64Array(buffer, HEADER_BYTES, words)
    this.#meanings = new Uint16Array(buffer, endOf(this.#hashes), words * MAX_KEPT_MEANINGS)
    this.#starts = new Uint32Array(buffer, endOf(this.#meanings), terms + 1)
    this.#terms = Buffer.from(buffer, endOf(this.#starts))
  }

  /** A table of words and what each means; several meanings of a word in the order in which they are given. */
  static of(translations: Iterable<readonly [word: string, english: string]>): MeaningTable {
    const numbers = new Map<string, number>()
    const meanings = new Map<number, Set<number>>()
    for (const [word, english] of translations) {
      const number = numbers.get(english) ?? numbers.size + 1
      numbers.set(english, number)
      const hash = hashOf(word)
      const known = meanings.get(hash)
      if (!known) meanings.set(hash, new Set([number]))
      else if (known.size < MAX_KEPT_MEANINGS) known.add(number)
    }
    const sorted = [...meanings].sort(([a], [b]) => a - b)
    const terms = [...numbers.keys()].map((term) => Buffer.from(term))
    let end = 0
    const starts = [0, ...terms.map((term) => (end += term.length))]
    return new MeaningTable(
      joined(
        Uint32Array.of(sorted.length, terms.length),
        Float64Array.from(sorted, ([hash]) => hash),
        Uint16Array.from(sorted.flatMap(([, list]) => Object.assign(Array(MAX_KEPT_MEANINGS).fill(0), [...list]))),
        Uint32Array.from(starts),
        Buffer.concat(terms),
      ),
    )
  }

  has(word: string): boolean {
    return this.#indexOf(word) >= 0
  }

  /** The meanings of a word in their order; empty if it is unknown. */
  find(word: string): readonly string[] {
    const index = this.#indexOf(word)
    if (index < 0) return NONE
    const found: string[] = []
    for (let i = index * MAX_KEPT_MEANINGS; i < (index + 1) * MAX_KEPT_MEANINGS; i++) {
      const meaning = this.#meanings[i] ?? 0
      if (meaning > 0) found.push(this.#termAt(meaning - 1))
    }
    return found
  }

  #termAt(at: number): string {
    this.#decoded[at] ??= this.#terms.toString('utf8', this.#starts[at], this.#starts[at + 1])
    return this.#decoded[at]
  }

  #indexOf(word: string): number {
    const hash = hashOf(word)
    let [low, high] = [0, this.#hashes.length - 1]
    while (low <= high) {
      const middle = (low + high) >>> 1
      const found = this.#hashes[middle] ?? 0
      if (found === hash) return middle
      if (found < hash) low = middle + 1
      else high = middle - 1
    }
    return -1
  }
}

const endOf = ({ byteOffset, byteLength }: ArrayBufferView): number => byteOffset + byteLength

function joined(...parts: readonly ArrayBufferView[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const { buffer, byteOffset, byteLength } of parts) {
    all.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  return all
}

/** A hash of 53 bits. */
function hashOf(word: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i)
    a = Math.imul(a ^ code, 0x9e3779b1)
    b = Math.imul(b ^ code, 0x5f356495)
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ (b >>> 13)
  b = Math.imul(b ^ (b >>> 16), 0xc2b2ae35) ^ (a >>> 13)
  return (b >>> 11) * 2 ** 32 + (a >>> 0)
}
