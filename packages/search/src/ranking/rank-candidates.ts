import { speaks } from '@switchboard/protocol'
import { byScore, type Scored } from '../top-k.js'
import type { Query } from './read-query.js'

/*
 * Scores add up in one unit: the IDF of a term that a single agent of a small directory contains counts 1, a term that
 * every agent contains counts about 0. The constants below are in this unit; docs/search.md says how they were chosen.
 */

/** Cosine at or below which an agent does not match by its embedding: unrelated texts reach this similarity. */
export const SIMILARITY_FLOOR = 0.2
/** Score for identical meaning (cosine 1): as much as 2.8 unique terms of the query. */
const SEMANTIC_WEIGHT = 2.8
/** Bonus for an agent that speaks a language which the query names. */
const NAMED_LANGUAGE_WEIGHT = 0.3
/** Factor for an agent that declares languages, none of which is the query's. */
const OTHER_LANGUAGE_FACTOR = 0.7
/**
 * Calibrates the final score: 0.5 is reached when the evidence squared equals this share of the best possible evidence.
 * On the tuning sets a first result that scores 0.5 was right about half the time, whatever the length of the query.
 */
const HALF_SCORE_SHARE = 0.2

/** The ranking constants as `/discover` publishes them, so that clients can interpret scores. */
export const RANKING = {
  meaning_weight: SEMANTIC_WEIGHT,
  meaning_floor: SIMILARITY_FLOOR,
  named_language_weight: NAMED_LANGUAGE_WEIGHT,
  other_language_factor: OTHER_LANGUAGE_FACTOR,
} as const

/** An agent found by words or by its embedding. */
export interface Candidate {
  readonly number: number
  /** Score from the word index; 0 if the agent contains no term of the query. */
  readonly wordScore: number
  /** Highest cosine between the agent's parts and the query's texts; undefined if the agent is not embedded. */
  readonly similarity: number | undefined
  /** From the record; undefined: any language. */
  readonly languages: readonly string[] | undefined
}

/**
 * Scores candidates by the sum of word and embedding evidence, best first; drops those with neither. There is no fixed
 * share for each: a long query with rare terms collects more word score than an embedding can contribute, and for a
 * short or vague query the embedding decides.
 *
 * A score lies between 0 and 1 and is comparable between queries: it is about the probability that the agent is what
 * was asked for.
 *
 * @param maxWordScore score of an agent that contains every term of the query (`WordResult.maxScore`)
 */
export function rankCandidates(query: Query, maxWordScore: number, candidates: Iterable<Candidate>): Scored[] {
  const scored: Scored[] = []
  const weight = SEMANTIC_WEIGHT * query.semanticWeight
  const squareAtHalf = HALF_SCORE_SHARE * (maxWordScore + weight)
  for (const { number, wordScore, similarity, languages } of candidates) {
    const semanticScore = weight * aboveFloor(similarity)
    if (wordScore === 0 && semanticScore === 0) continue
    const speaksNamed = languages !== undefined && query.namedLanguages.some((tag) => speaks(languages, tag))
    const speaksOther = !speaksNamed && query.language !== undefined && !speaks(languages, query.language)
    const sum = wordScore + semanticScore
    const evidence = speaksOther ? sum * OTHER_LANGUAGE_FACTOR : sum + (speaksNamed ? NAMED_LANGUAGE_WEIGHT : 0)
    scored.push({ number, score: evidence ** 2 / (evidence ** 2 + squareAtHalf) })
  }
  return scored.sort(byScore)
}

/** Rescales a cosine so that the floor becomes 0 and 1 stays 1. */
function aboveFloor(similarity: number | undefined): number {
  return similarity === undefined ? 0 : Math.max(0, (similarity - SIMILARITY_FLOOR) / (1 - SIMILARITY_FLOOR))
}
