import { ensureCapacity } from '../ensure-capacity.js'
import { type NumberMapState, restoreNumberMap, saveNumberMap } from '../saved/number-map.js'
import {
  type Analyzer,
  createAnalyzer,
  FIRST_TERM_ID,
  FREQUENCY_BITS,
  MAX_FREQUENCY,
  NO_CHARACTER,
  TermDictionary,
  type TermDictionaryState,
} from './analyzer.js'
import { ListStore, type ListStoreState } from './list-store.js'
import type { TextFields } from './text-fields.js'

/** Everything in an `InvertedIndex`, to be saved. */
export interface InvertedIndexState {
  readonly terms: TermDictionaryState
  readonly postings: ListStoreState
  readonly sequences: ListStoreState
  readonly slots: NumberMapState
  readonly freeSlots: readonly number[]
  readonly lengths: Float32Array<ArrayBuffer>
  readonly publicLength: number
  readonly private: readonly number[]
  readonly privateCounts: NumberMapState
}

/** What scores need to know about all public agents, if the index holds only some of them. */
export interface CorpusStatistics {
  /** Number of public agents. */
  readonly agents: number
  /** Average weighted length of their texts; not 0. */
  readonly averageLength: number
  /** Number of public agents that contain a term. */
  frequencyOf(term: string): number
}

/** What an index begins with. */
export interface InvertedIndexOptions {
  /** Statistics of all agents, if the index holds only some of them. Default: those of this index. */
  readonly corpus?: CorpusStatistics | undefined
  /** Default: no agents. */
  readonly saved?: InvertedIndexState | undefined
}

/**
 * Posting lists and term sequences of all agents. Each agent has a slot, a small dense id that scores are accumulated
 * by; slots and memory of removed agents are reused.
 */
export class InvertedIndex {
  readonly terms: TermDictionary
  /** For each term: slot and weighted frequency of every agent that contains it, by slot. */
  readonly postings: ListStore
  /** Forward index: for each slot the agent's terms in text order, for removal and for bigrams. */
  readonly sequences: ListStore
  readonly #analyzer: Analyzer
  readonly #slots: Map<number, number>
  readonly #freeSlots: number[]
  #numbers = new Float64Array(256)
  #lengths = new Float32Array(256)
  /** Sum of the lengths of public agents. */
  #publicLength = 0
  /** Slots of private agents, and how many of them contain each term. */
  readonly #private: Set<number>
  readonly #privateCounts: Map<number, number>
  readonly #corpus: CorpusStatistics | undefined

