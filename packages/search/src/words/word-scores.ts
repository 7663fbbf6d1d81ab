import { MAX_POINTS, POINT_BITS } from './agent-words.js'
import { BestScores } from './best-scores.js'
import { grown } from './grown.js'
import type { StoredWords } from './stored-words.js'

/** BM25's k1: how soon further occurrences of a word stop counting. */
const SATURATION = 2
/** BM25's b: how much of an agent's length counts against it, 0 none, 1 all. */
const LENGTH_PENALTY = 0.75
/** Scores are looked through and cleared in blocks of 2⁶ slots that have any: a list of slots would cost more to make. */
const BLOCK_BITS = 6
const BLOCK_SLOTS = 2 ** BLOCK_BITS

/** What of the agents that have a word of the query is asked for. */
export interface ScoreSelection {
  /** How many of the best. */
  readonly limit: number
  readonly accept: ((number: number) => boolean) | undefined
  /** The only agents that may not be accepted; undefined: any. */
  readonly unsure: ReadonlySet<number> | undefined
  /** Whether all that are accepted are counted. */
  readonly count: boolean
}

/** Scores of all agents for one query, added up word by word; zero between queries. */
export class WordScores {
  readonly #words: StoredWords
  #scores = new Float32Array(BLOCK_SLOTS)
  /** 1 for each block of slots in which there is a score. */
  #blocks = new Uint8Array(1)
  readonly #best = new BestScores()

  constructor(words: StoredWords) {
    this.#words = words
  }

  get bytes(): number {
    return this.#scores.byteLength + this.#blocks.byteLength
  }

  of(slot: number): number {
    return this.#scores[slot] ?? 0
  }

  /** Forgets the query before. */
  begin(): void {
    for (let block = 0; block < this.#blocks.length; block++) {
      if (this.#blocks[block] === 0) continue
      this.#blocks[block] = 0
      this.#scores.fill(0, block * BLOCK_SLOTS, (block + 1) * BLOCK_SLOTS)
    }
    this.#blocks = grown(this.#blocks, Math.ceil(this.#words.slotCount / BLOCK_SLOTS))
    this.#scores = grown(this.#scores, this.#blocks.length * BLOCK_SLOTS)
  }

  /** Adds what a term of the query is worth to all agents that have it. */
  add(term: number, weight: number): void {
    const scores = this.#scores
    const blocks = this.#blocks
    const lengths = this.#words.lengths
    const base = SATURATION * (1 - LENGTH_PENALTY)
    const perLength = (SATURATION * LENGTH_PENALTY) / this.#words.meanLength
    const postings = this.#words.postings.view(term)
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] ?? 0
      const slot = posting >>> POINT_BITS
      const occurrences = (posting & MAX_POINTS) / 2
      const worth = (weight * occurrences) / (occurrences + base + perLength * (lengths[slot] ?? 0))
      scores[slot] = (scores[slot] ?? 0) + worth
      blocks[slot >>> BLOCK_BITS] = 1
    }
  }

  /** Slots of the best, best first, then by number; and how many agents were accepted, if that is asked. */
  select({ limit, accept, unsure, count }: ScoreSelection): { slots: number[]; total: number } {
    const scores = this.#scores
    const numbers = this.#words.numbers
    const best = this.#best
    best.begin(Math.min(limit, this.#words.size), numbers)
    // Where few may be refused, to count those is less than to ask about all.
    const isCountedApart = count && (!accept || unsure !== undefined)
    const isEachAsked = count && !isCountedApart
    let floor = best.floor
    let total = isCountedApart ? this.#countScored() - this.#countRefused(accept, unsure) : 0
    for (let block = 0; block < this.#blocks.length; block++) {
      if (this.#blocks[block] === 0) continue
      const end = (block + 1) * BLOCK_SLOTS
      for (let slot = nextFrom(scores, block * BLOCK_SLOTS, end, isEachAsked ? 0 : floor); slot < end; ) {
        if (!accept || accept(numbers[slot] ?? 0)) {
          if (isEachAsked) total++
          if ((scores[slot] ?? 0) >= floor) best.add(slot, scores[slot] ?? 0)
          floor = best.floor
        }
        slot = nextFrom(scores, slot + 1, end, isEachAsked ? 0 : floor)
      }
    }
    return { slots: best.take(), total }
  }

  #countScored(): number {
    const bits = new Int32Array(this.#scores.buffer)
    let count = 0
    for (let block = 0; block < this.#blocks.length; block++) {
      if (this.#blocks[block] === 0) continue
      const end = (block + 1) * BLOCK_SLOTS
      // 1 for what is not zero, without a branch: which slots have a score cannot be foreseen.
      for (let slot = block * BLOCK_SLOTS; slot < end; slot++) count += (0 - (bits[slot] ?? 0)) >>> 31
    }
    return count
  }

  #countRefused(accept: ScoreSelection['accept'], unsure: ReadonlySet<number> = new Set()): number {
    let count = 0
    for (const number of unsure) {
      const slot = this.#words.slotOf(number)
      if (slot !== undefined && this.of(slot) > 0 && !accept?.(number)) count++
    }
    return count
  }
}

/** The first slot with a score that is not below the floor; zero is no score. */
function nextFrom(scores: Float32Array, from: number, end: number, floor: number): number {
  const least = Math.max(floor, Number.MIN_VALUE)
  for (let slot = from; slot < end; slot++) if ((scores[slot] ?? 0) >= least) return slot
  return end
}
