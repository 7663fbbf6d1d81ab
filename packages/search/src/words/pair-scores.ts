import { grown } from './grown.js'
import type { ListStore } from './list-store.js'
import type { WordQuery } from './word-query.js'

/** What two words of the query found side by side add, as a share of what they count themselves. */
const PAIR_WEIGHT = 0.25

/** A query's words as the index knows them; both lists go with `WordQuery.terms`. */
export interface WeighedTerms {
  readonly numbers: readonly (number | undefined)[]
  readonly rarities: readonly number[]
}

/** What pairs of the query add that stand side by side in an agent's text, too. */
export class PairScores {
  readonly #worths = new Map<number, number>()
  /** Marks the terms that begin a pair: most terms of a text do not, and need no look at the map. */
  #beginsPair = new Uint8Array(256)
  #first: number[] = []

  /** Takes the pairs of another query. */
  setQuery({ pairs }: WordQuery, { numbers, rarities }: WeighedTerms): void {
    for (const first of this.#first) this.#beginsPair[first] = 0
    this.#first = []
    this.#worths.clear()
    for (const [a, b] of pairs) {
      const [first, second] = [numbers[a], numbers[b]]
      if (first === undefined || second === undefined) continue
      this.#worths.set(pairKey(first, second), (PAIR_WEIGHT * ((rarities[a] ?? 0) + (rarities[b] ?? 0))) / 2)
      this.#beginsPair = grown(this.#beginsPair, first + 1)
      this.#beginsPair[first] = 1
      this.#first.push(first)
    }
  }

  /** @param sequences of agents' terms; each pair counts once in the one that is asked for */
  scoreOf(sequences: ListStore, list: number): number {
    if (this.#worths.size === 0) return 0
    const beginsPair = this.#beginsPair
    const values = sequences.segmentOf(list)
    const start = sequences.startOf(list)
    const last = start + sequences.length(list) - 1
    let seen: Set<number> | undefined
    let sum = 0
    for (let i = start; i < last; i++) {
      const first = values[i] ?? 0
      if (beginsPair[first] !== 1) continue
      const key = pairKey(first, values[i + 1] ?? 0)
      const worth = this.#worths.get(key)
      if (worth === undefined || seen?.has(key)) continue
      seen ??= new Set()
      seen.add(key)
      sum += worth
    }
    return sum
  }
}

/** One number for two terms in their order; exact below 2^26 terms. */
const pairKey = (first: number, second: number): number => first * 2 ** 26 + second
