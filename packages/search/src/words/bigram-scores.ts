import { ensureCapacity } from '../ensure-capacity.js'
import type { ListStore } from './list-store.js'
import type { WordQuery } from './word-query.js'

/** Bonus for two adjacent query terms that are also adjacent in the agent's text, as a share of their mean IDF. */
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

  setQuery({ bigrams }: WordQuery, { ids, idfs }: ResolvedTerms): void {
    for (const start of this.#starts) this.#startsBigram[start] = 0
    this.#starts = []
    this.#bonuses.clear()
    for (const [a, b] of bigrams) {
      const [first, second] = [ids[a], ids[b]]
      if (first === undefined || second === undefined) continue
      this.#bonuses.set(bigramKey(first, second), (BIGRAM_WEIGHT * ((idfs[a] ?? 0) + (idfs[b] ?? 0))) / 2)
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
