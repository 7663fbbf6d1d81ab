import { BestScores } from './best-scores.js'
import { grown, ListStore } from './list-store.js'
import { FIELDS, type Field, type TextFields } from './text-fields.js'
import { tokenize } from './tokenize.js'
import { parseWordQuery, type WordQuery } from './word-query.js'

/** What a word counts by the place where it stands (BM25F). In halves, so that a posting can hold the sum. */
const FIELD_WEIGHT: Readonly<Record<Field, number>> = { title: 3, description: 1, schema: 0.5, example: 1 }
/** BM25's k1: how soon further occurrences of a word stop counting. */
const SATURATION = 2
/** BM25's b: how much of an agent's length counts against it, 0 none, 1 all. */
const LENGTH_PENALTY = 0.75
/** A word said more often than this in one place is not heard again: repeating is stuffing. */
const MAX_REPEATS = 5
/** Tokens of one place that are indexed; more only pads. */
const MAX_FIELD_TOKENS = 1000
/** What two words of the query found side by side add, as a share of what they count themselves. */
const PAIR_WEIGHT = 0.25
/** Agents beyond those asked for whose neighbouring words are looked at, for they may bring them in. */
const PAIR_MARGIN = 50
/** A smaller directory counts as one of this size, else every word of it would seem common. */
const MIN_AGENTS = 200

/** Postings hold slot and half-points of weighted occurrences in 32 bits. */
const POINT_BITS = 5
const MAX_POINTS = 2 ** POINT_BITS - 1
/** Sequences hold term ids above the marks that begin a text, one mark for each place. */
const FIRST_TERM = FIELDS.length

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
  /** How many have at least one word of the query, if `count` was asked for. */
  readonly total: number
}

export interface WordSearchOptions {
  limit: number
  /** A hard filter: the result is that of filtering first. */
  accept?: (number: number) => boolean
  /** Whether `total` is wanted: then every agent with a hit is put to the filter. */
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
  const termIds = new Map<string, number>()
  const freeTerms: number[] = []
  let nextTerm = FIRST_TERM
  /** For each term: slot and points of every agent that has it, in no order. */
  const postings = new ListStore()
  /** For each slot: the agent's terms in order, so that it can be removed, and neighbours be found. */
  const sequences = new ListStore()
  const slots = new Map<number, number>()
  const freeSlots: number[] = []
  let nextSlot = 0
  let numbers = new Float64Array(256)
  let lengths = new Float32Array(256)
  /** Of the agents that are open to everybody. */
  let totalLength = 0
  /** Slots of the others, and how many of them have a term. */
  const closed = new Set<number>()
  const closedCounts = new Map<number, number>()
  /** Scores of the search at hand, zero between searches. */
  let scores = new Float32Array(256)
  let touched = new Uint32Array(256)
  /** Marks the terms that begin a pair of the query at hand, zero between searches. */
  let beginsPair = new Uint8Array(256)

  const termId = (term: string): number => {
    const known = termIds.get(term)
    if (known !== undefined) return known
    const id = freeTerms.pop() ?? nextTerm++
    termIds.set(term, id)
    termNames[id] = term
    return id
  }
  const termNames: (string | undefined)[] = []

  const forget = (id: number): void => {
    const term = termNames[id]
    if (term !== undefined) termIds.delete(term)
    termNames[id] = undefined
    freeTerms.push(id)
  }

  const takeSlot = (number: number): number => {
    const slot = freeSlots.pop() ?? nextSlot++
    numbers = grown(numbers, slot + 1)
    lengths = grown(lengths, slot + 1)
    scores = grown(scores, slot + 1)
    touched = grown(touched, slot + 1)
    numbers[slot] = number
    slots.set(number, slot)
    return slot
  }

  const remove = (number: number): void => {
    const slot = slots.get(number)
    if (slot === undefined) return
    const ids = new Set(sequences.view(slot))
    const wasOpen = !closed.delete(slot)
    for (const id of ids) {
      if (id < FIRST_TERM) continue
      if (!wasOpen) countClosed(id, -1)
      const list = postings.view(id)
      const position = list.findIndex((posting) => posting >>> POINT_BITS === slot)
      if (position >= 0) postings.removeAt(id, position)
      if (postings.length(id) === 0) forget(id)
    }
    sequences.clear(slot)
    if (wasOpen) totalLength -= lengths[slot] ?? 0
    slots.delete(number)
    freeSlots.push(slot)
  }

