import type { NumberSet } from '../number-set.js'
import { byScore, type Scored } from '../top-k.js'
import { ActionScores } from './action-scores.js'
import { FIRST_TERM_ID, NO_CHARACTER } from './analyzer.js'
import { InvertedIndex, type InvertedIndexOptions, type InvertedIndexState } from './inverted-index.js'
import { BigramScores, type ResolvedTerms, ScoreAccumulator, saturated, type WeighedTerm } from './score-accumulator.js'
import { FIELDS, type Field, type TextFields } from './text-fields.js'
import { charactersOfPair, tokenize } from './tokenize.js'
import { parseWordQuery, type WordQuery } from './word-query.js'

/** How many of the best get bonuses for bigrams, actions and names, whatever the limit, so that a longer result starts with the shorter one. */
const BONUS_WINDOW = 150
/** IDF is computed as if there were at least this many agents; in a smaller directory every term would seem common. */
const MIN_AGENTS = 200
/** Bonus for an agent whose whole name is in the query. */
const NAME_WEIGHT = 0.2

/** An agent found by words. */
export interface WordHit extends Scored {
  /** BM25F score plus bonuses for bigrams, the action and the name. Each term contributes its IDF, about 0 to 1, times a saturation of 0 to 1. */
  readonly score: number
}

/** The result of a word search. */
export interface WordResult {
  /** Best first, ties in registration order. */
  readonly hits: readonly WordHit[]
  /** Upper bound of the BM25F score: every term of the query at full saturation. */
  readonly maxScore: number
  /** Number of accepted agents that contain a term of the query; 0 unless `count` is set. */
  readonly total: number
}

/** Limit and filter of a word search. */
export interface WordSearchOptions {
  /** Maximum number of hits, not counting `include`. A higher limit does not change the first hits. */
  limit: number
  /** A hard filter, applied before the best are taken. */
  accepted?: NumberSet
  /** Whether to compute `total`. */
  count?: boolean
  /** Agents to score even if they are not among the best, such as those found by their embedding. */
  include?: Iterable<number>
}

/** A word of the query that an agent contains, and in which fields. */
export interface WordMatch {
  readonly word: string
  /** What the agent contains instead: the meaning of the word in English. */
  readonly english?: string
  readonly fields: readonly Field[]
}

/** A term that an agent contains, as the index has it. */
export interface IndexedTerm {
  readonly term: string
  /** What the term contributes at most to the score of this agent, as a share of its IDF: 0 to 1. */
  readonly impact: number
}

/** A full-text index over agents. */
export interface WordIndex {
  readonly size: number
  /** Memory of the typed arrays; the term dictionary is not included. */
  readonly bytes: number
  readonly termCount: number
  /** Everything in the index, to be saved; valid until the next change. */
  readonly state: InvertedIndexState
  /**
   * Adds or replaces an agent. Agents that are not public do not count towards document frequencies and average length:
   * the scores of others would reveal what they contain. Default: public.
   */
  put(number: number, fields: TextFields, isPublic?: boolean): void
  remove(number: number): void
  search(query: string | WordQuery, options: WordSearchOptions): WordResult
  /** The agents that contain a term of the query, in no particular order. */
  matching(query: WordQuery, accepted: NumberSet): number[]
  /** The words of the query that the agent contains. */
  matches(query: string | WordQuery, number: number): WordMatch[]
  /** Number of public agents that contain the word, in any form that has the same stem. */
  frequencyOf(word: string): number
  /** Whether an agent contains the word, in any such form. */
  contains(number: number, word: string): boolean
  /** Whether a public agent contains both words. */
  occurTogether(a: string, b: string): boolean
  /** What each word of the query contributes to the score of an agent; without bonuses. */
  contributions(query: WordQuery): (number: number) => readonly number[]
  /** The agent's distinct term ids. */
  termsOf(number: number): ReadonlySet<number>
  /** The agent's distinct terms, with their impact in texts of average length `averageLength`. */
  indexedTerms(number: number, averageLength: number): IndexedTerm[]
  /** Weighted length of the agent's text. */
  lengthOf(number: number): number
}

interface WeighedGroup {
  /** Those that agents contain. */
  readonly terms: readonly WeighedTerm[]
  readonly max: number
  /** What the group would score if an agent contained a term that none contains. */
  readonly unknown: number
}

/**
 * Inverse document frequency, scaled to about 1 for a term of one agent in `MIN_AGENTS`, and about 0 for a term of all
 * agents. In a larger directory it grows with the square root of the usual logarithm: the more agents there are, the more
 * terms match by chance.
 */
