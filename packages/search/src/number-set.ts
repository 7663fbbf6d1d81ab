import { bitCount } from './bit-count.js'
import { ensureCapacity } from './ensure-capacity.js'

/** Bits of a word of the set, as a power of two. */
const WORD_BITS = 5
const POSITION = 2 ** WORD_BITS - 1
const NO_BITS = new Uint32Array(0)

/**
 * A set of agent numbers with one bit for every number up to the highest: sets of a hundred thousand agents are combined
 * in microseconds. Numbers are whole and below 2³².
 */
export class NumberSet {
  /** Instead of bits: a result of a few agents among many is listed without an array for all of them. */
  #few: readonly number[] | undefined
  #bits: Uint32Array<ArrayBuffer>
  /** Undefined after sets were combined, until somebody asks. */
  #size: number | undefined = 0

  constructor(numbers: Iterable<number> = []) {
    this.#bits = NO_BITS
    for (const number of numbers) this.add(number)
  }

  /** The set with these bits; it shares the array. */
  static of(bits: Uint32Array<ArrayBuffer>): NumberSet {
    const set = new NumberSet()
    set.#bits = bits
    set.#size = undefined
    return set
  }

  /** The set of these numbers, which are in ascending order, each once. */
  static ofFew(ascending: readonly number[]): NumberSet {
    const set = new NumberSet()
    set.#few = ascending
    set.#size = ascending.length
    return set
  }

  get #words(): Uint32Array<ArrayBuffer> {
    if (this.#few) {
      const highest = this.#few.at(-1)
      const bits = new Uint32Array(highest === undefined ? 0 : (highest >>> WORD_BITS) + 1)
      for (const number of this.#few) {
        const at = number >>> WORD_BITS
        bits[at] = (bits[at] ?? 0) | (1 << (number & POSITION))
      }
      this.#bits = bits
      this.#few = undefined
    }
    return this.#bits
  }

  set #words(bits: Uint32Array<ArrayBuffer>) {
    this.#bits = bits
    this.#few = undefined
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
    const words = ensureCapacity(this.#words, at + 1)
    const word = words[at] ?? 0
    const changed = (word | (1 << (number & POSITION))) >>> 0
    if (changed !== word && this.#size !== undefined) this.#size++
    words[at] = changed
    this.#words = words
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
    const words = ensureCapacity(this.#words, added.length)
    for (let at = 0; at < added.length; at++) words[at] = (words[at] ?? 0) | (added[at] ?? 0)
    this.#words = words
    this.#size = undefined
  }

  /** Keeps only numbers that are also in another set. */
  intersect(other: NumberSet): void {
    const [words, kept] = [this.#words, other.#words]
    for (let at = 0; at < words.length; at++) words[at] = (words[at] ?? 0) & (kept[at] ?? 0)
    this.#size = undefined
  }

  /** Removes the numbers of another set. */
  subtract(other: NumberSet): void {
    const [words, removed] = [this.#words, other.#words]
    for (let at = 0; at < words.length; at++) words[at] = (words[at] ?? 0) & ~(removed[at] ?? 0)
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
    const few = this.#few
    if (few) {
      for (let i = skip; i < few.length; i++) yield few[isDescending ? few.length - 1 - i : i] ?? 0
      return
    }
    const words = this.#words
    const { length } = words
    let left = skip
    for (let i = 0; i < length; i++) {
      const at = isDescending ? length - 1 - i : i
      let word = words[at] ?? 0
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
