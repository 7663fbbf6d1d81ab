import { speaks } from '@switchboard/protocol'
import type { Query } from './query.js'

/** Cosine below which an agent does not match by meaning: unrelated texts are this alike. */
export const MEANING_FLOOR = 0.2
/** What equal meaning is worth, counted in words that only one agent has. */
const MEANING_WEIGHT = 2.8
/** What it is worth that an agent speaks a language which the query names, counted likewise. */
const NAMED_LANGUAGE_WEIGHT = 0.3
/** What is left of the evidence for an agent that says it speaks other languages than the query's. */
const OTHER_LANGUAGE_FACTOR = 0.7
/**
 * Evidence that earns the score 0.5 is the root of this share of the best possible. On the tuning sets the first
 * result at 0.5 was right about every second time, whatever the length of the query.
 */
const EVEN_CHANCE = 0.2

/** The constants of the sum, for those who want to know why an agent stands where it stands. */
export const RANKING = {
  meaning_weight: MEANING_WEIGHT,
  meaning_floor: MEANING_FLOOR,
  named_language_weight: NAMED_LANGUAGE_WEIGHT,
  other_language_factor: OTHER_LANGUAGE_FACTOR,
} as const

/** An agent that words or meaning found, and what each says of it. */
export interface Candidate {
  readonly number: number
  /** Score of the word index; 0 if it has no word of the query. */
  readonly words: number
  /** Cosine of its best part with the best text of the query; undefined if its meaning is not known. */
  readonly similarity: number | undefined
  /** As its record has them; undefined: it takes any. */
  readonly languages: readonly string[] | undefined
}

/** A ranked agent and what its score is made of, in the same unit. */
export interface Scored {
  readonly number: number
  /** 0 to 1, alike from query to query: about the chance that it is what was asked for. */
  readonly score: number
  readonly words: number
  readonly meaning: number
  readonly language: number
}

/**
 * Adds up the evidence. Words count in rarity: a long, telling query that meets rare words is decided by words, one
 * that meets few or common words by meaning, so the blend follows the query and needs no weight of its own.
 *
 * @param bestWords what an agent with every word of the query would score (`WordResult.best`)
 */
export function rankCandidates(query: Query, bestWords: number, candidates: Iterable<Candidate>): Scored[] {
  const scored: Scored[] = []
  const weight = MEANING_WEIGHT * query.meaningTrust
  const even = EVEN_CHANCE * (bestWords + weight)
  for (const { number, words, similarity, languages } of candidates) {
    const meaning = weight * calibrate(similarity)
    if (words === 0 && meaning === 0) continue
    const named = languages !== undefined && query.namedLanguages.some((tag) => speaks(languages, tag))
    const foreign = !named && query.language !== undefined && !speaks(languages, query.language)
    const plain = words + meaning
    const evidence = foreign ? plain * OTHER_LANGUAGE_FACTOR : plain + (named ? NAMED_LANGUAGE_WEIGHT : 0)
    const score = evidence ** 2 / (evidence ** 2 + even)
    scored.push({ number, score, words, meaning, language: evidence - plain })
  }
  return scored.sort(byScore)
}

/** Best first, then in order of registration, so that pages are stable. */
export const byScore = (a: { score: number; number: number }, b: { score: number; number: number }): number =>
  b.score - a.score || a.number - b.number

/** A cosine as 0 (unrelated) to 1 (the same). */
function calibrate(similarity: number | undefined): number {
  return similarity === undefined ? 0 : Math.max(0, (similarity - MEANING_FLOOR) / (1 - MEANING_FLOOR))
}
