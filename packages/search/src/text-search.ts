import type { AgentRecord } from '@switchboard/protocol'
import { byScore, type Candidate, MEANING_FLOOR, rankCandidates, type Scored } from './ranking/blend.js'
import { diversify } from './ranking/diversity.js'
import { type MeaningPart, meaningTextsOf, partSimilarity } from './ranking/meaning-texts.js'
import type { Query } from './ranking/query.js'
import { createVectorIndex, type VectorFilter, type VectorIndex } from './vectors/vector-index.js'
import { textFieldsOf } from './words/text-fields.js'
import { createWordIndex, type WordMatch, type WordResult } from './words/word-index.js'

/**
 * Agents that words bring into the ranking, and vectors that meaning brings, at the most; what comes after them is
 * ordered by words.
 */
export const CANDIDATES = 100

/** Which agents may be found. */
export interface TextFilter {
  /** A hard filter, applied before ranking. */
  readonly accept: (number: number) => boolean
  /** The only agents that it may refuse, if that is known. */
  readonly unsure?: ReadonlySet<number>
  /** All agents that are accepted, if an index of terms told them. */
  readonly among?: readonly number[] | undefined
  /** `accept` passes nearly all: in a large set a few of the nearest by meaning may be missed, for speed. */
  readonly isWide?: boolean
  /** Factor of the score for what words and meaning do not tell: status, trust, abuse. 1 changes nothing. */
  readonly weigh?: (number: number) => number
}

/** An agent in the ranking. */
export interface TextHit extends Scored {
  /** The score that words and meaning alone earn: before factors, and before copies were moved down. */
  readonly relevance: number
}

/** All agents that match, the best of them ranked. */
export interface Ranking {
  /** Every match. */
  readonly total: number
  /** Matches of the given places in the whole order, head and rest. */
  page(skip: number, take: number): readonly TextHit[]
}

/** What the ranking asks of an agent. */
export interface AgentLookup {
  /** The record as everybody sees it. */
  recordOf(number: number): AgentRecord
  /** Who answers for it: near-copies of one publisher are held together sooner. */
  publisherOf(number: number): string | undefined
}

/** How alike a query and one part of an agent are. */
export interface PartMatch {
  readonly part: MeaningPart
  /** Cosine, -1 to 1. */
  readonly similarity: number
}

/** Why an agent was found. */
export interface TextEvidence {
  readonly words: readonly WordMatch[]
  /** Best first; empty while the agent's meaning is not known. */
  readonly parts: readonly PartMatch[]
}

/** Words and meaning of agents by number, and the ranking that blends them. */
export interface TextSearch {
  /** Bytes of words and of vectors. */
  readonly bytes: { readonly words: number; readonly vectors: number }
  /** @param open everybody may see the agent */
  put(number: number, record: AgentRecord, open: boolean): void
  /** Vectors from now on have so many dimensions; those that there were are forgotten. */
  setDimensions(dimensions: number): void
  /** Vectors of `meaningTextsOf(record)`, packed; false if another model's or version's bytes. */
  putVectors(number: number, record: AgentRecord, packed: Uint8Array): boolean
  /** The agent is found by its words alone until it gets other vectors. */
  removeVectors(number: number): void
  remove(number: number): void
  /** @param embedded vectors of `query.texts`; none: words alone decide */
  search(query: Query, embedded: readonly Float32Array[], filter: TextFilter, agents: AgentLookup): Ranking
  evidence(query: Query, embedded: readonly Float32Array[], number: number, record: AgentRecord): TextEvidence
}

