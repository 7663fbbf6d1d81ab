import { grown } from './grown.js'
import type { Terms } from './terms.js'
import { BEYOND_ASCII, chunksOf, chunkTokens, IS_ASCII_WORD, type TokenizeOptions } from './tokenize.js'

/** Chunks that there is room for at first, and how much more there is when they are too many. */
const LEAST_KNOWN = 256
const GROWTH = 4
/** Longer chunks are not met twice. */
const MAX_KNOWN_LENGTH = 40
/** Places that a chunk may stand in, one after the other: texts made to collide cost no more than others. */
const PROBES = 8

/** Terms in their order, by number. */
export interface Sequence {
  readonly terms: Uint32Array
  filled: number
  /** What would come after is left out. */
  end: number
}

/**
 * Reads texts as `tokenize` does, into numbers of terms. It remembers the chunks that it met, as to split and stem one
 * costs much more than to look: in a hash table of typed arrays, into which it looks without making strings.
 */
export class TermReader {
  readonly #dictionary: Terms
  readonly #options: TokenizeOptions
  #releases = 0
  #count = 0
  #base = 1
  /** Position of a chunk, counted from `#base`; what is below was forgotten, so that to forget all costs nothing. */
  #places = new Uint32Array(0)
  #hashes = new Uint32Array(0)
  /** Letters of all chunks, and terms of all chunks; a chunk's end where those of the next start. */
  #letters = new Uint16Array(256)
  #letterStarts = new Uint32Array(0)
  #terms = new Uint32Array(256)
  #termStarts = new Uint32Array(0)
  readonly #most: number

  /** @param most chunks that are remembered; then it begins anew */
  constructor(dictionary: Terms, most: number, options: TokenizeOptions = {}) {
    this.#dictionary = dictionary
    this.#options = options
    this.#most = most
    this.#makeRoom(Math.min(most, LEAST_KNOWN))
  }

  get bytes(): number {
    const arrays = [this.#places, this.#hashes, this.#letters, this.#letterStarts, this.#terms, this.#termStarts]
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Adds the terms of a text to a sequence, as far as there is room; all that are added are taken. */
  read(text: string, into: Sequence): void {
    // A term that was released since may be another now.
    if (this.#releases !== this.#dictionary.releases) this.#forget()
    if (BEYOND_ASCII.test(text)) this.#readAny(text, into)
    else this.#readAscii(text, into)
  }

  #readAny(text: string, into: Sequence): void {
    for (const chunk of chunksOf(text)) {
      let hash = 0
      for (let i = 0; i < chunk.length; i++) hash = mix(hash, chunk.charCodeAt(i))
      this.#readChunk(chunk, 0, chunk.length, hash, into)
      if (into.filled >= into.end) return
    }
  }

  #readAscii(text: string, into: Sequence): void {
    const end = text.length
    for (let at = 0; at < end && into.filled < into.end; at++) {
      const from = at
      let hash = 0
      for (; at < end; at++) {
        const code = text.charCodeAt(at)
        if (IS_ASCII_WORD[code] !== 1) break
        hash = mix(hash, code)
      }
      if (at > from) this.#readChunk(text, from, at, hash, into)
    }
  }

  #readChunk(text: string, from: number, to: number, mixed: number, into: Sequence): void {
    const hash = (mixed ^ (mixed >>> 15)) >>> 0
    for (let probe = 0; probe < PROBES; probe++) {
      const place = (hash + probe) % this.#places.length
      const known = (this.#places[place] ?? 0) - this.#base
      if (known < 0) {
        this.#meet(text.slice(from, to), hash, place, into)
        return
      }
      if (this.#hashes[known] === hash && this.#isAt(known, text, from, to)) {
        this.#copy(known, into)
        return
      }
    }
    add(this.#take(text.slice(from, to), into), into)
  }

  #isAt(known: number, text: string, from: number, to: number): boolean {
    const start = this.#letterStarts[known] ?? 0
    if ((this.#letterStarts[known + 1] ?? 0) - start !== to - from) return false
    for (let i = from; i < to; i++) if (this.#letters[start + i - from] !== text.charCodeAt(i)) return false
    return true
  }

  #copy(known: number, into: Sequence): void {
    const last = this.#termStarts[known + 1] ?? 0
    for (let i = this.#termStarts[known] ?? 0; i < last && into.filled < into.end; i++) {
      into.terms[into.filled++] = this.#terms[i] ?? 0
    }
  }

  /** Adds and remembers what was not met before. */
  #meet(chunk: string, hash: number, place: number, into: Sequence): void {
    const terms = this.#take(chunk, into)
    // What was cut for want of room must not be taken for the whole.
    const isWhole = terms.length < into.end - into.filled
    add(terms, into)
    if (this.#count === this.#hashes.length) this.#beginAnew()
    else if (chunk.length <= MAX_KNOWN_LENGTH && isWhole) this.#remember(chunk, terms, hash, place)
  }

  #remember(chunk: string, terms: readonly number[], hash: number, place: number): void {
    const known = this.#count++
    const letter = this.#letterStarts[known] ?? 0
    this.#letters = grown(this.#letters, letter + chunk.length)
    for (let i = 0; i < chunk.length; i++) this.#letters[letter + i] = chunk.charCodeAt(i)
    this.#letterStarts[known + 1] = letter + chunk.length
    const term = this.#termStarts[known] ?? 0
    this.#terms = grown(this.#terms, term + terms.length)
    this.#terms.set(terms, term)
    this.#termStarts[known + 1] = term + terms.length
    this.#hashes[known] = hash
    this.#places[place] = this.#base + known
  }

  #take(chunk: string, { filled, end }: Sequence): number[] {
    const tokens = chunkTokens(chunk, this.#options).slice(0, end - filled)
    return tokens.map(({ term }) => this.#dictionary.take(term))
  }

  /** Full: with more room, as long as that is allowed. */
  #beginAnew(): void {
    if (this.#count < this.#most) this.#makeRoom(Math.min(this.#most, GROWTH * this.#count))
    this.#forget()
  }

  #makeRoom(chunks: number): void {
    // Twice as many places as chunks, so that a free one is near.
    this.#places = new Uint32Array(2 * chunks)
    this.#hashes = new Uint32Array(chunks)
    this.#letterStarts = new Uint32Array(chunks + 1)
    this.#termStarts = new Uint32Array(chunks + 1)
  }

  #forget(): void {
    this.#releases = this.#dictionary.releases
    this.#base += this.#count
    this.#count = 0
    if (this.#base + this.#hashes.length < 2 ** 32) return
    this.#places.fill(0)
    this.#base = 1
  }
}

const mix = (hash: number, code: number): number => Math.imul(hash ^ code, 0x9e3779b1)

function add(terms: readonly number[], into: Sequence): void {
  into.terms.set(terms, into.filled)
  into.filled += terms.length
}
