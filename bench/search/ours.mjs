// The index of packages/search as the directory uses it.
import { createAgentIndex } from '../../packages/search/dist/index.js'

const DIMENSIONS = 512
const PAGE = 10
/** What a directory leaves out unless it is asked for. */
const AVAILABLE = { kind: 'status', anyOf: ['inactive', 'suspended'], excluded: true }
/** A condition that holds for all, and that the index cannot know to: so it must look at every agent. */
const ALL = { kind: 'test', holds: () => true }

export function createOurs() {
  const index = createAgentIndex()
  index.setDimensions(DIMENSIONS)
  const view = ({ record }) => record
  return {
    get bytes() {
      return index.bytes
    },
    put: (number, record) => index.put({ number, record, status: 'active' }),
    putVectors: (number, packed) => index.putVectors(number, packed),
    remove: (id) => index.remove(id),
    /** Numbers of the first page. */
    search({ query, queryVectors, isExact = false }) {
      const conditions = isExact ? [AVAILABLE, ALL] : [AVAILABLE]
      const text = { query, vectors: query.semanticWeight > 0 ? queryVectors : [] }
      const { ranked } = index.search(text, { conditions, view, showsAllPublic: true }, { skip: 0, take: PAGE })
      return ranked.map(({ agent }) => agent.number)
    },
  }
}
