import { LRUCache } from 'lru-cache'
import type { Embedder } from './embedder.js'
import { EmbeddingError } from './embedding-error.js'

/** Longer texts are not cached: queries are short, and this bounds the memory of the cache. */
const MAX_CACHED_CHARACTERS = 2000

/** An embedder with a cache. */
export interface CachedEmbedder extends Embedder {
  /** The vectors, if all texts have been embedded already. */
  cached(texts: readonly string[]): Float32Array[] | undefined
}

/**
 * Wraps an embedder in an LRU cache of `size` texts; meant for queries. Concurrent requests for the same text share one
 * embedding. Callers share the returned vectors and must not modify them. Closing it closes the embedder.
 */
export function createCachedEmbedder(embedder: Embedder, size: number): CachedEmbedder {
  const cache = new LRUCache<string, Promise<Float32Array>>({ max: size })
  const settled = new WeakMap<Promise<Float32Array>, Float32Array>()

  function store(text: string, vector: Promise<Float32Array>): void {
    if (text.length > MAX_CACHED_CHARACTERS) return
    cache.set(text, vector)
    vector.then(
      (value) => settled.set(vector, value),
      () => {
        if (cache.peek(text) === vector) cache.delete(text) // failures are not cached
      },
    )
  }

  return {
    id: embedder.id,
    dimensions: embedder.dimensions,
    embed(texts) {
      const missing = [...new Set(texts)].filter((text) => !cache.has(text))
      const positions = new Map(missing.map((text, position) => [text, position]))
      const embedded = missing.length > 0 ? embedder.embed(missing) : Promise.resolve([])
      const found = texts.map((text) => ({
        text,
        vector: cache.get(text) ?? embedded.then((vectors) => vectorAt(vectors, positions.get(text))),
      }))
      for (const { text, vector } of found) store(text, vector) // last, because it may evict texts of this request
      return Promise.all(found.map(({ vector }) => vector))
    },
    cached(texts) {
      const vectors = texts.flatMap((text) => {
        const vector = cache.get(text)
        return (vector && settled.get(vector)) ?? []
      })
      return vectors.length === texts.length ? vectors : undefined
    },
    close: () => embedder.close(),
  }
}

function vectorAt(vectors: readonly Float32Array[], position = -1): Float32Array {
  const vector = vectors[position]
  if (!vector) throw new EmbeddingError('failed', 'the embedder did not return one vector for each text')
  return vector
}
