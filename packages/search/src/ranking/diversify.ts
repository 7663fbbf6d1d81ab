import { byScore, type Scored } from '../top-k.js'

/** Jaccard similarity from which two agents of one publisher count as near-duplicates. */
const SAME_PUBLISHER_THRESHOLD = 0.7
/** The same for agents of different publishers: nearly identical word sets only. */
const OTHER_PUBLISHER_THRESHOLD = 0.9
/** Score factor for each better-ranked near-duplicate, applied at most `MAX_DUPLICATES` times. */
const DUPLICATE_FACTOR = 0.5
const MAX_DUPLICATES = 3
/** Comparing stops after this many distinct results: the first pages are what a flood of copies would spoil. */
const DISTINCT_RESULTS = 20

export interface DiversityOptions {
  publisherOf: (number: number) => string | undefined
  /** The agent's set of terms (`WordIndex.termsOf`). */
  termsOf: (number: number) => ReadonlySet<number>
}

/** A result, and by how much its score was lowered because better results are nearly the same. */
export type Distinct<T extends Scored> = T & { readonly duplicateLoss?: number }

/**
 * Moves near-duplicates of better results down, so that nobody can fill the first page with copies. All other results
 * keep their order and scores.
 *
 * @param ranked best first
 */
export function diversify<T extends Scored>(
  ranked: readonly T[],
  { publisherOf, termsOf }: DiversityOptions,
): Distinct<T>[] {
  const seen: { publisher: string | undefined; terms: ReadonlySet<number> }[] = []
  const compared: Distinct<T>[] = []
  let distinct = 0
  for (const result of ranked) {
    if (distinct === DISTINCT_RESULTS) break
    const [publisher, terms] = [publisherOf(result.number), termsOf(result.number)]
    const isDuplicateOf = (better: (typeof seen)[number]): boolean => {
      const isSamePublisher = publisher !== undefined && publisher === better.publisher
      const threshold = isSamePublisher ? SAME_PUBLISHER_THRESHOLD : OTHER_PUBLISHER_THRESHOLD
      return maxJaccard(terms, better.terms) >= threshold && jaccard(terms, better.terms) >= threshold
    }
    const duplicates = Math.min(seen.filter(isDuplicateOf).length, MAX_DUPLICATES)
    if (duplicates === 0) distinct++
    seen.push({ publisher, terms })
    const score = result.score * DUPLICATE_FACTOR ** duplicates
    compared.push(duplicates === 0 ? result : { ...result, score, duplicateLoss: result.score - score })
  }
  return [...compared, ...ranked.slice(compared.length)].sort(byScore)
}

/** Jaccard similarity of two sets: size of the intersection divided by size of the union. */
export function jaccard(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  const [smaller, larger] = a.size < b.size ? [a, b] : [b, a]
  let common = 0
  for (const term of smaller) if (larger.has(term)) common++
  const union = a.size + b.size - common
  return union === 0 ? 0 : common / union
}

/** Upper bound of the Jaccard similarity, from the set sizes; rules out most pairs without comparing them. */
const maxJaccard = (a: ReadonlySet<number>, b: ReadonlySet<number>): number =>
  Math.min(a.size, b.size) / Math.max(a.size, b.size, 1)
