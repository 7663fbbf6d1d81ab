import { likeness, possibleLikeness } from '../words/likeness.js'
import { byScore } from './blend.js'

/** Likeness from which two agents of one publisher are copies of each other. */
const COPY_OF_OWN = 0.7
/** Likeness from which agents of different publishers are: only what is the same almost word for word. */
const COPY_OF_OTHERS = 0.9
/** What is left of the score of a copy, for each better one of which it is a copy, up to so many. */
const COPY_FACTOR = 0.5
const MAX_COPIES = 3
/** Results that are no copies and come first, as many as the first pages hold: a flood would do harm there. */
const CLEAN = 20

export interface DiversityOptions {
  publisherOf: (number: number) => string | undefined
  /** The agent's terms (`WordIndex.termsOf`). */
  termsOf: (number: number) => ReadonlySet<number>
}

/**
 * Moves near-copies of better results down, so that nobody fills the first page with them. The rest keeps its order,
 * and its scores.
 *
 * @param ranked best first
 */
export function diversify<T extends { number: number; score: number }>(
  ranked: readonly T[],
  { publisherOf, termsOf }: DiversityOptions,
): T[] {
  const seen: { publisher: string | undefined; terms: ReadonlySet<number> }[] = []
  const looked: T[] = []
  let clean = 0
  for (const result of ranked) {
    if (clean === CLEAN) break
    const [publisher, terms] = [publisherOf(result.number), termsOf(result.number)]
    const isCopy = (better: (typeof seen)[number]): boolean => {
      const isOwn = publisher !== undefined && publisher === better.publisher
      const limit = isOwn ? COPY_OF_OWN : COPY_OF_OTHERS
      return possibleLikeness(terms, better.terms) >= limit && likeness(terms, better.terms) >= limit
    }
    const copies = Math.min(seen.filter(isCopy).length, MAX_COPIES)
    if (copies === 0) clean++
    seen.push({ publisher, terms })
    looked.push(copies === 0 ? result : { ...result, score: result.score * COPY_FACTOR ** copies })
  }
  return [...looked, ...ranked.slice(looked.length)].sort(byScore)
}
