import type { AgentText } from '../../agent-text.js'
import type { TextSearch } from '../../text-search.js'
import type { FoundRow, TextContent, TextTables } from './text-tables.js'

/** Characters of the texts that are kept, as JSON: of some 25,000 agents, which take about 70 MB when they are indexed. */
const MAX_CHARACTERS = 64 * 1024 * 1024
/** Times that rows are read again because they have changed meanwhile. */
const MAX_READS = 3

/**
 * The texts of the agents that were found last, indexed in memory: they are ranked there. The least recently used ones are
 * dropped.
 */
export interface TextCache {
  put(number: number, text: AgentText, version: number, isPublic: boolean, size: number): void
  remove(number: number): void
  /** The model's vectors of all agents have been dropped. */
  forgetVectors(): void
  /** Reads what is missing of these rows, then does `work` at once with those that there still are. */
  use<T>(rows: readonly FoundRow[], work: (numbers: readonly number[]) => T): Promise<T>
}

interface Cached {
  version: number
  stamp: number
  size: number
}

export function createTextCache(
  search: TextSearch,
  tables: Pick<TextTables, 'contents'>,
  maxCharacters = MAX_CHARACTERS,
): TextCache {
  /** In the order of their last use. */
  const cached = new Map<number, Cached>()
  let characters = 0

  const forget = (number: number): void => {
    characters -= cached.get(number)?.size ?? 0
    cached.delete(number)
  }

  const put: TextCache['put'] = (number, text, version, isPublic, size) => {
    search.put(number, text, isPublic)
    // Vectors of the former text, if any, are of no use.
    search.removeVectors(number)
    forget(number)
    cached.set(number, { version, stamp: 0, size })
    characters += size
  }

  const load = ({ number, version, stamp, isPublic, content, packed }: TextContent): void => {
    // Written by this package.
    const text: AgentText = JSON.parse(content)
    put(number, text, version, isPublic, content.length)
    const own = cached.get(number)
    if (packed) search.putVectors(number, packed)
    if (own) own.stamp = stamp
  }

  const isCurrent = ({ number, version, stamp }: FoundRow): boolean => {
    const own = cached.get(number)
    return own !== undefined && own.version === version && own.stamp === stamp
  }

  const touch = (number: number): void => {
    const own = cached.get(number)
    if (!own) return
    cached.delete(number)
    cached.set(number, own)
  }

  const evict = (): void => {
    for (const number of cached.keys()) {
      if (characters <= maxCharacters) break
      search.remove(number)
      forget(number)
    }
  }

  return {
    put(...agent) {
      put(...agent)
      evict()
    },
    remove(number) {
      search.remove(number)
      forget(number)
    },
    forgetVectors() {
      for (const own of cached.values()) own.stamp = 0
    },
    async use(rows, work) {
      const current = new Map(rows.map((row) => [row.number, row]))
      for (let reads = 0; reads < MAX_READS; reads++) {
        const missing = [...current.values()].filter((row) => !isCurrent(row)).map(({ number }) => number)
        if (missing.length === 0) break
        const contents = await tables.contents(missing)
        for (const number of missing) current.delete(number)
        for (const content of contents) {
          current.set(content.number, content)
          load(content)
        }
      }
      const numbers = [...current.keys()].filter((number) => cached.has(number))
      const result = work(numbers)
      for (const number of numbers) touch(number)
      evict()
      return result
    },
  }
}
