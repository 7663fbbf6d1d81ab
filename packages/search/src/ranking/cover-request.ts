import type { Scored } from '../top-k.js'
import { CLAUSE_BORDERS, tokenize } from '../words/tokenize.js'
import type { Query } from './read-query.js'

/** Results that are compared; the first pages are what a request with several tasks is about. */
const COMPARED_RESULTS = 30
/** Share of its contribution that a word loses once a better result contains it. */
const COVERED_LOSS = 0.4
/** Terms, without stop words, that a clause needs to count as a task. */
const MIN_CLAUSE_TERMS = 3

/** Whether a request seems to contain several tasks: "Find a recipe for lasagne. How warm is it in Rome tomorrow?" */
export function hasSeveralTasks({ text, language }: Pick<Query, 'text' | 'language'>): boolean {
  let tasks = 0
  for (const clause of text.split(CLAUSE_BORDERS)) {
    if (tokenize(clause, { language }).length >= MIN_CLAUSE_TERMS) tasks++
    if (tasks > 1) return true
  }
  return false
}

/** A result with the evidence that its score is computed from. */
export interface Evident extends Scored {
  readonly evidence: number
}

/**
 * Reorders the results of a request with several tasks, so that all of its words are covered soon: after each result, the
 * words that it contains count less for the others. Otherwise the task with the rarest words would fill the first page.
 *
 * @param ranked best first
 * @param contributionsOf what each word of the query contributes to the evidence of an agent
 */
export function coverRequest<T extends Evident>(
  ranked: readonly T[],
  contributionsOf: (number: number) => readonly number[],
): T[] {
  let left = ranked.slice(0, COMPARED_RESULTS).map((result) => ({
    result,
    contributions: contributionsOf(result.number),
    score: result.score,
  }))
  const covered = new Set<number>()
  const picked: T[] = []
  for (let best = left[0]; best; best = left[0]) {
    picked.push({ ...best.result, score: best.score })
    for (const [word, contribution] of best.contributions.entries()) if (contribution > 0) covered.add(word)
    left = left
      .slice(1)
      .map((each) => ({ ...each, score: scoreWithout(each.result, COVERED_LOSS * sumOf(each.contributions, covered)) }))
      .sort((a, b) => b.score - a.score)
  }
  const lowest = picked.at(-1)?.score ?? 1
  const rest = ranked.slice(COMPARED_RESULTS).map((result) => ({ ...result, score: Math.min(result.score, lowest) }))
  return [...picked, ...rest]
}

const sumOf = (contributions: readonly number[], words: ReadonlySet<number>): number =>
  contributions.reduce((sum, contribution, word) => (words.has(word) ? sum + contribution : sum), 0)

/** The score as it would be with less evidence e: scores are e² / (e² + a constant of the query). */
function scoreWithout({ score, evidence }: Evident, lost: number): number {
  const remaining = Math.max(0, 1 - lost / evidence) ** 2
  return remaining === 0 ? 0 : (score * remaining) / (score * remaining + 1 - score)
}
