import { tokenize } from './tokenize.js'

/** A distinct term of a query. */
export interface QueryTerm {
  /** As indexed. */
  readonly term: string
  /** As written. */
  readonly word: string
  /** 1, or a little more if the query repeats the term. */
  readonly weight: number
}

/** A query as the word index takes it. */
export interface WordQuery {
  readonly terms: readonly QueryTerm[]
  /** Adjacent terms of the query, as positions in `terms`. */
  readonly bigrams: readonly (readonly [number, number])[]
}

/** Further terms are ignored: they would only cost time. */
const MAX_TERMS = 64

/** The distinct terms of a query without stop words; if it consists of stop words only, all its terms. */
export function parseWordQuery(text: string, language?: string): WordQuery {
  const withoutStopWords = tokenize(text, { language })
  const tokens = withoutStopWords.length > 0 ? withoutStopWords : tokenize(text, { keepStopWords: true })
  const positions = new Map<string, number>()
  const found: { term: string; word: string; count: number }[] = []
  const bigrams = new Map<string, readonly [number, number]>()
  let before: number | undefined
  for (const { term, word } of tokens) {
    const at = positions.get(term) ?? found.length
    if (at === MAX_TERMS) break
    positions.set(term, at)
    const known = found[at]
    if (known) known.count++
    else found.push({ term, word, count: 1 })
    if (before !== undefined && before !== at) bigrams.set(`${before} ${at}`, [before, at])
    before = at
  }
  return {
    terms: found.map(({ term, word, count }) => ({ term, word, weight: (2 * count) / (count + 1) })),
    bigrams: [...bigrams.values()],
  }
}
