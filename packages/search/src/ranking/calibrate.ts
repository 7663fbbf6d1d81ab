import type { Scored } from '../top-k.js'
import type { Query } from './read-query.js'

/*
 * Found by bench/search/fit-calibration.mjs on the tuning sets, with and without distractors; docs/adr/0024-calibration.md
 * says how.
 */

/** Results that are compared with the first one. */
const COMPARED_RESULTS = 30
/** How sharply rivals are told apart: one with half the odds of the first counts an eleventh. */
const RIVAL_EXPONENT = 3.5
/** Odds of the best agent that is not registered here: a weak result is not certain for want of a better one. */
const ABSENT_ODDS = 0.7
/** How far rivals lower the odds. */
const RIVALRY = 0.72
/** How far results after the first fall behind it. */
const GAP_EXPONENT = 3.9
/** The odds of a result that is exactly as good as all its rivals together. */
const EVEN_ODDS = 0.5

/** A score of 1 would have infinite odds. */
const MAX_SCORE = 1 - 1e-9

function oddsOf(score: number): number {
  const bounded = Math.min(score, MAX_SCORE)
  return bounded / (1 - bounded)
}

/** How many results can be right: one for each sentence that is a task of its own. */
const tasksOf = ({ texts }: Pick<Query, 'texts'>): number => Math.max(1, texts.length - 1)

/**
 * Turns scores into probabilities that a result is right. A score of its own says how well an agent fits. Whether it is
 * the one that was meant also depends on the others: on how many fit as well, and on whether a better one precedes it.
 * Higher scores stay higher.
 *
 * @param ranked all results that the caller may see, best first
 * @returns the probability for a score
 */
export function createCalibration(ranked: readonly Scored[], query: Pick<Query, 'texts'>): (score: number) => number {
  const first = oddsOf(ranked[0]?.score ?? 0)
  const rivals = ranked.slice(1, COMPARED_RESULTS)
  const sum = rivals.reduce(
    (total, { score }) => total + oddsOf(score) ** RIVAL_EXPONENT,
    ABSENT_ODDS ** RIVAL_EXPONENT,
  )
  const firstOdds = EVEN_ODDS * tasksOf(query) * (first ** RIVAL_EXPONENT / sum) ** RIVALRY
  return (score) => {
    if (score === 0) return 0
    const odds = firstOdds * (oddsOf(score) / first) ** GAP_EXPONENT
    return odds / (1 + odds)
  }
}
