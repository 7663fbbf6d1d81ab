// The index of packages/search, used like the directory uses it.
import {
  builtInStaticEncoder,
  createAgentIndex,
  packVectors,
  UNKNOWN_WORDS_FLOOR,
} from '../../packages/search/dist/index.js'
import { embedRecords } from './part-vectors.mjs'

const DIMENSIONS = 512
const PAGE = 10
/** The default filter of a directory. */
const AVAILABLE = { kind: 'status', anyOf: ['inactive', 'suspended'], excluded: true }
/** Holds for every agent, which the index cannot know: forces an exact search. */
const ALL = { kind: 'test', holds: () => true }

/**
 * @param encoder the static embedding; null: none
 * @param engine default: one in this thread
 */
export function createOurs({ encoder = builtInStaticEncoder(), engine } = {}) {
  const index = createAgentIndex({ encoder: encoder ?? undefined, engine })
  index.setDimensions(DIMENSIONS)
  const view = ({ record }) => record
  const rank = async ({ query, queryVectors, isExact = false, take = PAGE }) => {
    const conditions = isExact ? [AVAILABLE, ALL] : [AVAILABLE]
    const text = { query, vectors: query.semanticWeight > 0 ? queryVectors : [] }
    const { ranked } = await index.search(text, { conditions, view }, { skip: 0, take })
    return ranked
  }
  return {
    get bytes() {
      return index.bytes
    },
    put: (number, record) => index.put({ number, record, status: 'active' }),
    putVectors: (number, packed) => index.putVectors(number, packed),
    remove: (id) => index.remove(id),
    read: (text, options) => index.read(text, options),
    suggest: (unknown) => index.suggest(unknown),
    /** The first agents with their scores; default: one page of them. */
    rank,
    /** The numbers of the agents on the first page. */
    search: async (query) => (await rank(query)).map(({ agent }) => agent.number),
  }
}

/** Reads a query like the directory does: corrected, and by its words only if some are known. */
export async function readAsDirectory(index, text, { exact = false } = {}) {
  const { query, unknown } = await index.read(text, { exact })
  return { query: { ...query, ...(unknown.length > 0 && { minSimilarity: UNKNOWN_WORDS_FLOOR }) }, unknown }
}

/** Indexes lists of records by their positions in all of them. */
export async function indexRecords(lists, embed) {
  const vectors = await embedRecords(lists, embed)
  const index = createOurs()
  lists.flat().forEach((record, position) => {
    index.put(position, record)
    index.putVectors(position, packVectors(vectors.parts(position)))
  })
  return index
}
