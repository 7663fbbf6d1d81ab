import { FIRST_TERM } from './agent-words.js'
import { PairScores, type WeighedTerms } from './pair-scores.js'
import { StoredWords } from './stored-words.js'
import { FIELDS, type Field, type TextFields } from './text-fields.js'
import { parseWordQuery, type WordQuery } from './word-query.js'
import { WordScores } from './word-scores.js'

/**
 * So many of the best are looked at for words side by side, however many are asked for: so a longer list begins with the
 * shorter one.
 */
const PAIR_WINDOW = 150
/** A smaller directory counts as one of this size, else every word of it would seem common. */
const MIN_AGENTS = 200

/** An agent found by words. */
export interface WordHit {
  readonly number: number
  /** Sum over the words found: rarity, about 0 to 1, times saturation, 0 to 1; words side by side add to it. */
  readonly score: number
}

export interface WordResult {
  /** Best first, then in order of registration. */
  readonly hits: readonly WordHit[]
  /** What an agent would score that has every word of the query beyond saturation. */
  readonly best: number
  /** How many are accepted that have at least one word of the query, if `count` was asked for; else 0. */
  readonly total: number
}

export interface WordSearchOptions {
  /** However many: the first hits are the same. */
  limit: number
  /** A hard filter: the result is that of filtering first. */
  accept?: (number: number) => boolean
  /** The only agents that the filter may refuse, if that is known: then it is not asked about most of the others. */
  unsure?: ReadonlySet<number> | undefined
  /** Whether `total` is wanted: then every agent with a hit is put to the filter, or every one that is `unsure`. */
  count?: boolean
  /** Agents whose score is wanted though they may not be among the best (found by meaning, say). */
  also?: Iterable<number>
}

/** A word of the query that an agent has, and where. */
export interface WordMatch {
  readonly word: string
  readonly fields: readonly Field[]
}

/** Finds agents by the words of a query. */
export interface WordIndex {
  readonly size: number
  /** Bytes of the typed arrays; the dictionary of terms comes on top. */
  readonly bytes: number
  readonly termCount: number
  /**
   * Adds or replaces; searchable when it returns. Agents that are not `open` to everybody do not count when it is asked
   * how rare a word is, or how long texts are: a score would tell strangers what they say.
   */
  put(number: number, fields: TextFields, open?: boolean): void
  remove(number: number): void
  search(query: string | WordQuery, options: WordSearchOptions): WordResult
  /** Which words of the query the agent has, and where. */
  matches(query: string | WordQuery, number: number): WordMatch[]
  /** The agent's terms: what `likeness` compares. */
  termsOf(number: number): ReadonlySet<number>
}

/** BM25F over typed arrays; an agent is added, replaced or removed without rebuilding anything. */
export function createWordIndex(): WordIndex {
  const words = new StoredWords()
  const scores = new WordScores(words)
  const pairs = new PairScores()

  /**
   * How rare a term is: near 0 if all agents have it, 1 if one of `MIN_AGENTS` does. In a larger directory rare words
   * tell more, but less than their logarithm says: the more agents, the more words are met by chance.
   */
  const rarity = (term: number | undefined): number => {
    const found = term === undefined ? 0 : words.openAgentsWith(term)
    const agents = Math.max(words.openAgents, MIN_AGENTS)
    const unit = Math.sqrt(Math.log(1 + agents) * Math.log(1 + MIN_AGENTS))
    return Math.log(1 + (agents - found + 0.5) / (found + 0.5)) / unit
  }

  const weigh = ({ terms }: WordQuery): WeighedTerms => {
    const numbers = terms.map(({ term }) => words.terms.find(term))
    return { numbers, rarities: numbers.map(rarity) }
  }

  const hitsOf = (slots: readonly number[], { limit, also = [] }: WordSearchOptions): WordHit[] => {
    const wanted = new Set(also)
    const hitOf = (slot: number, rank: number): WordHit => {
      const number = words.numbers[slot] ?? 0
      const hasPairs = rank < PAIR_WINDOW || wanted.has(number)
      const extra = hasPairs ? pairs.scoreOf(words.sequences, slot) : 0
      return { number, score: scores.of(slot) + extra }
    }
    const hits = slots.map(hitOf).sort(byScore)
    hits.length = Math.min(hits.length, limit)
    const found = new Set(hits.map(({ number }) => number))
    for (const number of wanted) {
      const slot = found.has(number) ? undefined : words.slotOf(number)
      if (slot !== undefined) hits.push(hitOf(slot, 0))
    }
    return hits.sort(byScore)
  }

  const search = (asked: string | WordQuery, options: WordSearchOptions): WordResult => {
    const { limit, accept, unsure, count = false } = options
    const query = typeof asked === 'string' ? parseWordQuery(asked) : asked
    const weighed = weigh(query)
    const weights = query.terms.map(({ weight }, i) => weight * (weighed.rarities[i] ?? 0))
    scores.begin()
    for (const [i, term] of weighed.numbers.entries()) if (term !== undefined) scores.add(term, weights[i] ?? 0)
    const { slots, total } = scores.select({ limit: Math.max(limit, PAIR_WINDOW), accept, unsure, count })
    pairs.setQuery(query, weighed)
    return { hits: hitsOf(slots, options), total, best: weights.reduce((sum, weight) => sum + weight, 0) }
  }

  const matches = (asked: string | WordQuery, number: number): WordMatch[] => {
    const slot = words.slotOf(number)
    if (slot === undefined) return []
    const query = typeof asked === 'string' ? parseWordQuery(asked) : asked
    const places = new Map(
      query.terms.map(({ term, word }) => [words.terms.find(term), { word, fields: new Set<Field>() }]),
    )
    let field: Field = 'title'
    for (const id of words.sequences.view(slot)) {
      if (id < FIRST_TERM) field = FIELDS[id] ?? field
      else places.get(id)?.fields.add(field)
    }
    return [...places.values()].flatMap(({ word, fields }) => (fields.size > 0 ? [{ word, fields: [...fields] }] : []))
  }

  const termsOf = (number: number): Set<number> => {
    const slot = words.slotOf(number)
    const terms = new Set(slot === undefined ? [] : words.sequences.view(slot))
    for (let mark = 0; mark < FIRST_TERM; mark++) terms.delete(mark)
    return terms
  }

  return {
    get size() {
      return words.size
    },
    get bytes() {
      return words.bytes + scores.bytes
    },
    get termCount() {
      return words.terms.size
    },
    put: (number, fields, open = true) => words.put(number, fields, open),
    remove: (number) => words.remove(number),
    search,
    matches,
    termsOf,
  }
}

const byScore = (a: WordHit, b: WordHit): number => b.score - a.score || a.number - b.number
