import type { AgentRecord } from '@switchboard/protocol'
import { createAgentVectors, type PartMatch } from './agent-vectors.js'
import type { StaticEncoder } from './embedding/static-encoder.js'
import { glossRecord } from './lexicon/gloss-record.js'
import { type Lexicon, openLexicon } from './lexicon/lexicon.js'
import type { NumberSet } from './number-set.js'
import { createCalibration } from './ranking/calibrate.js'
import { coverRequest, type Evident, hasSeveralTasks } from './ranking/cover-request.js'
import { createDirectionFit, type DirectionFit } from './ranking/direction.js'
import { diversify } from './ranking/diversify.js'
import {
  type Candidate,
  type RankedCandidate,
  rankCandidates,
  type ScoreParts,
  type Similarities,
} from './ranking/rank-candidates.js'
import type { Query } from './ranking/read-query.js'
import { createSpeller, type Speller } from './spelling/speller.js'
import { byScore } from './top-k.js'
import { textFieldsOf } from './words/text-fields.js'
import { createWordIndex, type WordMatch, type WordResult } from './words/word-index.js'

/** Default for `AgentIndexOptions.rerankLimit`. */
export const RERANK_LIMIT = 100
/** How many of the best are compared with the direction of a request; reading their texts takes time. */
const DIRECTED_RESULTS = 30

/** Which agents may be found, and factors of their scores. */
export interface TextFilter {
  /** The agents that pass the hard filters, which are applied before ranking. */
  readonly accepted: NumberSet
  /** Nearly all agents are accepted: an approximate vector search is good enough, and much faster. */
  readonly approximate?: boolean
  /** Multiplier for the score of an agent, for factors other than relevance. */
  readonly scoreFactor?: (number: number) => number
  /** How far the score of a re-ranked agent is raised: 0 leaves it as it is, 1 raises it to 1. */
  readonly boost?: (number: number) => number
  /** Called when the candidates are found and ranking begins. */
  readonly onCandidates?: () => void
}

/** A ranked agent. */
export interface TextHit extends Evident {
  /** What the agent would score on its own, before factors. */
  readonly parts: ScoreParts
  /** By how much the agent's own score was lowered because better results are nearly the same. */
  readonly duplicateLoss?: number
  /** The score before the agent is compared with its rivals (`createCalibration`). */
  readonly ownScore: number
  /** By how much the boost has raised the score; undefined: it was not applied. */
  readonly raised?: number
}

/** What re-ranked agents are compared by, beside words. */
interface Comparison {
  readonly similaritiesOf?: (number: number) => Similarities
  readonly directionFit?: DirectionFit | undefined
}

/** An agent whose score is not calibrated yet. */
type OwnHit = Omit<TextHit, 'ownScore' | 'raised'>

/** All matches of a query. The re-ranked ones are already in order; the others are ordered when a page needs them. */
export interface Ranking {
  /** Number of matches. */
  readonly total: number
  page(skip: number, take: number): readonly TextHit[]
  /** All matches, in no particular order. */
  numbers(): Iterable<number>
}

/** What ranking needs to know about an agent. */
export interface AgentLookup {
  /** The record without private members. */
  recordOf(number: number): AgentRecord
  /** Near-duplicates by one publisher are detected at a lower similarity. */
  publisherOf(number: number): string | undefined
}

/** Why an agent was found. */
export interface TextEvidence {
  readonly words: readonly WordMatch[]
  /** Best first; empty without embeddings. */
  readonly parts: readonly PartMatch[]
}

/** Hybrid search over agents by number: word index, vector index and ranking. */
export interface TextSearch {
  /** Memory used by the word index and by the vectors. */
  readonly bytes: { readonly words: number; readonly vectors: number }
  /** From here on the agent is found by words and by the static embedding. */
  put(number: number, record: AgentRecord, isPublic: boolean): void
  /** Sets the dimensions of the model's vectors and drops those that are stored. */
  setDimensions(dimensions: number): void
  /** Sets the model's vectors of `embeddingTextsOf(record)`, packed; false if their version or dimensions differ. */
  putVectors(number: number, packed: Uint8Array): boolean
  /** Removes the model's vectors, until the agent gets new ones. */
  removeVectors(number: number): void
  remove(number: number): void
  /** @param vectors the model's embeddings of `query.texts`; empty: rank without them */
  search(query: Query, vectors: readonly Float32Array[], filter: TextFilter, agents: AgentLookup): Ranking
  evidence(query: Query, vectors: readonly Float32Array[], number: number, record: AgentRecord): TextEvidence
  /** Stops correcting queries towards the words of a public agent, before it is removed or replaced. */
  forgetWords(record: AgentRecord): void
  readonly correct: Speller['correct']
  readonly suggest: Speller['suggest']
}

/** What a text search consists of. */
export interface TextSearchOptions {
  /** Default: 100, see `AgentIndexOptions`. */
  readonly rerankLimit?: number | undefined
  /** The static embedding; undefined: none. */
  readonly encoder?: StaticEncoder | undefined
  /** Default: the lexicon of this package. */
  readonly lexicon?: Lexicon | undefined
}

