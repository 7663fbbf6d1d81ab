import { ensureCapacity } from '../ensure-capacity.js'
import type { NumberSet } from '../number-set.js'
import { type CompareTies, TopK } from '../top-k.js'
import { FREQUENCY_BITS, MAX_FREQUENCY } from './analyzer.js'
import type { InvertedIndex } from './inverted-index.js'
import type { ListStore } from './list-store.js'
import type { WordQuery } from './word-query.js'

/** BM25's k1: how quickly further occurrences of a term stop counting. */
const K1 = 2
/** BM25's b: how much long texts are penalised, 0 not at all, 1 in full. */
const B = 0.75
/** Scores are scanned and cleared in blocks of 2⁶ slots that contain any; maintaining a list of slots would cost more. */
const BLOCK_BITS = 6
const BLOCK_SLOTS = 2 ** BLOCK_BITS

export interface TopSelection {
  /** How many of the best to return. */
  readonly limit: number
  /** Undefined: all agents. */
  readonly accepted: NumberSet | undefined
  /** Whether to count all accepted agents that have a score. */
  readonly count: boolean
}

/** A term that agents contain, and its IDF times its weight in the query. */
export interface WeighedTerm {
  readonly id: number
  readonly weight: number
}

/** BM25's saturation of a weighted frequency, 0 to 1. */
export const saturated = (frequency: number, length: number, averageLength: number): number =>
  frequency / (frequency + K1 * (1 - B) + ((K1 * B) / averageLength) * length)

/** Accumulates the BM25F scores of all agents for one query, term at a time. */
export class ScoreAccumulator {
  readonly #index: InvertedIndex
  #scores = new Float32Array(BLOCK_SLOTS)
  /** 1 for each block of slots that contains a score. */
  #blocks = new Uint8Array(1)
  /** Of each slot, what the current group of terms has contributed so far; zero between groups. */
  #contributions = new Float32Array(0)
  readonly #top = new TopK()
  readonly #byNumber: CompareTies

  constructor(index: InvertedIndex) {
    this.#index = index
    this.#byNumber = (a, b) => (index.numbers[a] ?? 0) - (index.numbers[b] ?? 0)
  }

  get bytes(): number {
    return this.#scores.byteLength + this.#contributions.byteLength + this.#blocks.byteLength
  }

  scoreOf(slot: number): number {
    return this.#scores[slot] ?? 0
  }

  /** What a group of terms contributes to the score of one agent. */
  contributionOf(terms: readonly WeighedTerm[], slot: number): number {
    const { averageLength, lengths } = this.#index
    const saturation = K1 * (1 - B) + ((K1 * B) / averageLength) * (lengths[slot] ?? 0)
    let best = 0
    for (const { id, weight } of terms) {
      const frequency = this.#index.frequencyOf(id, slot) / 2
      best = Math.max(best, (weight * frequency) / (frequency + saturation))
    }
    return best
  }

