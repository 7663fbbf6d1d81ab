import type { TextSearch } from '../text-search.js'
import type { TextEngine } from './text-engine.js'

/** Searches in the calling thread, for small indexes and for programs that have nothing else to do. It saves nothing. */
export function createLocalEngine(search: TextSearch): TextEngine {
  return {
    get bytes() {
      return search.bytes
    },
    put: (number, text, isPublic) => search.put(number, text, isPublic),
    remove: search.remove,
    setDimensions: (dimensions) => search.setDimensions(dimensions),
    putVectors: (number, packed) => void search.putVectors(number, packed),
    removeVectors: search.removeVectors,
    settled: async () => {},
    read: async (text, options) => search.read(text, options),
    suggest: async (unknown) => search.suggest(unknown),
    async search(query, vectors, { skip, take, all = false, ...filter }, adjust) {
      const found = search.find(query, vectors, { ...filter, end: skip + take })
      const hits = take > 0 ? found.rank(adjust(found.numbers)).slice(skip, skip + take) : []
      return { hits, total: found.total, all: all ? found.matching() : [] }
    },
    evidence: async (query, vectors, numbers) => numbers.map((number) => search.evidence(query, vectors, number)),
    versions: async () => new Map(),
    save: async () => true,
    onLost() {},
    close: async () => {},
  }
}
