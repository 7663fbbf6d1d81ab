import { ensureCapacity } from '../ensure-capacity.js'
import {
  createAnalyzer,
  FIRST_TERM_ID,
  FREQUENCY_BITS,
  MAX_FREQUENCY,
  NO_CHARACTER,
  TermDictionary,
} from './analyzer.js'
import { ListStore } from './list-store.js'
import type { TextFields } from './text-fields.js'

/** What scores need to know about all public agents, if the index holds only some of them. */
export interface CorpusStatistics {
  /** Number of public agents. */
  readonly agents: number
  /** Average weighted length of their texts; not 0. */
  readonly averageLength: number
  /** Number of public agents that contain a term. */
  frequencyOf(term: string): number
}

/**
 * Posting lists and term sequences of all agents. Each agent has a slot, a small dense id that scores are accumulated
 * by; slots and memory of removed agents are reused.
 */
export class InvertedIndex {
  readonly terms = new TermDictionary(FIRST_TERM_ID)
  /** For each term: slot and weighted frequency of every agent that contains it, by slot. */
  readonly postings = new ListStore()
  /** Forward index: for each slot the agent's terms in text order, for removal and for bigrams. */
  readonly sequences = new ListStore()
  readonly #analyzer = createAnalyzer(this.terms)
  readonly #slots = new Map<number, number>()
  readonly #freeSlots: number[] = []
  #numbers = new Float64Array(256)
  #lengths = new Float32Array(256)
  /** Sum of the lengths of public agents. */
  #publicLength = 0
  /** Slots of private agents, and how many of them contain each term. */
  readonly #private = new Set<number>()
  readonly #privateCounts = new Map<number, number>()
  readonly #corpus: CorpusStatistics | undefined

  /** @param corpus default: the agents of this index */
  constructor(corpus?: CorpusStatistics) {
    this.#corpus = corpus
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