  /** Clears the scores of the previous query. */
  reset(): void {
    for (let block = 0; block < this.#blocks.length; block++) {
      if (this.#blocks[block] === 0) continue
      this.#blocks[block] = 0
      this.#scores.fill(0, block * BLOCK_SLOTS, (block + 1) * BLOCK_SLOTS)
    }
    this.#blocks = ensureCapacity(this.#blocks, Math.ceil(this.#index.slotCount / BLOCK_SLOTS))
    this.#scores = ensureCapacity(this.#scores, this.#blocks.length * BLOCK_SLOTS)
  }

  /** Adds the contribution of a group of terms to the scores of all agents that contain one: the best term counts. */
  addGroup(terms: readonly WeighedTerm[]): void {
    if (terms.length > 1) this.#contributions = ensureCapacity(this.#contributions, this.#scores.length)
    const contributions = terms.length > 1 ? this.#contributions : undefined
    for (const { id, weight } of terms) this.#addTerm(id, weight, contributions)
    if (!contributions) return
    for (const { id } of terms) {
      for (const posting of this.#index.postings.view(id)) contributions[posting >>> FREQUENCY_BITS] = 0
    }
  }

  #addTerm(term: number, weight: number, contributions: Float32Array | undefined): void {
    const scores = this.#scores
    const blocks = this.#blocks
    const lengths = this.#index.lengths
    const base = K1 * (1 - B)
    const perLength = (K1 * B) / this.#index.averageLength
    const postings = this.#index.postings.view(term)
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] ?? 0
      const slot = posting >>> FREQUENCY_BITS
      const frequency = (posting & MAX_FREQUENCY) / 2
      const contribution = (weight * frequency) / (frequency + base + perLength * (lengths[slot] ?? 0))
      if (contributions) {
        const before = contributions[slot] ?? 0
        if (contribution <= before) continue
        contributions[slot] = contribution
        scores[slot] = (scores[slot] ?? 0) + contribution - before
      } else scores[slot] = (scores[slot] ?? 0) + contribution
      blocks[slot >>> BLOCK_BITS] = 1
    }
  }

  /** The slots of the best agents, best first, ties by number; and the total if it is to be counted. */
  selectTop({ limit, accepted, count }: TopSelection): { slots: number[]; total: number } {
    const scores = this.#scores
    const numbers = this.#index.numbers
    const top = this.#top
    top.reset(Math.min(limit, this.#index.size), this.#byNumber)
    let threshold = top.threshold
    for (let block = 0; block < this.#blocks.length; block++) {
      if (this.#blocks[block] === 0) continue
      const end = (block + 1) * BLOCK_SLOTS
      for (let slot = nextSlot(scores, block * BLOCK_SLOTS, end, threshold); slot < end; ) {
        if (accepted?.has(numbers[slot] ?? 0) ?? true) {
          top.add(slot, scores[slot] ?? 0)
          threshold = top.threshold
        }
        slot = nextSlot(scores, slot + 1, end, threshold)
      }
    }
    return { slots: top.sorted(), total: count ? this.#countScored(accepted) : 0 }
  }

  /** The slots of all agents with a score. */
  *scored(): Generator<number> {
    for (let block = 0; block < this.#blocks.length; block++) {
      if (this.#blocks[block] === 0) continue
      const end = (block + 1) * BLOCK_SLOTS
      for (let slot = nextSlot(this.#scores, block * BLOCK_SLOTS, end, 0); slot < end; ) {
        yield slot
        slot = nextSlot(this.#scores, slot + 1, end, 0)
      }
    }
  }

  #countScored(accepted: NumberSet | undefined): number {
    const bits = new Int32Array(this.#scores.buffer)
    const numbers = this.#index.numbers
    let count = 0
    for (let block = 0; block < this.#blocks.length; block++) {
      if (this.#blocks[block] === 0) continue
      const end = (block + 1) * BLOCK_SLOTS
      for (let slot = block * BLOCK_SLOTS; slot < end; slot++) {
        // 1 if the score is not zero. Branch-free, because the branch would be unpredictable.
        const isScored = (0 - (bits[slot] ?? 0)) >>> 31
        count += accepted ? isScored & accepted.bit(numbers[slot] ?? 0) : isScored
      }
    }
    return count
  }
}

/** The first slot from `from` on whose score is positive and reaches the threshold; `end` if there is none. */
function nextSlot(scores: Float32Array, from: number, end: number, threshold: number): number {
  const least = Math.max(threshold, Number.MIN_VALUE)
  for (let slot = from; slot < end; slot++) if ((scores[slot] ?? 0) >= least) return slot
  return end
}

/** Bonus for a bigram of the query whose terms are adjacent in the agent's text, as a share of their mean IDF. */
const BIGRAM_WEIGHT = 0.25

/** Ids and IDFs of the query's terms; both lists are parallel to `WordQuery.terms`. */
export interface ResolvedTerms {
  /** Undefined for a term that no agent contains. */
  readonly ids: readonly (number | undefined)[]
  readonly idfs: readonly number[]
}

/** Scores agents for containing bigrams of the query. */
export class BigramScores {
  readonly #bonuses = new Map<number, number>()
  /** Marks term ids that start a bigram: most terms of a text do not, and the map lookup can be skipped. */
  #startsBigram = new Uint8Array(256)
  #starts: number[] = []

  setQuery({ bigrams, terms }: WordQuery, { ids, idfs }: ResolvedTerms): void {
    for (const start of this.#starts) this.#startsBigram[start] = 0
    this.#starts = []
    this.#bonuses.clear()
    for (const [a, b] of bigrams) {
      const [first, second] = [ids[a], ids[b]]
      if (first === undefined || second === undefined) continue
      const weight = BIGRAM_WEIGHT * Math.min(1, terms[a]?.weight ?? 1, terms[b]?.weight ?? 1)
      this.#bonuses.set(bigramKey(first, second), (weight * ((idfs[a] ?? 0) + (idfs[b] ?? 0))) / 2)
      this.#startsBigram = ensureCapacity(this.#startsBigram, first + 1)
      this.#startsBigram[first] = 1
      this.#starts.push(first)
    }
  }

  /** Sum of the bonuses for the bigrams that a term sequence contains, each counted once. */
  scoreOf(sequences: ListStore, list: number): number {
    if (this.#bonuses.size === 0) return 0
    const startsBigram = this.#startsBigram
    const values = sequences.segmentOf(list)
    const start = sequences.startOf(list)
    const last = start + sequences.length(list) - 1
    let seen: Set<number> | undefined
    let sum = 0
    for (let i = start; i < last; i++) {
      const first = values[i] ?? 0
      if (startsBigram[first] !== 1) continue
      const key = bigramKey(first, values[i + 1] ?? 0)
      const bonus = this.#bonuses.get(key)
      if (bonus === undefined || seen?.has(key)) continue
      seen ??= new Set()
      seen.add(key)
      sum += bonus
    }
    return sum
  }
}

/** Two term ids as one number; exact for ids below 2^26. */
const bigramKey = (first: number, second: number): number => first * 2 ** 26 + second