  constructor({ corpus, saved }: InvertedIndexOptions = {}) {
    this.#corpus = corpus
    this.terms = new TermDictionary(FIRST_TERM_ID, saved?.terms)
    this.postings = new ListStore(saved?.postings)
    this.sequences = new ListStore(saved?.sequences)
    this.#analyzer = createAnalyzer(this.terms)
    this.#slots = saved ? restoreNumberMap(saved.slots) : new Map()
    this.#freeSlots = [...(saved?.freeSlots ?? [])]
    this.#private = new Set(saved?.private)
    this.#privateCounts = saved ? restoreNumberMap(saved.privateCounts) : new Map()
    if (!saved) return
    this.#lengths = saved.lengths
    this.#publicLength = saved.publicLength
    this.#numbers = ensureCapacity(this.#numbers, saved.lengths.length)
    for (const [number, slot] of this.#slots) this.#numbers[slot] = number
  }

  /** Valid until the next change. */
  get state(): InvertedIndexState {
    return {
      terms: this.terms.state,
      postings: this.postings.state,
      sequences: this.sequences.state,
      slots: saveNumberMap(this.#slots),
      freeSlots: this.#freeSlots,
      lengths: this.#lengths,
      publicLength: this.#publicLength,
      private: [...this.#private],
      privateCounts: saveNumberMap(this.#privateCounts),
    }
  }

  get size(): number {
    return this.#slots.size
  }

  /** Number of slots, including free ones. */
  get slotCount(): number {
    return this.#slots.size + this.#freeSlots.length
  }

  get bytes(): number {
    const perAgent = this.#numbers.byteLength + this.#lengths.byteLength
    return this.postings.bytes + this.sequences.bytes + perAgent + this.#analyzer.bytes
  }

  /** For each slot the number of its agent. */
  get numbers(): Float64Array {
    return this.#numbers
  }

  /** For each slot the weighted length of its agent's text. */
  get lengths(): Float32Array {
    return this.#lengths
  }

  get publicAgents(): number {
    return this.#corpus?.agents ?? this.size - this.#private.size
  }

  /** Average weighted length of public agents; never 0, so that it can be divided by. */
  get averageLength(): number {
    return this.#corpus?.averageLength ?? Math.max(this.#publicLength, 1) / this.publicAgents
  }

  slotOf(number: number): number | undefined {
    return this.#slots.get(number)
  }

  /** Number of public agents that contain the term. */
  documentFrequency(term: number): number {
    if (this.#corpus) return this.#corpus.frequencyOf(this.terms.termOf(term) ?? '')
    return this.postings.length(term) - (this.#privateCounts.get(term) ?? 0)
  }

  /** The same for a term that need not be in the index. */
  frequencyOfTerm(term: string): number {
    if (this.#corpus) return this.#corpus.frequencyOf(term)
    const id = this.terms.find(term)
    return id === undefined ? 0 : this.documentFrequency(id)
  }

  /** Whether the agent of the slot contains the term. */
  contains(term: number, slot: number): boolean {
    return this.frequencyOf(term, slot) > 0
  }

  /** Whether a public agent contains both terms. */
  occurTogether(a: number, b: number): boolean {
    const [rarer, other] = this.postings.length(a) < this.postings.length(b) ? [a, b] : [b, a]
    for (const posting of this.postings.view(rarer)) {
      const slot = posting >>> FREQUENCY_BITS
      if (!this.#private.has(slot) && this.contains(other, slot)) return true
    }
    return false
  }

  /** Weighted frequency of a term in the text of one agent, in halves; 0 if it does not contain the term. */
  frequencyOf(term: number, slot: number): number {
    const posting = this.postings.at(term, this.postings.lowerBound(term, slot * 2 ** FREQUENCY_BITS)) ?? 0
    return posting >>> FREQUENCY_BITS === slot ? posting & MAX_FREQUENCY : 0
  }

  put(number: number, fields: TextFields, isPublic: boolean): void {
    this.remove(number)
    const slot = this.#takeSlot(number)
    const { sequence, terms, frequency, length } = this.#analyzer.analyze(fields)
    for (const term of terms) {
      this.postings.insert(term, slot * 2 ** FREQUENCY_BITS + frequency(term))
      if (!isPublic) this.#countPrivate(term, 1)
    }
    this.sequences.set(slot, sequence)
    this.#lengths[slot] = length
    if (isPublic) this.#publicLength += length
    else this.#private.add(slot)
  }

  remove(number: number): void {
    const slot = this.#slots.get(number)
    if (slot === undefined) return
    const wasPublic = !this.#private.delete(slot)
    for (const term of this.sequences.view(slot)) {
      if (term < FIRST_TERM_ID) continue
      this.#forget(this.terms.firstOf(term), slot, wasPublic)
      this.#forget(this.terms.secondOf(term), slot, wasPublic)
      this.#forget(term, slot, wasPublic)
    }
    this.sequences.clear(slot)
    if (wasPublic) this.#publicLength -= this.#lengths[slot] ?? 0
    this.#slots.delete(number)
    this.#freeSlots.push(slot)
  }

  #forget(term: number, slot: number, wasPublic: boolean): void {
    // A repeated term has lost its posting by the time it is met again.
    if (term === NO_CHARACTER || !this.#removePosting(term, slot)) return
    if (!wasPublic) this.#countPrivate(term, -1)
    if (this.postings.length(term) === 0) this.terms.release(term)
  }

  #removePosting(term: number, slot: number): boolean {
    const position = this.postings.lowerBound(term, slot * 2 ** FREQUENCY_BITS)
    const posting = this.postings.at(term, position)
    if (posting === undefined || posting >>> FREQUENCY_BITS !== slot) return false
    this.postings.removeAt(term, position)
    return true
  }

  #takeSlot(number: number): number {
    const slot = this.#freeSlots.pop() ?? this.slotCount
    this.#numbers = ensureCapacity(this.#numbers, slot + 1)
    this.#lengths = ensureCapacity(this.#lengths, slot + 1)
    this.#numbers[slot] = number
    this.#slots.set(number, slot)
    return slot
  }

  #countPrivate(term: number, change: 1 | -1): void {
    const count = (this.#privateCounts.get(term) ?? 0) + change
    if (count > 0) this.#privateCounts.set(term, count)
    else this.#privateCounts.delete(term)
  }
}
