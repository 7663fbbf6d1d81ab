// The index of packages/search, used like the directory uses it.
import {
  builtInStaticEncoder,
  createAgentIndex,
  getBuiltInLexicon,
  packVectors,
} from '../../packages/search/dist/index.js'
import { embeddingTextsOf } from '../../packages/search/dist/ranking/embedding-texts.js'
import { createPartVectors } from './part-vectors.mjs'

const DIMENSIONS = 512
const PAGE = 10
/** The default filter of a directory. */
const AVAILABLE = { kind: 'status', anyOf: ['inactive', 'suspended'], excluded: true }
/** Holds for every agent, which the index cannot know: forces an exact search. */
const ALL = { kind: 'test', holds: () => true }

/** @param encoder the static embedding; null: none */
export function createOurs({ encoder = builtInStaticEncoder() } = {}) {
  const index = createAgentIndex({ encoder: encoder ?? undefined })
  index.setDimensions(DIMENSIONS)
  const view = ({ record }) => record
  const rank = ({ query, queryVectors, isExact = false }) => {
    const conditions = isExact ? [AVAILABLE, ALL] : [AVAILABLE]
    const text = { query, vectors: query.semanticWeight > 0 ? queryVectors : [] }
    return index.search(text, { conditions, view, showsAllPublic: true }, { skip: 0, take: PAGE }).ranked
  }
  return {
    get bytes() {
      return index.bytes
    },
    put: (number, record) => index.put({ number, record, status: 'active' }),
    putVectors: (number, packed) => index.putVectors(number, packed),
    remove: (id) => index.remove(id),
    correct: (text, options) => index.correct(text, { lexicon: getBuiltInLexicon(), ...options }),
    /** The agents on the first page with their scores. */
    rank,
    /** The numbers of the agents on the first page. */
    search: (query) => rank(query).map(({ agent }) => agent.number),
  }
}

/** Indexes records by their positions. */
export async function indexRecords(records, embed) {
  const texts = records.flatMap((record) => embeddingTextsOf(record).map(({ text }) => text))
  const vectors = createPartVectors(records, await embed(texts))
  const index = createOurs()
  records.forEach((record, position) => {
    index.put(position, record)
    index.putVectors(position, packVectors(vectors.parts(position)))
  })
  return index
}
