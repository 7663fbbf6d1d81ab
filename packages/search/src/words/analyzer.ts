import { ensureCapacity } from '../ensure-capacity.js'
import { CachingTokenizer, type TermSequence } from './caching-tokenizer.js'
import { FIELDS, type Field, type TextFields } from './text-fields.js'
import { charactersOfPair } from './tokenize.js'

/** BM25F field weights. Multiples of 0.5, so that a weighted frequency fits a posting as a number of halves. */
const FIELD_WEIGHT: Readonly<Record<Field, number>> = {
  title: 3,
  description: 1,
  schema: 0.5,
  example: 1,
  gloss: 1,
}
/** Further occurrences of a term in one field are not counted, against keyword stuffing. */
const MAX_REPEATS = 5
/** Tokens indexed for each field; the rest is ignored. */
const MAX_FIELD_TOKENS = 1000

/** Chunks that the tokenizers cache. In real records this many cover 98 % of the text; names vary less. */
const CACHED_CHUNKS = 2 ** 16
const CACHED_NAME_CHUNKS = 2 ** 14

/** Bits of a posting that hold the weighted term frequency, in halves. */
export const FREQUENCY_BITS = 5
export const MAX_FREQUENCY = 2 ** FREQUENCY_BITS - 1
/** Term ids start here: the ids below are field markers, one for each field, that precede every text of a sequence. */
export const FIRST_TERM_ID = FIELDS.length

/** An agent's text as it is indexed. The analyzer reuses the memory, so this is valid until its next call. */
export interface AnalyzedText {
  /** Term ids in text order, with a field marker before each text. */
  readonly sequence: Uint32Array
  /** The distinct term ids. */
  readonly terms: readonly number[]
  /** The weighted frequency of a term, in halves. */
  frequency(term: number): number
  /** Number of tokens, weighted by field: the document length of BM25F. */
  readonly length: number
}

/** Turns the text fields of an agent into terms and frequencies. */
export interface Analyzer {
  readonly bytes: number
  analyze(fields: TextFields): AnalyzedText
}

export function createAnalyzer(dictionary: TermDictionary): Analyzer {
  const nameTokenizer = new CachingTokenizer(dictionary, CACHED_NAME_CHUNKS, { keepStopWords: true })
  const textTokenizer = new CachingTokenizer(dictionary, CACHED_CHUNKS)
  const sequence: TermSequence = { terms: new Uint32Array(FIELDS.length * MAX_FIELD_TOKENS), filled: 0, end: 0 }
  const terms: number[] = []
  /** Weighted frequency in the current agent, by term id; zero for all other terms. */
  let frequencies = new Uint8Array(256)
  /** Occurrences in the current field, by term id; zero for all other terms. */
  let repeats = new Uint8Array(256)

  const count = (term: number, weight: number): void => {
    const before = repeats[term] ?? 0
    if (before === MAX_REPEATS) return
    repeats[term] = before + 1
    const sum = frequencies[term] ?? 0
    if (sum === 0) terms.push(term)
    frequencies[term] = Math.min(sum + 2 * weight, MAX_FREQUENCY)
  }

  /**
   * Counts the terms of a field, which starts at a position of the sequence, and the characters of its pairs; returns the
   * number of tokens. Characters do not make a text longer.
   */
  const countField = (from: number, weight: number): number => {
    repeats = ensureCapacity(repeats, dictionary.end)
    frequencies = ensureCapacity(frequencies, dictionary.end)
    let tokens = 0
    let previous = NO_CHARACTER
    for (let i = from; i < sequence.filled; i++) {
      const term = sequence.terms[i] ?? 0
      if (term < FIRST_TERM_ID) continue
      tokens++
      count(term, weight)
      // Pairs overlap: the first character of one is the second of the one before.
      const [first, second] = [dictionary.firstOf(term), dictionary.secondOf(term)]
      if (first !== NO_CHARACTER && first !== previous) count(first, weight)
      if (second !== NO_CHARACTER) count(second, weight)
      previous = second
    }
    for (let i = from; i < sequence.filled; i++) {
      const term = sequence.terms[i] ?? 0
      repeats[term] = 0
      repeats[dictionary.firstOf(term)] = 0
      repeats[dictionary.secondOf(term)] = 0
    }
    return tokens
  }

  const analyze = (fields: TextFields): AnalyzedText => {
    for (const term of terms) frequencies[term] = 0
    terms.length = 0
    sequence.filled = 0
    let length = 0
    for (const [marker, field] of FIELDS.entries()) {
      const start = sequence.filled
      sequence.end = start + MAX_FIELD_TOKENS
      for (const text of fields[field]) {
        if (sequence.filled === sequence.end) break
        // The first text of the title is the agent's name.
        const tokenizer = sequence.filled === 0 && field === 'title' ? nameTokenizer : textTokenizer
        sequence.terms[sequence.filled++] = marker
        tokenizer.tokenize(text, sequence)
      }
      length += FIELD_WEIGHT[field] * countField(start, FIELD_WEIGHT[field])
    }
    return {
      sequence: sequence.terms.subarray(0, sequence.filled),
      terms,
      frequency: (term) => frequencies[term] ?? 0,
      length,
    }
  }

  return {
    get bytes() {
      const own = sequence.terms.byteLength + frequencies.byteLength + repeats.byteLength
      return nameTokenizer.bytes + textTokenizer.bytes + own
    },
    analyze,
  }
}

