import type { AgentRecord } from '@switchboard/protocol'
import { diversify } from './ranking/diversify.js'
import { type AgentPart, embeddingTextsOf, partSimilarity } from './ranking/embedding-texts.js'
import { type Candidate, rankCandidates, SIMILARITY_FLOOR } from './ranking/rank-candidates.js'
import type { Query } from './ranking/read-query.js'
import { byScore, type Scored } from './top-k.js'
import { createVectorIndex, type VectorFilter, type VectorIndex } from './vectors/vector-index.js'
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
export interface TextHit extends Scored {
  /** The score before factors and boosts, and before near-duplicates are moved down. */
  readonly relevance: number
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

/** Similarity of a query to one part of an agent. */
export interface PartMatch {
  readonly part: AgentPart
  /** Cosine, -1 to 1. */
  readonly similarity: number
}

/** Why an agent was found. */
export interface TextEvidence {
  readonly words: readonly WordMatch[]
  /** Best first; empty until the agent is embedded. */
  readonly parts: readonly PartMatch[]
}

/** Hybrid search over agents by number: word index, vector index and ranking. */
export interface TextSearch {
  /** Memory used by the word index and by the vectors. */
  readonly bytes: { readonly words: number; readonly vectors: number }
  put(number: number, record: AgentRecord, isPublic: boolean): void
  /** Sets the dimensions of all vectors and drops those that are stored. */
  setDimensions(dimensions: number): void
  /** Sets the vectors of `embeddingTextsOf(record)`, packed; false if their version or dimensions differ. */
  putVectors(number: number, record: AgentRecord, packed: Uint8Array): boolean
  /** From here on the agent is found by words only, until it gets new vectors. */
  removeVectors(number: number): void
  remove(number: number): void
  /** @param vectors embeddings of `query.texts`; empty: rank by words only */
  search(query: Query, vectors: readonly Float32Array[], filter: TextFilter, agents: AgentLookup): Ranking
  evidence(query: Query, vectors: readonly Float32Array[], number: number, record: AgentRecord): TextEvidence
}

/** Searches by words only until `setDimensions` is called. */
export function createTextSearch(rerankLimit = RERANK_LIMIT): TextSearch {
  const words = createWordIndex()
  let vectorIndex: VectorIndex | undefined
  /** For each agent that has vectors: the position of the first one that belongs to an example. */
  const firstExample = new Map<number, number>()

  const removeVectors = (number: number): void => {
    vectorIndex?.remove(number)
    firstExample.delete(number)
  }

  /** Similarity of each agent found: the maximum over the agent's parts and the query's texts. */
  const similarities = (vectors: readonly Float32Array[], limit: number, filter: VectorFilter): Map<number, number> => {
    const best = new Map<number, number>()
    for (const vector of vectors) {
      for (const { number, part, similarity } of vectorIndex?.search(vector, limit, filter) ?? []) {
        const kind = part >= (firstExample.get(number) ?? Number.POSITIVE_INFINITY) ? 'example' : 'agent'
        const weighted = partSimilarity({ kind }, similarity)
        if (weighted > (best.get(number) ?? -1)) best.set(number, weighted)
      }
    }
    return best
  }

  /** The nearest accepted agents whose similarity is above the floor. */
  const nearest = (
    vectors: readonly Float32Array[],
    { accept, accepted, acceptsMost = false }: TextFilter,
  ): Map<number, number> => {
    const filter = accepted ? { candidates: accepted } : { accept, approximate: acceptsMost }
    const found = similarities(vectors, rerankLimit, filter)
    for (const [number, similarity] of found) if (similarity <= SIMILARITY_FLOOR) found.delete(number)
    return found
  }

  const rank = (
    query: Query,
    found: WordResult,
    similarityOf: ReadonlyMap<number, number>,
    { scoreFactor }: TextFilter,
    { recordOf }: AgentLookup,
  ): TextHit[] => {
    const candidates = found.hits.map(
      ({ number, score }): Candidate => ({
        number,
        wordScore: score,
        similarity: similarityOf.get(number),
        languages: recordOf(number).languages,
      }),
    )
    return rankCandidates(query, found.maxScore, candidates)
      .map(({ number, score }) => ({
        number,
        relevance: score,
        score: Math.min(1, score * (scoreFactor?.(number) ?? 1)),
      }))
      .sort(byScore)
  }

  return {
    get bytes() {
      return { words: words.bytes, vectors: vectorIndex?.bytes ?? 0 }
    },
    put: (number, record, isPublic) => words.put(number, textFieldsOf(record), isPublic),
    setDimensions(dimensions) {
      vectorIndex = createVectorIndex(dimensions)
      firstExample.clear()
    },
    putVectors(number, record, packed) {
      if (!vectorIndex?.putPacked(number, packed)) return false
      firstExample.set(number, embeddingTextsOf(record).length - record.examples.length)
      return true
    },
    removeVectors,
    remove(number) {
      words.remove(number)
      removeVectors(number)
    },
    search(query, vectors, filter, agents) {
      const { accept, rejectable } = filter
      const near = nearest(vectors, filter)
      const found = words.search(query.words, {
        limit: rerankLimit,
        accept,
        rejectable,
        include: near.keys(),
        count: true,
      })
      const onlyByWords = found.hits.filter(({ number }) => !near.has(number)).map(({ number }) => number)
      const similarityOf = new Map([
        ...near,
        ...similarities(vectors, Number.POSITIVE_INFINITY, { candidates: onlyByWords }),
      ])
      filter.onCandidates?.()
      const diverse = diversify(rank(query, found, similarityOf, filter, agents), {
        publisherOf: agents.publisherOf,
        termsOf: words.termsOf,
      })
      const head = filter.boost ? boosted(diverse, filter.boost) : diverse
      const onlyByVectors = found.hits.filter(({ score }) => score === 0).length
      const total = found.total + onlyByVectors
      /** Matches after the re-ranked head, up to position `end`, in word-score order; scores never rise. */
      const tail = (end: number): TextHit[] => {
        const ranked = new Set(head.map(({ number }) => number))
        const hits = words
          .search(query.words, { limit: end, accept, rejectable })
          .hits.filter(({ number }) => !ranked.has(number))
        const scored = rank(query, { ...found, hits }, new Map(), filter, agents)
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
      const parts = embeddingTextsOf(record)
      const best = new Map<number, number>()
      for (const vector of vectors) {
        for (const { part, similarity } of vectorIndex?.search(vector, parts.length, { candidates: [number] }) ?? []) {
          best.set(part, Math.max(similarity, best.get(part) ?? -1))
        }
      }
      const matches = [...best].flatMap(([position, similarity]) => {
        const part = parts[position]?.part
        return part ? [{ part, similarity }] : []
      })
      return {
        words: words.matches(query.words, number),
        parts: matches.sort((a, b) => b.similarity - a.similarity),
      }
    },
  }
}

const boosted = (hits: readonly TextHit[], boost: (number: number) => number): TextHit[] =>
  hits.map((hit) => ({ ...hit, score: hit.score + (1 - hit.score) * boost(hit.number) })).sort(byScore)