export function inverseDocumentFrequency(frequency: number, publicAgents: number): number {
  const agents = Math.max(publicAgents, MIN_AGENTS)
  const unit = Math.sqrt(Math.log(1 + agents) * Math.log(1 + MIN_AGENTS))
  return Math.log(1 + (agents - frequency + 0.5) / (frequency + 0.5)) / unit
}

/** Creates a BM25F index over typed arrays. Agents are added, replaced and removed without a rebuild. */
export function createWordIndex(options?: InvertedIndexOptions): WordIndex {
  const index = new InvertedIndex(options)
  const scores = new ScoreAccumulator(index)
  const bigramScores = new BigramScores()
  const actionScores = new ActionScores()

  const idf = (id: number): number => inverseDocumentFrequency(index.documentFrequency(id), index.publicAgents)

  const resolve = ({ terms }: WordQuery): ResolvedTerms => {
    return {
      ids: terms.map(({ term }) => index.terms.find(term)),
      idfs: terms.map(({ term }) => inverseDocumentFrequency(index.frequencyOfTerm(term), index.publicAgents)),
    }
  }

  /** The terms of each group, and the most that they can score. */
  const weigh = ({ terms }: WordQuery, { ids, idfs }: ResolvedTerms): WeighedGroup[] => {
    const groups: WeighedGroup[] = []
    for (const [i, { term, group, weight, isOptional }] of terms.entries()) {
      const { terms: known, max, unknown } = groups[group] ?? { terms: [], max: 0, unknown: 0 }
      const [id, score] = [ids[i], weight * (idfs[i] ?? 0)]
      // A term that only private agents have counts like one that nobody has: scores would reveal it.
      const isPublic = index.frequencyOfTerm(term) > 0
      groups[group] = {
        terms: id === undefined ? known : [...known, { id, weight: score }],
        max: isPublic ? Math.max(max, score) : max,
        unknown: isPublic || isOptional ? unknown : Math.max(unknown, score),
      }
    }
    return groups
  }

  /** The name is the first text of an agent: the share of it, weighted by IDF, that the query contains, squared. */
  const nameBonus = (slot: number, queryTerms: ReadonlySet<number | undefined>): number => {
    let [total, shared] = [0, 0]
    const sequence = index.sequences.view(slot)
    for (let i = 1; i < sequence.length; i++) {
      const id = sequence[i] ?? 0
      if (id < FIRST_TERM_ID) break
      const weight = idf(id)
      total += weight
      if (queryTerms.has(id)) shared += weight
    }
    return total === 0 ? 0 : NAME_WEIGHT * (shared / total) ** 2
  }

  const hitsOf = (
    slots: readonly number[],
    queryTerms: ReadonlySet<number | undefined>,
    { limit, include = [] }: WordSearchOptions,
  ): WordHit[] => {
    const included = new Set(include)
    const hitOf = (slot: number, rank: number): WordHit => {
      const number = index.numbers[slot] ?? 0
      const score = scores.scoreOf(slot)
      const hasBonuses = score > 0 && (rank < BONUS_WINDOW || included.has(number))
      if (!hasBonuses) return { number, score }
      const pairs = bigramScores.scoreOf(index.sequences, slot) + actionScores.scoreOf(index.sequences, slot)
      return { number, score: score + pairs + nameBonus(slot, queryTerms) }
    }
    const hits = slots.map(hitOf).sort(byScore)
    hits.length = Math.min(hits.length, limit)
    const found = new Set(hits.map(({ number }) => number))
    for (const number of included) {
      const slot = found.has(number) ? undefined : index.slotOf(number)
      if (slot !== undefined) hits.push(hitOf(slot, 0))
    }
    return hits.sort(byScore)
  }

  /** Leaves the score of every agent in `scores`. */
  const score = (query: WordQuery, resolved: ResolvedTerms): WeighedGroup[] => {
    const groups = weigh(query, resolved)
    scores.reset()
    for (const { terms } of groups) scores.addGroup(terms)
    return groups
  }

  const search = (text: string | WordQuery, options: WordSearchOptions): WordResult => {
    const { limit, accepted, count = false } = options
    const query = typeof text === 'string' ? parseWordQuery(text) : text
    const resolved = resolve(query)
    const groups = score(query, resolved)
    const { slots, total } = scores.selectTop({ limit: Math.max(limit, BONUS_WINDOW), accepted, count })
    bigramScores.setQuery(query, resolved)
    actionScores.setQuery(query, resolved)
    return {
      hits: hitsOf(slots, new Set(resolved.ids), options),
      total,
      maxScore: groups.reduce((sum, { max, unknown }) => sum + (max > 0 ? max : unknown), 0),
    }
  }

  const matches = (text: string | WordQuery, number: number): WordMatch[] => {
    const slot = index.slotOf(number)
    if (slot === undefined) return []
    const query = typeof text === 'string' ? parseWordQuery(text) : text
    /** The terms of one meaning, such as "weather forecast", are one match. */
    const matched = new Map<string, { word: string; english?: string; fields: Set<Field> }>()
    const characters = new Set<string>()
    const byTerm = new Map<number | undefined, { fields: Set<Field> }>()
    for (const { term, word, english, isCharacter } of query.terms) {
      if (isCharacter) characters.add(term)
      const key = english === undefined ? term : `${word}\t${english}`
      const match = matched.get(key) ?? { word, ...(english !== undefined && { english }), fields: new Set<Field>() }
      matched.set(key, match)
      byTerm.set(index.terms.find(term), match)
    }
    let field: Field = 'title'
    for (const id of index.sequences.view(slot)) {
      if (id < FIRST_TERM_ID) field = FIELDS[id] ?? field
      else
        for (const each of [id, index.terms.firstOf(id), index.terms.secondOf(id)]) byTerm.get(each)?.fields.add(field)
    }
    const found = [...matched].filter(([, { fields }]) => fields.size > 0)
    /** A character is evidence only where no pair contains it. */
    const inPairs = new Set(found.flatMap(([term]) => charactersOfPair(term)))
    return found.flatMap(([term, match]) =>
      characters.has(term) && inPairs.has(term) ? [] : [{ ...match, fields: [...match.fields] }],
    )
  }

  const contributions = (query: WordQuery): ((number: number) => readonly number[]) => {
    const groups = weigh(query, resolve(query))
    return (number) => {
      const slot = index.slotOf(number)
      return slot === undefined ? [] : groups.map(({ terms }) => scores.contributionOf(terms, slot))
    }
  }

  const termsOf = (number: number): Set<number> => {
    const slot = index.slotOf(number)
    const terms = new Set(slot === undefined ? [] : index.sequences.view(slot))
    for (let marker = 0; marker < FIRST_TERM_ID; marker++) terms.delete(marker)
    return terms
  }

  const indexedTerms = (number: number, averageLength: number): IndexedTerm[] => {
    const slot = index.slotOf(number)
    if (slot === undefined) return []
    const ids = termsOf(number)
    for (const id of [...ids]) {
      for (const character of [index.terms.firstOf(id), index.terms.secondOf(id)])
        if (character !== NO_CHARACTER) ids.add(character)
    }
    const length = index.lengths[slot] ?? 0
    return Array.from(ids, (id) => ({
      term: index.terms.termOf(id) ?? '',
      impact: saturated(index.frequencyOf(id, slot) / 2, length, averageLength),
    })).filter(({ term }) => term !== '') // of a chunk of marks only, which no query contains
  }

  /** The ids of the terms of a word; a word of a script without spaces has several. */
  const idsOf = (word: string): number[] =>
    tokenize(word, { keepStopWords: true }).flatMap(({ term }) => index.terms.find(term) ?? [])

  return {
    get size() {
      return index.size
    },
    get bytes() {
      return index.bytes + scores.bytes
    },
    get termCount() {
      return index.terms.size
    },
    get state() {
      return index.state
    },
    put: (number, fields, isPublic = true) => index.put(number, fields, isPublic),
    remove: (number) => index.remove(number),
    search,
    matching(query, accepted) {
      score(query, resolve(query))
      return Array.from(scores.scored(), (slot) => index.numbers[slot] ?? 0).filter((number) => accepted.has(number))
    },
    matches,
    frequencyOf: (word) => Math.max(0, ...idsOf(word).map((id) => index.documentFrequency(id))),
    contains(number, word) {
      const slot = index.slotOf(number)
      return slot !== undefined && idsOf(word).some((id) => index.contains(id, slot))
    },
    occurTogether: (a, b) => idsOf(a).some((first) => idsOf(b).some((second) => index.occurTogether(first, second))),
    contributions,
    termsOf,
    indexedTerms,
    lengthOf: (number) => index.lengths[index.slotOf(number) ?? -1] ?? 0,
  }
}
