import { bitCount } from './bit-count.js'
import { ensureCapacity } from './ensure-capacity.js'

/** Bits of a word of the set, as a power of two. */
const WORD_BITS = 5
const POSITION = 2 ** WORD_BITS - 1

/**
 * A set of agent numbers with one bit for every number up to the highest: sets of a hundred thousand agents are combined
 * in microseconds. Numbers are whole and below 2³².
 */
export class NumberSet {
  #words: Uint32Array<ArrayBuffer>
  /** Undefined after sets were combined, until somebody asks. */
  #size: number | undefined = 0

  constructor(numbers: Iterable<number> = []) {
    this.#words = new Uint32Array(0)
    for (const number of numbers) this.add(number)
  }

  /** The set with these bits (`bits`), which it changes with. */
  static of(bits: Uint32Array<ArrayBuffer>): NumberSet {
    const set = new NumberSet()
    set.#words = bits
    set.#size = undefined
    return set
  }

  /** One bit for each number, to send the set to another thread. */
  get bits(): Uint32Array<ArrayBuffer> {
    return this.#words
  }

  copy(): NumberSet {
    const copy = new NumberSet()
    copy.#words = this.#words.slice()
    copy.#size = this.#size
    return copy
  }

  get size(): number {
    if (this.#size === undefined) {
      this.#size = 0
      for (const word of this.#words) this.#size += bitCount(word)
    }
    return this.#size
  }

  has(number: number): boolean {
    return this.bit(number) === 1
  }

  /** 1 if the set has the number, else 0. */
  bit(number: number): number {
    return ((this.#words[number >>> WORD_BITS] ?? 0) >>> (number & POSITION)) & 1
  }

  add(number: number): this {
    const at = number >>> WORD_BITS
    if (at >= this.#words.length) this.#words = ensureCapacity(this.#words, at + 1)
    const word = this.#words[at] ?? 0
    const changed = (word | (1 << (number & POSITION))) >>> 0
    if (changed !== word && this.#size !== undefined) this.#size++
    this.#words[at] = changed
    return this
  }

  delete(number: number): void {
    if (!this.has(number)) return
    const at = number >>> WORD_BITS
    this.#words[at] = (this.#words[at] ?? 0) & ~(1 << (number & POSITION))
    if (this.#size !== undefined) this.#size--
  }

  /** Adds the numbers of another set. */
  unite(other: NumberSet): void {
    const added = other.#words
    this.#words = ensureCapacity(this.#words, added.length)
    for (let at = 0; at < added.length; at++) this.#words[at] = (this.#words[at] ?? 0) | (added[at] ?? 0)
    this.#size = undefined
  }

  /** Keeps only numbers that are also in another set. */
  intersect(other: NumberSet): void {
    const kept = other.#words
    for (let at = 0; at < this.#words.length; at++) this.#words[at] = (this.#words[at] ?? 0) & (kept[at] ?? 0)
    this.#size = undefined
  }

  /** Removes the numbers of another set. */
  subtract(other: NumberSet): void {
    const removed = other.#words
    for (let at = 0; at < this.#words.length; at++) this.#words[at] = (this.#words[at] ?? 0) & ~(removed[at] ?? 0)
    this.#size = undefined
  }

  /** The numbers in ascending order, without the first `skip`; these take hardly any time. */
  ascending(skip = 0): Generator<number> {
    return this.#walk(skip, false)
  }

  /** The same in descending order. */
  descending(skip = 0): Generator<number> {
    return this.#walk(skip, true)
  }

  *#walk(skip: number, isDescending: boolean): Generator<number> {
    const { length } = this.#words
    let left = skip
    for (let i = 0; i < length; i++) {
      const at = isDescending ? length - 1 - i : i
      let word = this.#words[at] ?? 0
      if (left > 0 && bitCount(word) <= left) {
        left -= bitCount(word)
        continue
      }
      while (word !== 0) {
        const bit = isDescending ? highestBit(word) : lowestBit(word)
        word &= ~(1 << bit)
        if (left > 0) left--
        else yield at * 2 ** WORD_BITS + bit
      }
    }
  }

  [Symbol.iterator](): Iterator<number> {
    return this.ascending()
  }
}

const lowestBit = (word: number): number => 31 - Math.clz32(word & -word)

const highestBit = (word: number): number => 31 - Math.clz32(word)