  const countClosed = (id: number, change: 1 | -1): void => {
    const count = (closedCounts.get(id) ?? 0) + change
    if (count > 0) closedCounts.set(id, count)
    else closedCounts.delete(id)
  }

  const put = (number: number, fields: TextFields, open = true): void => {
    remove(number)
    const slot = takeSlot(number)
    const sequence: number[] = []
    const points = new Map<number, number>()
    let length = 0
    FIELDS.forEach((field, mark) => {
      const counts = new Map<number, number>()
      const end = sequence.length + MAX_FIELD_TOKENS
      fields[field].forEach((text, i) => {
        if (sequence.length >= end) return
        sequence.push(mark)
        // The first text of the title is the name.
        for (const { term } of tokenize(text, { keepStopWords: field === 'title' && i === 0 })) {
          if (sequence.length >= end) break
          const id = termId(term)
          sequence.push(id)
          counts.set(id, (counts.get(id) ?? 0) + 1)
          length += FIELD_WEIGHT[field]
        }
      })
      for (const [id, count] of counts) {
        const more = 2 * FIELD_WEIGHT[field] * Math.min(count, MAX_REPEATS)
        points.set(id, Math.min((points.get(id) ?? 0) + more, MAX_POINTS))
      }
    })
    for (const [id, sum] of points) {
      postings.push(id, slot * 2 ** POINT_BITS + sum)
      if (!open) countClosed(id, 1)
    }
    if (!open) closed.add(slot)
    sequences.set(slot, sequence)
    lengths[slot] = length
    if (open) totalLength += length
  }

  /**
   * How rare a term is: near 0 if all agents have it, 1 if one of `MIN_AGENTS` does. In a larger directory rare words
   * tell more, but less than their logarithm says: the more agents, the more words are met by chance.
   */
  const rarity = (id: number | undefined): number => {
    const found = id === undefined ? 0 : postings.length(id) - (closedCounts.get(id) ?? 0)
    const agents = Math.max(slots.size - closed.size, MIN_AGENTS)
    const unit = Math.sqrt(Math.log(1 + agents) * Math.log(1 + MIN_AGENTS))
    return Math.log(1 + (agents - found + 0.5) / (found + 0.5)) / unit
  }

  const idsOf = ({ terms }: WordQuery): (number | undefined)[] => terms.map(({ term }) => termIds.get(term))

  /** Adds up the scores of all agents that have a term of the query; returns how many were touched. */
  const addScores = (query: WordQuery, ids: readonly (number | undefined)[], rarities: readonly number[]): number => {
    const base = SATURATION * (1 - LENGTH_PENALTY)
    const perLength = (SATURATION * LENGTH_PENALTY * (slots.size - closed.size)) / Math.max(totalLength, 1)
    let count = 0
    ids.forEach((id, i) => {
      if (id === undefined) return
      const weight = (query.terms[i]?.weight ?? 0) * (rarities[i] ?? 0)
      const list = postings.view(id)
      for (let at = 0; at < list.length; at++) {
        const posting = list[at] ?? 0
        const slot = posting >>> POINT_BITS
        const occurrences = (posting & MAX_POINTS) / 2
        const before = scores[slot] ?? 0
        if (before === 0) touched[count++] = slot
        scores[slot] = before + (weight * occurrences) / (occurrences + base + perLength * (lengths[slot] ?? 0))
      }
    })
    return count
  }

  /** What pairs of the query add that stand side by side in the agent's text, too. */
  const pairScore = (slot: number, pairs: ReadonlyMap<number, number>): number => {
    if (pairs.size === 0) return 0
    const sequence = sequences.view(slot)
    const seen = new Set<number>()
    let sum = 0
    for (let i = 1; i < sequence.length; i++) {
      const first = sequence[i - 1] ?? 0
      if (beginsPair[first] !== 1) continue
      const key = pairKey(first, sequence[i] ?? 0)
      const worth = pairs.get(key)
      if (worth === undefined || seen.has(key)) continue
      seen.add(key)
      sum += worth
    }
    return sum
  }