/** Finds by words alone until `setDimensions` says that there will be vectors. */
export function createTextSearch(candidates = CANDIDATES): TextSearch {
  const words = createWordIndex()
  let vectors: VectorIndex | undefined
  /** For each agent that has vectors: the first of them that is of an example. */
  const firstExample = new Map<number, number>()

  const removeVectors = (number: number): void => {
    vectors?.remove(number)
    firstExample.delete(number)
  }

  /** How alike agents and query are, each by its best part and the query's best text. */
  const similarities = (
    embedded: readonly Float32Array[],
    limit: number,
    filter: VectorFilter,
  ): Map<number, number> => {
    const best = new Map<number, number>()
    for (const vector of embedded) {
      for (const { number, part, similarity } of vectors?.search(vector, limit, filter) ?? []) {
        const kind = part >= (firstExample.get(number) ?? Number.POSITIVE_INFINITY) ? 'example' : 'agent'
        const counted = partSimilarity({ kind }, similarity)
        if (counted > (best.get(number) ?? -1)) best.set(number, counted)
      }
    }
    return best
  }

  /** Agents near the query by meaning: the nearest of those that a filter leaves, or nearly so among all. */
  const near = (
    embedded: readonly Float32Array[],
    { accept, among, isWide = false }: TextFilter,
  ): Map<number, number> => {
    const filter = among ? { candidates: among } : { accept, approximate: isWide }
    const found = similarities(embedded, candidates, filter)
    for (const [number, similarity] of found) if (similarity <= MEANING_FLOOR) found.delete(number)
    return found
  }

  const rank = (
    query: Query,
    found: WordResult,
    meanings: ReadonlyMap<number, number>,
    { weigh }: TextFilter,
    { recordOf }: AgentLookup,
  ): TextHit[] => {
    const toRank = found.hits.map(
      ({ number, score }): Candidate => ({
        number,
        words: score,
        similarity: meanings.get(number),
        languages: recordOf(number).languages,
      }),
    )
    return rankCandidates(query, found.best, toRank)
      .map((hit) => ({ ...hit, relevance: hit.score, score: Math.min(1, hit.score * (weigh?.(hit.number) ?? 1)) }))
      .sort(byScore)
  }

  return {
    get bytes() {
      return { words: words.bytes, vectors: vectors?.bytes ?? 0 }
    },
    put: (number, record, open) => words.put(number, textFieldsOf(record), open),
    setDimensions(dimensions) {
      vectors = createVectorIndex(dimensions)
      firstExample.clear()
    },
    putVectors(number, record, packed) {
      if (!vectors?.putPacked(number, packed)) return false
      firstExample.set(number, meaningTextsOf(record).length - record.examples.length)
      return true
    },
    removeVectors,
    remove(number) {
      words.remove(number)
      removeVectors(number)
    },
    search(query, embedded, filter, agents) {
      const { accept, unsure } = filter
      const byMeaning = near(embedded, filter)
      const found = words.search(query.words, {
        limit: candidates,
        accept,
        unsure,
        also: byMeaning.keys(),
        count: true,
      })
      const unknown = found.hits.filter(({ number }) => !byMeaning.has(number)).map(({ number }) => number)
      const meanings = new Map([
        ...byMeaning,
        ...similarities(embedded, Number.POSITIVE_INFINITY, { candidates: unknown }),
      ])
      const head = diversify(rank(query, found, meanings, filter, agents), {
        publisherOf: agents.publisherOf,
        termsOf: words.termsOf,
      })
      const onlyByMeaning = found.hits.filter(({ score }) => score === 0).length
      const total = found.total + onlyByMeaning
      /** What follows the head, in the order of the words, with scores that never rise. */
      const rest = (end: number): TextHit[] => {
        const ranked = new Set(head.map(({ number }) => number))
        const hits = words
          .search(query.words, { limit: end, accept, unsure })
          .hits.filter(({ number }) => !ranked.has(number))
        const scored = rank(query, { ...found, hits }, new Map(), filter, agents)
        const byNumber = new Map(scored.map((hit) => [hit.number, hit]))
        let least = head.at(-1)?.score ?? 1
        return hits.flatMap(({ number }) => {
          const hit = byNumber.get(number)
          least = Math.min(least, hit?.score ?? least)
          return hit ? [{ ...hit, score: least }] : []
        })
      }
      return {
        total,
        page: (skip, take) => {
          const end = skip + take
          const all = end <= head.length || head.length >= total ? head : [...head, ...rest(Math.min(end, total))]
          return all.slice(skip, end)
        },
      }
    },
    evidence(query, embedded, number, record) {
      const parts = meaningTextsOf(record)
      const best = new Map<number, number>()
      for (const vector of embedded) {
        for (const { part, similarity } of vectors?.search(vector, parts.length, { candidates: [number] }) ?? []) {
          best.set(part, Math.max(similarity, best.get(part) ?? -1))
        }
      }
      const matches = [...best].flatMap(([place, similarity]) => {
        const part = parts[place]?.part
        return part ? [{ part, similarity }] : []
      })
      return {
        words: words.matches(query.words, number),
        parts: matches.sort((a, b) => b.similarity - a.similarity),
      }
    },
  }
}
