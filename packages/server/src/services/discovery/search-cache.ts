import type { Ranked, TextEvidence } from '@switchboard/search'
import { LRUCache } from 'lru-cache'
import type { Agent } from '../registry/catalog.js'
import type { ReadText } from './read-text.js'

/** What a search by text has found: numbers of agents, because these may be refreshed meanwhile. */
export interface CachedSearch {
  readonly read: ReadText
  readonly hits: readonly (Omit<Ranked<Agent>, 'agent'> & { readonly number: number })[]
  readonly total: number
  readonly visited: number
  /** Score factors of the hits and of some agents after them. */
  readonly factors: readonly { readonly number: number; readonly factor: number }[]
  /** Evidence for hits, as far as somebody has asked for it. */
  readonly evidence: Map<number, TextEvidence>
}

/** Searches that were made on the current version of the index. */
export interface SearchCache {
  get(key: string): CachedSearch | undefined
  /** @param version of the index when the search began; nothing is kept if it has changed meanwhile */
  set(key: string, version: number, search: CachedSearch): void
}

const MAX_BYTES = 16 * 1024 * 1024
/** Milliseconds after which a search is made again: score factors of agents far below a page may have changed. */
const MAX_AGE_MS = 10_000
/** Estimates, in bytes. */
const BYTES = { search: 2000, hit: 2000, factor: 60, character: 2 }

/** Creates a cache of bounded size: the least recently used searches are dropped first. */
export function createSearchCache(versionOf: () => number, maxBytes = MAX_BYTES): SearchCache {
  const searches = new LRUCache<string, CachedSearch>({ maxSize: maxBytes, sizeCalculation: bytesOf, ttl: MAX_AGE_MS })
  let version = versionOf()
  /** Whether the searches are of the current version; if not, they are dropped. */
  const keepCurrent = (): void => {
    if (version === versionOf()) return
    searches.clear()
    version = versionOf()
  }
  return {
    get(key) {
      keepCurrent()
      return searches.get(key)
    },
    set(key, began, search) {
      keepCurrent()
      if (began === version) searches.set(key, search)
    },
  }
}

function bytesOf({ read, hits, factors }: CachedSearch, key: string): number {
  const vectors = read.text.vectors.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return BYTES.search + BYTES.character * key.length + vectors + BYTES.hit * hits.length + BYTES.factor * factors.length
}