/** What `TermDictionary` returns for a term without such a character; no term has this id. */
export const NO_CHARACTER = 0

/** Everything in a `TermDictionary`, to be saved. */
export interface TermDictionaryState {
  /** One line for each id; empty if it is free. */
  readonly terms: string
  readonly characters: Uint32Array<ArrayBuffer>
  readonly freeIds: readonly number[]
}

/**
 * Maps terms to dense ids. The id of a term that no agent contains any more is reused. Of a pair of characters that are
 * words, the characters get ids too: an agent that contains the pair contains them.
 */
export class TermDictionary {
  readonly #ids = new Map<string, number>()
  #terms: (string | undefined)[] = []
  /** For each term: the ids of its first and second character. */
  #characters = new Uint32Array(256)
  #freeIds: number[] = []
  #releases = 0

  /** @param firstId the lowest id to assign */
  constructor(firstId: number, saved?: TermDictionaryState) {
    this.#terms.length = firstId
    if (!saved) return
    this.#terms = saved.terms.split('\n').map((term) => (term === '' ? undefined : term))
    for (const [id, term] of this.#terms.entries()) if (term !== undefined) this.#ids.set(term, id)
    this.#characters = saved.characters
    this.#freeIds = [...saved.freeIds]
  }

  /** Valid until the next change. */
  get state(): TermDictionaryState {
    return { terms: this.#terms.join('\n'), characters: this.#characters, freeIds: this.#freeIds }
  }

  get size(): number {
    return this.#ids.size
  }

  /** One more than the highest id assigned so far. */
  get end(): number {
    return this.#terms.length
  }

  /** Incremented when an id is released: cached ids are invalid from then on. */
  get releases(): number {
    return this.#releases
  }

  find(term: string): number | undefined {
    return this.#ids.get(term)
  }

  /** The term with this id; undefined if none has it. */
  termOf(id: number): string | undefined {
    return this.#terms[id]
  }

  /** Returns the id of the term; assigns one if it has none. */
  assign(term: string): number {
    const known = this.#ids.get(term)
    if (known !== undefined) return known
    const id = this.#freeIds.pop() ?? this.#terms.length
    const copy = copyString(term)
    this.#ids.set(copy, id)
    this.#terms[id] = copy
    const [first, second] = charactersOfPair(copy).map((each) => (each === '' ? NO_CHARACTER : this.assign(each)))
    this.#characters = ensureCapacity(this.#characters, 2 * id + 2)
    this.#characters[2 * id] = first ?? NO_CHARACTER
    this.#characters[2 * id + 1] = second ?? NO_CHARACTER
    return id
  }

  /** The id of the first character of a pair, if that is a term on its own. */
  firstOf(id: number): number {
    return this.#characters[2 * id] ?? NO_CHARACTER
  }

  /** The id of the second character, in the same way. */
  secondOf(id: number): number {
    return this.#characters[2 * id + 1] ?? NO_CHARACTER
  }

  release(id: number): void {
    const term = this.#terms[id]
    if (term === undefined) return
    this.#ids.delete(term)
    this.#terms[id] = undefined
    this.#freeIds.push(id)
    this.#releases++
  }
}

/** V8 implements a substring as a reference to its parent; a copy does not keep the whole text in memory. */
export const copyString = (text: string): string => ` ${text}`.slice(1)
