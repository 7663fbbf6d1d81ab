import { speaks } from '@switchboard/protocol'
import { byScore } from '../top-k.js'
import type { Evident } from './cover-request.js'
import type { Query } from './read-query.js'

/*
 * Scores add up in one unit: the IDF of a term that a single agent of a small directory contains counts 1, a term that
 * every agent contains counts about 0. The constants below are in this unit; docs/search.md says how they were chosen.
 */

/** Similarity at or below which an agent does not match by its embeddings: unrelated texts reach this similarity. */
const SIMILARITY_FLOOR = 0.15
/**
 * Cosine below which an agent does not match by its embeddings if nobody knows any word of the query. The model's cosines
 * for gibberish reach 0.6, and so do those of texts that only look alike because neither is English.
 */
export const UNKNOWN_WORDS_FLOOR = 0.65
/** Score for identical meaning (similarity 1): as much as 3.6 unique terms of the query. */
const SEMANTIC_WEIGHT = 3.6
/** Share of the static embedding in the similarity of an agent that the model has embedded too. */
const STATIC_SHARE = 0.3
/** Bonus for an agent that speaks a language which the query names. */
const NAMED_LANGUAGE_WEIGHT = 0.3
/** Factor for an agent that declares languages, none of which is the query's. */
const OTHER_LANGUAGE_FACTOR = 0.7
/** Factor for an agent that is described in another language than the query: of several that fit, it comes later. */
const OTHER_TEXT_FACTOR = 0.95
/** Bonus for an agent that converts what the request wants to be converted, in the same direction. */
const DIRECTION_WEIGHT = 0.5
/** Factor for an agent that only converts in the opposite direction. */
const OPPOSITE_DIRECTION_FACTOR = 0.7
/**
 * Calibrates the final score: 0.5 is reached when the evidence squared equals this share of the best possible evidence.
 * On the tuning sets a first result that scores 0.5 was right about half the time, whatever the length of the query.
 */
const HALF_SCORE_SHARE = 0.2

/** The ranking constants as `/discover` publishes them, so that clients can interpret scores. */
export const RANKING = {
  meaning_weight: SEMANTIC_WEIGHT,
  meaning_floor: SIMILARITY_FLOOR,
  static_share: STATIC_SHARE,
  named_language_weight: NAMED_LANGUAGE_WEIGHT,
  other_language_factor: OTHER_LANGUAGE_FACTOR,
  other_text_factor: OTHER_TEXT_FACTOR,
  direction_weight: DIRECTION_WEIGHT,
  opposite_direction_factor: OPPOSITE_DIRECTION_FACTOR,
} as const

/** Cosines of an agent with the query: the highest over the agent's parts and the query's texts. */
export interface Similarities {
  /** By the embedding model; undefined if the agent is not embedded yet, or the query could not be. */
  readonly model?: number | undefined
  /** By the static embedding; undefined if it does not know the query's language. */
  readonly static?: number | undefined
}

/** An agent found by words or by its embeddings. */
export interface Candidate {
  readonly number: number
  /** Score from the word index; 0 if the agent contains no term of the query. */
  readonly wordScore: number
  readonly similarities: Similarities
  /** From the record; undefined: any language. */
  readonly languages: readonly string[] | undefined
  /** The language that the agent is described in; undefined: English, or not recognised. */
  readonly textLanguage?: string | undefined
  /** How far the agent converts in the direction of the request, −1 to 1 (`createDirectionFit`); default: 0. */
  readonly direction?: number | undefined
}

/** The weighted mean of both cosines, or the only one that there is; their means over likely results are the same. */
export function combinedSimilarity({ model, static: staticCosine }: Similarities): number | undefined {
  if (model === undefined || staticCosine === undefined) return model ?? staticCosine
  return (1 - STATIC_SHARE) * model + STATIC_SHARE * staticCosine
}

/** What a score consists of; the parts add up to it. */
export interface ScoreParts {
  readonly words: number
  readonly meaning: number
  /** Less than 0 for an agent that converts in the opposite direction. */
  readonly direction: number
  /** Less than 0 for an agent that declares languages other than the query's, or is described in another one. */
  readonly language: number
  /** Why languages count: the query names one that the agent speaks, or what the agent declares or is described in. */
  readonly languageReason?: 'named' | 'declared' | 'described' | undefined
}

/** A candidate with its score. */
export interface RankedCandidate extends Evident {
  readonly parts: ScoreParts
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
export function rankCandidates(query: Query, maxWordScore: number, candidates: Iterable<Candidate>): RankedCandidate[] {
  const scored: RankedCandidate[] = []
  const squareAtHalf = HALF_SCORE_SHARE * (maxWordScore + SEMANTIC_WEIGHT * maxTrust(query))
  const { minSimilarity = 0 } = query
  for (const { number, wordScore, similarities, languages, textLanguage = 'en', direction = 0 } of candidates) {
    const semanticScore = SEMANTIC_WEIGHT * trust(query, similarities) * aboveFloor(combinedSimilarity(similarities))
    const isSimilar = Math.max(similarities.model ?? 0, similarities.static ?? 0) >= minSimilarity
    if (wordScore === 0 && (semanticScore === 0 || !isSimilar)) continue
    const speaksNamed = languages !== undefined && query.namedLanguages.some((tag) => speaks(languages, tag))
    const speaksOther = !speaksNamed && query.language !== undefined && !speaks(languages, query.language)
    const sum = wordScore + semanticScore
    const directed = withDirection(sum, direction)
    const isForeign = !query.preferredLanguages.includes(textLanguage)
    const fitting = speaksOther
      ? directed * OTHER_LANGUAGE_FACTOR
      : directed + (speaksNamed ? NAMED_LANGUAGE_WEIGHT : 0)
    const evidence = isForeign && !speaksOther ? fitting * OTHER_TEXT_FACTOR : fitting
    const scoreOf = (value: number): number => value ** 2 / (value ** 2 + squareAtHalf)
    const [score, plain, directedScore] = [scoreOf(evidence), scoreOf(sum), scoreOf(directed)]
    // The score is not a sum: words and meaning share what the agent would score without direction and languages.
    const parts = {
      words: (plain * wordScore) / sum,
      meaning: (plain * semanticScore) / sum,
      direction: directedScore - plain,
      language: score - directedScore,
      languageReason: speaksNamed ? 'named' : speaksOther ? 'declared' : isForeign ? 'described' : undefined,
    } as const
    scored.push({ number, score, evidence, parts })
  }
  return scored.sort(byScore)
}

const withDirection = (evidence: number, direction: number): number =>
  direction < 0 ? evidence * (1 + direction * (1 - OPPOSITE_DIRECTION_FACTOR)) : evidence + DIRECTION_WEIGHT * direction

/** How far the embeddings know the query's language. */
const trust = ({ semanticWeight, englishWeight }: Query, { model }: Similarities): number =>
  model === undefined ? englishWeight : semanticWeight

const maxTrust = ({ semanticWeight, englishWeight }: Query): number => Math.max(semanticWeight, englishWeight)

/** Rescales a similarity so that the floor becomes 0 and 1 stays 1. */
function aboveFloor(similarity: number | undefined): number {
  return similarity === undefined ? 0 : Math.max(0, (similarity - SIMILARITY_FLOOR) / (1 - SIMILARITY_FLOOR))
}
