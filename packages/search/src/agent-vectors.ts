import type { AgentText } from './agent-text.js'
import type { StaticEncoder } from './embedding/static-encoder.js'
import type { RecordGloss } from './lexicon/gloss-record.js'
import type { NumberSet } from './number-set.js'
import { partSimilarity } from './ranking/embedding-texts.js'
import { combinedSimilarity, type Similarities } from './ranking/rank-candidates.js'
import type { Query } from './ranking/read-query.js'
import { type NumberMapState, restoreNumberMap, saveNumberMap } from './saved/number-map.js'
import {
  createVectorIndex,
  type VectorFilter,
  type VectorIndex,
  type VectorIndexState,
} from './vectors/vector-index.js'

/** Similarity of a query to one part of an agent. */
export interface PartSimilarity {
  /** Position in `AgentText.embedded`. */
  readonly position: number
  /** Cosine, -1 to 1. */
  readonly similarity: number
}

/** A query, ready to be compared with agents. */
export interface QueryVectors {
  /** The agents with the `limit` nearest vectors; by the static embedding only if the model's vectors are not complete. */
  nearest(limit: number, filter: VectorFilter & { readonly accepted: NumberSet }): Set<number>
  similaritiesOf(numbers: readonly number[]): (number: number) => Similarities
  /** The parts of the agent, most similar first. */
  parts(number: number): PartSimilarity[]
}

/** The static embeddings of all agents, to be saved. Those of the model are in the store already. */
export interface AgentVectorsState {
  readonly static: VectorIndexState | undefined
  readonly firstExample: NumberMapState
}

/**
 * The vectors of agents by number, by two embeddings: the static one, which every agent has as soon as it is put, and
 * that of the model, which follows later.
 */
export interface AgentVectors {
  readonly bytes: number
  /** Valid until the next change. */
  readonly state: AgentVectorsState
  /** Encodes the agent's texts with the static embedding. */
  put(number: number, text: AgentText, gloss?: RecordGloss): void
  /** Sets the dimensions of the model's vectors and drops those that are stored. */
  setDimensions(dimensions: number): void
  /** Sets the model's vectors of `AgentText.embedded`, packed; false if their version or dimensions differ. */
  putPacked(number: number, packed: Uint8Array): boolean
  /** Removes the model's vectors. */
  removeModelVectors(number: number): void
  remove(number: number): void
  /** The codes of the agent's vectors by the static embedding. */
  staticCodes(number: number): Int8Array[]
  /** @param vectors the model's embeddings of `query.texts`; empty: compare by the static embedding only */
  compare(query: Query, vectors: readonly Float32Array[]): QueryVectors
}

function hasAccepted(numbers: ReadonlySet<number>, accepted: NumberSet): boolean {
  for (const number of numbers) if (accepted.has(number)) return true
  return false
}

/** @param encoder undefined: agents have no vectors but those of the model */
export function createAgentVectors(encoder: StaticEncoder | undefined, saved?: AgentVectorsState): AgentVectors {
  const staticIndex = encoder && createVectorIndex(encoder.dimensions, saved?.static)
  let modelIndex: VectorIndex | undefined
  /** For each agent: the position of the first vector that belongs to an example. */
  const firstExample = saved ? restoreNumberMap(saved.firstExample) : new Map<number, number>()
  /** Agents that have vectors of the model. */
  const modelled = new Set<number>()
  /** Agents that do not have them yet. */
  const waiting = new Set<number>(firstExample.keys())

  /** The similarity of each agent found: the maximum over the agent's parts and the query's texts. */
  const best = (
    index: VectorIndex | undefined,
    vectors: readonly Float32Array[],
    limit: number,
    filter: VectorFilter,
  ): Map<number, number> => {
    const found = new Map<number, number>()
    for (const vector of vectors) {
      for (const { number, part, similarity } of index?.search(vector, limit, filter) ?? []) {
        const kind = part >= (firstExample.get(number) ?? Number.POSITIVE_INFINITY) ? 'example' : 'agent'
        const weighted = partSimilarity({ kind }, similarity)
        if (weighted > (found.get(number) ?? -1)) found.set(number, weighted)
      }
    }
    return found
  }

  /** The highest similarity of each of the agent's vectors, by position. */
  const bestByPart = (
    index: VectorIndex | undefined,
    vectors: readonly Float32Array[],
    number: number,
  ): Map<number, number> => {
    const found = new Map<number, number>()
    for (const vector of vectors) {
      for (const { part, similarity } of index?.search(vector, Number.POSITIVE_INFINITY, { candidates: [number] }) ??
        [])
        found.set(part, Math.max(similarity, found.get(part) ?? -1))
    }
    return found
  }

  return {
    get bytes() {
      return (staticIndex?.bytes ?? 0) + (modelIndex?.bytes ?? 0)
    },
    get state() {
      return { static: staticIndex?.state, firstExample: saveNumberMap(firstExample) }
    },
    put(number, { embedded, firstExample: first }, gloss) {
      if (!modelled.has(number)) waiting.add(number)
      firstExample.set(number, first)
      if (encoder)
        staticIndex?.put(
          number,
          embedded.map((text) => encoder.encode(gloss ? gloss.english(text) : text)),
        )
    },
    setDimensions(dimensions) {
      modelIndex = createVectorIndex(dimensions)
      modelled.clear()
      for (const number of firstExample.keys()) waiting.add(number)
    },
    putPacked(number, packed) {
      if (!modelIndex?.putPacked(number, packed)) return false
      modelled.add(number)
      waiting.delete(number)
      return true
    },
    removeModelVectors(number) {
      modelIndex?.remove(number)
      modelled.delete(number)
      if (firstExample.has(number)) waiting.add(number)
    },
    remove(number) {
      staticIndex?.remove(number)
      modelIndex?.remove(number)
      firstExample.delete(number)
      modelled.delete(number)
      waiting.delete(number)
    },
    staticCodes: (number) => staticIndex?.codesOf(number) ?? [],
    compare(query, vectors) {
      const encoded = encoder && query.englishWeight > 0 ? query.englishTexts.map(encoder.encode) : []
      return {
        nearest(limit, filter) {
          const byModel = best(modelIndex, vectors, limit, filter)
          // Agents that the caller does not see must not change what is found.
          if (vectors.length > 0 && !hasAccepted(waiting, filter.accepted)) return new Set(byModel.keys())
          // The whole query is enough to find candidates; a second scan for each sentence would take milliseconds.
          return new Set([...byModel.keys(), ...best(staticIndex, encoded.slice(0, 1), limit, filter).keys()])
        },
        similaritiesOf(numbers) {
          const filter = { candidates: numbers }
          const byModel = best(modelIndex, vectors, Number.POSITIVE_INFINITY, filter)
          const byStatic = best(staticIndex, encoded, Number.POSITIVE_INFINITY, filter)
          return (number) => ({ model: byModel.get(number), static: byStatic.get(number) })
        },
        parts(number) {
          const byModel = bestByPart(modelIndex, vectors, number)
          const byStatic = bestByPart(staticIndex, encoded, number)
          const positions = [...new Set([...byModel.keys(), ...byStatic.keys()])]
          const matches = positions.flatMap((position) => {
            const similarity = combinedSimilarity({ model: byModel.get(position), static: byStatic.get(position) })
            return similarity === undefined ? [] : [{ position, similarity }]
          })
          return matches.sort((a, b) => b.similarity - a.similarity || a.position - b.position)
        },
      }
    },
  }
}
