import { tokenize } from './tokenize.js'

/** One word of a query. */
export interface QueryTerm {
  /** As it is indexed. */
  readonly term: string
  /** As it was written. */
  readonly word: string
  /** What it counts: 1, and a little more if the query says it again. */
  readonly weight: number
}

/** A query as the word index reads it. */
export interface WordQuery {
  readonly terms: readonly QueryTerm[]
  /** Terms that stand side by side in the query, by their positions in `terms`. */
  readonly pairs: readonly (readonly [number, number])[]
}

/** Nobody means more words than these; a longer text would only cost time. */
const MAX_TERMS = 64

/** The words of a query that say something, each once. Where nothing is left, all its words count. */
export function parseWordQuery(text: string, language?: string): WordQuery {
  const telling = tokenize(text, { language })
  const tokens = telling.length > 0 ? telling : tokenize(text, { keepStopWords: true })
  const positions = new Map<string, number>()
  const found: { term: string; word: string; count: number }[] = []
  const pairs = new Map<string, readonly [number, number]>()
  let before: number | undefined
  for (const { term, word } of tokens) {
    const at = positions.get(term) ?? found.length
    if (at === MAX_TERMS) break
    positions.set(term, at)
    const known = found[at]
    if (known) known.count++
    else found.push({ term, word, count: 1 })
    if (before !== undefined && before !== at) pairs.set(`${before} ${at}`, [before, at])
    before = at
  }
  return {
    terms: found.map(({ term, word, count }) => ({ term, word, weight: (2 * count) / (count + 1) })),
    pairs: [...pairs.values()],
  }
}
