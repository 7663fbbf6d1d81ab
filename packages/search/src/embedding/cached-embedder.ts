import type { Embedder } from './embedder.js'
import { EmbeddingError } from './embedding-error.js'

/** Longer texts are not kept: a query is short, and a thousand texts of any length could be much memory. */
const MAX_KEPT_CHARACTERS = 2000

/**
 * Remembers the vectors of the `size` texts asked for last, and asks only once for a text that is under way; made for
 * queries. The vectors are shared among all who ask, so they are to be read only. Closing it closes the embedder.
 */
export function createCachedEmbedder(embedder: Embedder, size: number): Embedder {
  /** In the order of their last use: a Map keeps the order in which entries were put. */
  const kept = new Map<string, Promise<Float32Array>>()

  function keep(text: string, vector: Promise<Float32Array>): void {
    if (text.length > MAX_KEPT_CHARACTERS) return
    kept.delete(text)
    kept.set(text, vector)
    const [oldest] = kept.keys()
    if (kept.size > size && oldest !== undefined) kept.delete(oldest)
    vector.catch(() => {
      if (kept.get(text) === vector) kept.delete(text) // a failure is not remembered
    })
  }

  return {
    id: embedder.id,
    dimensions: embedder.dimensions,
    embed(texts) {
      const missing = [...new Set(texts)].filter((text) => !kept.has(text))
      const answer = missing.length > 0 ? embedder.embed(missing) : Promise.resolve([])
      const places = new Map(missing.map((text, place) => [text, place]))
      const found = texts.map((text) => ({
        text,
        vector: kept.get(text) ?? answer.then((vectors) => vectorAt(vectors, places.get(text))),
      }))
      for (const { text, vector } of found) keep(text, vector) // not before all are found: it forgets others
      return Promise.all(found.map(({ vector }) => vector))
    },
    close: () => embedder.close(),
  }
}

function vectorAt(vectors: readonly Float32Array[], place = -1): Float32Array {
  const vector = vectors[place]
  if (!vector) throw new EmbeddingError('failed', 'not one vector for each text')
  return vector
}