/** Searches without a model's vectors until `setDimensions` is called. */
export function createTextSearch({
  rerankLimit = RERANK_LIMIT,
  encoder,
  lexicon = openLexicon(),
}: TextSearchOptions = {}): TextSearch {
  const words = createWordIndex()
  const agentVectors = createAgentVectors(encoder)
  const speller = createSpeller(words, { english: encoder?.words, lexicon })
  /** The languages of agents that are not described in English. */
  const textLanguages = new Map<number, string>()

  const rank = (
    query: Query,
    found: WordResult,
    { similaritiesOf, directionFit }: Comparison,
    { scoreFactor }: TextFilter,
    { recordOf }: AgentLookup,
  ): OwnHit[] => {
    const candidates = found.hits.map(
      ({ number, score }): Candidate => ({
        number,
        wordScore: score,
        similarities: similaritiesOf?.(number) ?? {},
        languages: recordOf(number).languages,
        textLanguage: textLanguages.get(number),
      }),
    )
    const ranked = rankCandidates(query, found.maxScore, candidates)
    const directed = (fit: DirectionFit): RankedCandidate[] => {
      const compared = ranked.slice(0, DIRECTED_RESULTS)
      const fits = new Map(compared.map(({ number }) => [number, fit(recordOf(number))]))
      return rankCandidates(
        query,
        found.maxScore,
        candidates.map((each) => ({ ...each, direction: fits.get(each.number) })),
      )
    }
    return (directionFit ? directed(directionFit) : ranked)
      .map(({ number, score, evidence, parts }) => ({
        number,
        evidence,
        parts,
        score: Math.min(1, score * (scoreFactor?.(number) ?? 1)),
      }))
      .sort(byScore)
  }

  return {
    get bytes() {
      return { words: words.bytes, vectors: agentVectors.bytes }
    },
    put(number, record, isPublic) {
      const gloss = glossRecord(record, lexicon)
      const fields = textFieldsOf(record)
      words.put(number, gloss ? textFieldsOf(record, gloss) : fields, isPublic)
      if (isPublic) speller.add(fields)
      agentVectors.put(number, record, gloss)
      if (gloss) textLanguages.set(number, gloss.language)
      else textLanguages.delete(number)
    },
    forgetWords: (record) => speller.remove(textFieldsOf(record)),
    correct: speller.correct,
    suggest: speller.suggest,
    setDimensions: agentVectors.setDimensions,
    putVectors: agentVectors.putPacked,
    removeVectors: agentVectors.removeModelVectors,
    remove(number) {
      words.remove(number)
      textLanguages.delete(number)
      agentVectors.remove(number)
    },
    search(asked, vectors, filter, agents) {
      const query = encoder ? asked : { ...asked, englishWeight: 0 }
      const { accepted, approximate = false } = filter
      const compared = agentVectors.compare(query, vectors)
      const near = compared.nearest(rerankLimit, { accepted, approximate })
      const found = words.search(query.words, { limit: rerankLimit, accepted, include: near, count: true })
      const comparison = {
        similaritiesOf: compared.similaritiesOf(found.hits.map(({ number }) => number)),
        directionFit: createDirectionFit(query),
      }
      filter.onCandidates?.()
      const ranked = rank(query, found, comparison, filter, agents)
      const covering = hasSeveralTasks(query) ? coverRequest(ranked, words.contributions(query.words)) : ranked
      const diverse = diversify(covering, {
        publisherOf: agents.publisherOf,
        termsOf: words.termsOf,
      })
      // Preferences lower no score: rivals count without them (PROF §5.1).
      const calibrate = createCalibration(diverse, query)
      const head = filter.boost ? boosted(diverse, filter.boost, calibrate) : calibrated(diverse, calibrate)
      const withoutWords = new Set(found.hits.flatMap(({ number, score }) => (score === 0 ? [number] : [])))
      const total = found.total + head.filter(({ number }) => withoutWords.has(number)).length
      /** Matches after the re-ranked head, up to position `end`, in word-score order; scores never rise. */
      const tail = (end: number): TextHit[] => {
        const ranked = new Set(head.map(({ number }) => number))
        const hits = words
          .search(query.words, { limit: end, accepted })
          .hits.filter(({ number }) => !ranked.has(number))
        const scored = rank(query, { ...found, hits }, {}, filter, agents)
        const byNumber = new Map(scored.map((hit) => [hit.number, hit]))
        let lowest = head.at(-1)?.score ?? 1
        return hits.flatMap(({ number }) => {
          const hit = byNumber.get(number)
          lowest = Math.min(lowest, hit ? calibrate(hit.score) : lowest)
          return hit ? [{ ...hit, ownScore: hit.score, score: lowest }] : []
        })
      }
      return {
        total,
        numbers: () => new Set([...head.map(({ number }) => number), ...words.matching(query.words, accepted)]),
        page: (skip, take) => {
          const end = skip + take
          const all = end <= head.length || head.length >= total ? head : [...head, ...tail(Math.min(end, total))]
          return all.slice(skip, end)
        },
      }
    },
    evidence(query, vectors, number, record) {
      return {
        words: words.matches(query.words, number),
        parts: agentVectors.compare(query, vectors).parts(number, record),
      }
    },
  }
}

type Calibrate = (score: number) => number

const calibrated = (hits: readonly OwnHit[], calibrate: Calibrate): TextHit[] =>
  hits.map((hit) => ({ ...hit, ownScore: hit.score, score: calibrate(hit.score) }))

const boosted = (hits: readonly OwnHit[], boost: (number: number) => number, calibrate: Calibrate): TextHit[] =>
  hits
    .map((hit) => {
      const score = calibrate(hit.score + (1 - hit.score) * boost(hit.number))
      return { ...hit, ownScore: hit.score, score, raised: score - calibrate(hit.score) }
    })
    .sort(byScore)
