import { ensureCapacity } from '../ensure-capacity.js'
import type { TermDictionary } from './analyzer.js'
import { BEYOND_ASCII, chunksOf, chunkTokens, IS_ASCII_WORD, type TokenizeOptions } from './tokenize.js'

/** Initial capacity of the cache, in chunks, and the factor it grows by when it is full. */
const INITIAL_CHUNKS = 256
const GROWTH = 4
/** Longer chunks rarely occur twice and are not cached. */
const MAX_CACHED_LENGTH = 40
/** Length of a probe sequence: bounds the cost of texts crafted to collide. */
const PROBES = 8

/** A buffer of term ids. */
export interface TermSequence {
  readonly terms: Uint32Array
  filled: number
  /** Terms beyond this position are dropped. */
  end: number
}

/**
 * Tokenizes like `tokenize`, but into term ids. Splitting and stemming a chunk costs much more than a lookup, so the
 * terms of each chunk are cached in an open-addressing hash table of typed arrays, which is read without creating
 * strings.
 */
export class CachingTokenizer {
  readonly #dictionary: TermDictionary
  readonly #options: TokenizeOptions
  readonly #maxChunks: number
  /** `dictionary.releases` when the cache was last valid. */
  #releases = 0
  #count = 0
  /** Table entries below this value are stale, so that clearing the cache is free. */
  #base = 1
  /** The hash table: for each bucket `#base` plus the index of a chunk. */
  #buckets = new Uint32Array(0)
  #hashes = new Uint32Array(0)
  /** Characters and terms of all cached chunks; those of a chunk end where those of the next one start. */
  #characters = new Uint16Array(256)
  #characterStarts = new Uint32Array(0)
  #terms = new Uint32Array(256)
  #termStarts = new Uint32Array(0)

  /** @param maxChunks size of the cache; when it is full, it is cleared */
  constructor(dictionary: TermDictionary, maxChunks: number, options: TokenizeOptions = {}) {
    this.#dictionary = dictionary
    this.#options = options
    this.#maxChunks = maxChunks
    this.#allocate(Math.min(maxChunks, INITIAL_CHUNKS))
  }

  get bytes(): number {
    const tables = [this.#buckets, this.#hashes, this.#characterStarts, this.#termStarts]
    return [this.#characters, this.#terms, ...tables].reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Appends the terms of a text as far as there is room; assigns ids only to terms that are appended. */
  tokenize(text: string, into: TermSequence): void {
    // A released id may belong to another term now.
    if (this.#releases !== this.#dictionary.releases) this.#clear()
    if (BEYOND_ASCII.test(text)) this.#tokenizeUnicode(text, into)
    else this.#tokenizeAscii(text, into)
  }

  #tokenizeUnicode(text: string, into: TermSequence): void {
    for (const chunk of chunksOf(text)) {
      let hash = 0
      for (let i = 0; i < chunk.length; i++) hash = mix(hash, chunk.charCodeAt(i))
      this.#appendChunk(chunk, 0, chunk.length, hash, into)
      if (into.filled >= into.end) return
    }
  }

  #tokenizeAscii(text: string, into: TermSequence): void {
    const end = text.length
    for (let at = 0; at < end && into.filled < into.end; at++) {
      const from = at
      let hash = 0
      for (; at < end; at++) {
        const code = text.charCodeAt(at)
        if (IS_ASCII_WORD[code] !== 1) break
        hash = mix(hash, code)
      }
      if (at > from) this.#appendChunk(text, from, at, hash, into)
    }
  }

  #appendChunk(text: string, from: number, to: number, mixed: number, into: TermSequence): void {
    const hash = (mixed ^ (mixed >>> 15)) >>> 0
    for (let probe = 0; probe < PROBES; probe++) {
      const bucket = (hash + probe) % this.#buckets.length
      const cached = (this.#buckets[bucket] ?? 0) - this.#base
      if (cached < 0) {
        this.#appendNew(text.slice(from, to), hash, bucket, into)
        return
      }
      if (this.#hashes[cached] === hash && this.#equals(cached, text, from, to)) {
        this.#appendCached(cached, into)
        return
      }
    }
    append(this.#termsOf(text.slice(from, to), into), into)
  }

  #equals(cached: number, text: string, from: number, to: number): boolean {
    const start = this.#characterStarts[cached] ?? 0
    if ((this.#characterStarts[cached + 1] ?? 0) - start !== to - from) return false
    for (let i = from; i < to; i++) if (this.#characters[start + i - from] !== text.charCodeAt(i)) return false
    return true
  }

  #appendCached(cached: number, into: TermSequence): void {
    const last = this.#termStarts[cached + 1] ?? 0
    for (let i = this.#termStarts[cached] ?? 0; i < last && into.filled < into.end; i++) {
      into.terms[into.filled++] = this.#terms[i] ?? 0
    }
  }

  #appendNew(chunk: string, hash: number, bucket: number, into: TermSequence): void {
    const terms = this.#termsOf(chunk, into)
    // Terms cut off for lack of room must not be cached as if they were all of them.
    const isComplete = terms.length < into.end - into.filled
    append(terms, into)
    if (this.#count === this.#hashes.length) this.#growOrClear()
    else if (chunk.length <= MAX_CACHED_LENGTH && isComplete) this.#store(chunk, terms, hash, bucket)
  }

  #store(chunk: string, terms: readonly number[], hash: number, bucket: number): void {
    const cached = this.#count++
    const character = this.#characterStarts[cached] ?? 0
    this.#characters = ensureCapacity(this.#characters, character + chunk.length)
    for (let i = 0; i < chunk.length; i++) this.#characters[character + i] = chunk.charCodeAt(i)
    this.#characterStarts[cached + 1] = character + chunk.length
    const term = this.#termStarts[cached] ?? 0
    this.#terms = ensureCapacity(this.#terms, term + terms.length)
    this.#terms.set(terms, term)
    this.#termStarts[cached + 1] = term + terms.length
    this.#hashes[cached] = hash
    this.#buckets[bucket] = this.#base + cached
  }

  #termsOf(chunk: string, { filled, end }: TermSequence): number[] {
    const tokens = chunkTokens(chunk, this.#options).slice(0, end - filled)
    return tokens.map(({ term }) => this.#dictionary.assign(term))
  }

  #growOrClear(): void {
    if (this.#count < this.#maxChunks) this.#allocate(Math.min(this.#maxChunks, GROWTH * this.#count))
    this.#clear()
  }

  #allocate(chunks: number): void {
    // A load factor of at most one half keeps probe sequences short.
    this.#buckets = new Uint32Array(2 * chunks)
    this.#hashes = new Uint32Array(chunks)
    this.#characterStarts = new Uint32Array(chunks + 1)
    this.#termStarts = new Uint32Array(chunks + 1)
  }

  #clear(): void {
    this.#releases = this.#dictionary.releases
    this.#base += this.#count
    this.#count = 0
    if (this.#base + this.#hashes.length < 2 ** 32) return
    this.#buckets.fill(0)
    this.#base = 1
  }
}

const mix = (hash: number, code: number): number => Math.imul(hash ^ code, 0x9e3779b1)

function append(terms: readonly number[], into: TermSequence): void {
  into.terms.set(terms, into.filled)
  into.filled += terms.length
}