  const pairsOf = (query: WordQuery, ids: readonly (number | undefined)[], rarities: readonly number[]) => {
    const worths = new Map<number, number>()
    for (const [a, b] of query.pairs) {
      const [first, second] = [ids[a], ids[b]]
      if (first === undefined || second === undefined) continue
      worths.set(pairKey(first, second), (PAIR_WEIGHT * ((rarities[a] ?? 0) + (rarities[b] ?? 0))) / 2)
    }
    return worths
  }

  const markPairs = (query: WordQuery, ids: readonly (number | undefined)[], mark: 0 | 1): void => {
    beginsPair = grown(beginsPair, nextTerm)
    for (const [first] of query.pairs) {
      const id = ids[first]
      if (id !== undefined) beginsPair[id] = mark
    }
  }

  const search = (
    asked: string | WordQuery,
    { limit, accept, count: isCounted = false, also = [] }: WordSearchOptions,
  ): WordResult => {
    const query = typeof asked === 'string' ? parseWordQuery(asked) : asked
    const ids = idsOf(query)
    const rarities = ids.map(rarity)
    const count = addScores(query, ids, rarities)
    const best = new BestScores(limit + PAIR_MARGIN)
    let total = 0
    for (let i = 0; i < count; i++) {
      const slot = touched[i] ?? 0
      const number = numbers[slot] ?? 0
      const score = scores[slot] ?? 0
      if (!isCounted && !best.wants(number, score)) continue
      if (accept && !accept(number)) continue
      total++
      best.add(number, score)
    }
    const pairs = pairsOf(query, ids, rarities)
    markPairs(query, ids, 1)
    const hitOf = (number: number): WordHit => {
      const slot = slots.get(number) ?? 0
      return { number, score: (scores[slot] ?? 0) + pairScore(slot, pairs) }
    }
    const hits = best.take().map(hitOf).sort(byScore).slice(0, limit)
    const found = new Set(hits.map(({ number }) => number))
    const others = [...new Set(also)].filter((number) => slots.has(number) && !found.has(number))
    if (others.length > 0) hits.push(...others.map(hitOf))
    markPairs(query, ids, 0)
    for (let i = 0; i < count; i++) scores[touched[i] ?? 0] = 0
    hits.sort(byScore)
    return { hits, total, best: query.terms.reduce((sum, { weight }, i) => sum + weight * (rarities[i] ?? 0), 0) }
  }

  const matches = (asked: string | WordQuery, number: number): WordMatch[] => {
    const slot = slots.get(number)
    if (slot === undefined) return []
    const query = typeof asked === 'string' ? parseWordQuery(asked) : asked
    const places = new Map(
      idsOf(query).map((id, i) => [id, { word: query.terms[i]?.word ?? '', fields: new Set<Field>() }]),
    )
    let field: Field = 'title'
    for (const id of sequences.view(slot)) {
      if (id < FIRST_TERM) field = FIELDS[id] ?? field
      else places.get(id)?.fields.add(field)
    }
    return [...places.values()].flatMap(({ word, fields }) => (fields.size > 0 ? [{ word, fields: [...fields] }] : []))
  }

  const termsOf = (number: number): Set<number> => {
    const slot = slots.get(number)
    const terms = new Set(slot === undefined ? [] : sequences.view(slot))
    for (let mark = 0; mark < FIRST_TERM; mark++) terms.delete(mark)
    return terms
  }

  return {
    get size() {
      return slots.size
    },
    get bytes() {
      const own = numbers.byteLength + lengths.byteLength + scores.byteLength + touched.byteLength
      return postings.bytes + sequences.bytes + own
    },
    get termCount() {
      return termIds.size
    },
    put,
    remove,
    search,
    matches,
    termsOf,
  }
}

/** One number for two terms in their order; exact below 2^26 terms. */
const pairKey = (first: number, second: number): number => first * 2 ** 26 + second

const byScore = (a: WordHit, b: WordHit): number => b.score - a.score || a.number - b.number
