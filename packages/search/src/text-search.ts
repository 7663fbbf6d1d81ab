import type { AgentRecord } from '@switchboard/protocol'
import { createAgentVectors, type PartMatch } from './agent-vectors.js'
import type { StaticEncoder } from './embedding/static-encoder.js'
import { glossRecord } from './lexicon/gloss-record.js'
import { getBuiltInLexicon, type Lexicon } from './lexicon/lexicon.js'
import { coverRequest, type Evident, hasSeveralTasks } from './ranking/cover-request.js'
import { diversify } from './ranking/diversify.js'
import { type Candidate, rankCandidates, type ScoreParts, type Similarities } from './ranking/rank-candidates.js'
import type { Query } from './ranking/read-query.js'
import { byScore } from './top-k.js'
import { createSpeller, type Speller } from './words/speller.js'
import { textFieldsOf } from './words/text-fields.js'
import { createWordIndex, type WordMatch, type WordResult } from './words/word-index.js'

/** Default for `AgentIndexOptions.rerankLimit`. */
export const RERANK_LIMIT = 100

/** Which agents may be found, and factors of their scores. */
export interface TextFilter {
  /** A hard filter, applied before ranking. */
  readonly accept: (number: number) => boolean
  /** If known, a superset of the agents that `accept` rejects. */
  readonly rejectable?: ReadonlySet<number>
  /** All accepted agents, if they are already enumerated. */
  readonly accepted?: readonly number[] | undefined
  /** `accept` passes nearly all agents: an approximate vector search is good enough, and much faster. */
  readonly acceptsMost?: boolean
  /** Multiplier for the score of an agent, for factors other than relevance. */
  readonly scoreFactor?: (number: number) => number
  /** How far the score of a re-ranked agent is raised: 0 leaves it as it is, 1 raises it to 1. */
  readonly boost?: (number: number) => number
  /** Called when the candidates are found and ranking begins. */
  readonly onCandidates?: () => void
}

/** A ranked agent. */
export interface TextHit extends Evident {
  /** The score before factors and boosts, and before results are reordered for coverage and diversity. */
  readonly relevance: number
  /** What the relevance consists of. */
  readonly parts: ScoreParts
  /** By how much the boost has raised the score; undefined: it was not applied. */
  readonly raised?: number
}

/** All matches of a query. The re-ranked ones are already in order; the others are ordered when a page needs them. */
export interface Ranking {
  /** Number of matches. */
  readonly total: number
  page(skip: number, take: number): readonly TextHit[]
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
  lexicon = getBuiltInLexicon(),
}: TextSearchOptions = {}): TextSearch {
  const words = createWordIndex()
  const agentVectors = createAgentVectors(encoder)
  const speller = createSpeller(words, encoder?.words)
  /** The languages of agents that are not described in English. */
  const textLanguages = new Map<number, string>()

  const rank = (
    query: Query,
    found: WordResult,
    similaritiesOf: (number: number) => Similarities,
    { scoreFactor }: TextFilter,
    { recordOf }: AgentLookup,
  ): TextHit[] => {
    const candidates = found.hits.map(
      ({ number, score }): Candidate => ({
        number,
        wordScore: score,
        similarities: similaritiesOf(number),
        languages: recordOf(number).languages,
        textLanguage: textLanguages.get(number),
      }),
    )
    return rankCandidates(query, found.maxScore, candidates)
      .map(({ number, score, evidence, parts }) => ({
        number,
        evidence,
        parts,
        relevance: score,
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
      const { accept, accepted, acceptsMost = false, rejectable } = filter
      const compared = agentVectors.compare(query, vectors)
      const near = compared.nearest(
        rerankLimit,
        accepted ? { candidates: accepted } : { accept, approximate: acceptsMost },
      )
      const found = words.search(query.words, { limit: rerankLimit, accept, rejectable, include: near, count: true })
      const similaritiesOf = compared.similaritiesOf(found.hits.map(({ number }) => number))
      filter.onCandidates?.()
      const ranked = rank(query, found, similaritiesOf, filter, agents)
      const covering = hasSeveralTasks(query) ? coverRequest(ranked, words.contributions(query.words)) : ranked
      const diverse = diversify(covering, {
        publisherOf: agents.publisherOf,
        termsOf: words.termsOf,
      })
      const head = filter.boost ? boosted(diverse, filter.boost) : diverse
      const withoutWords = new Set(found.hits.flatMap(({ number, score }) => (score === 0 ? [number] : [])))
      const total = found.total + head.filter(({ number }) => withoutWords.has(number)).length
      /** Matches after the re-ranked head, up to position `end`, in word-score order; scores never rise. */
      const tail = (end: number): TextHit[] => {
        const ranked = new Set(head.map(({ number }) => number))
        const hits = words
          .search(query.words, { limit: end, accept, rejectable })
          .hits.filter(({ number }) => !ranked.has(number))
        const scored = rank(query, { ...found, hits }, () => ({}), filter, agents)
        const byNumber = new Map(scored.map((hit) => [hit.number, hit]))
        let lowest = head.at(-1)?.score ?? 1
        return hits.flatMap(({ number }) => {
          const hit = byNumber.get(number)
          lowest = Math.min(lowest, hit?.score ?? lowest)
          return hit ? [{ ...hit, score: lowest }] : []
        })
      }
      return {
        total,
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

const boosted = (hits: readonly TextHit[], boost: (number: number) => number): TextHit[] =>
  hits
    .map((hit) => {
      const raised = (1 - hit.score) * boost(hit.number)
      return { ...hit, score: hit.score + raised, raised }
    })
    .sort(byScore)
