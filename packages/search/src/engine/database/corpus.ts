import type { CorpusStatistics } from '../../words/inverted-index.js'
import { inverseDocumentFrequency } from '../../words/word-index.js'
import type { TermFrequency, TextStatistics, TextTables } from './text-tables.js'

/** Terms whose frequencies are cached. */
const MAX_TERMS = 100_000
/** Cached frequencies are used until one agent in this many has changed: scores would hardly differ. */
const AGENTS_PER_REFRESH = 1000

const EMPTY: TextStatistics = { generation: -1, agents: 0, publicAgents: 0, publicLength: 0 }
const UNKNOWN: TermFrequency = { agents: 0, loud: 0 }

/** Statistics of all agents in the tables, as far as they were read. */
export interface Corpus extends CorpusStatistics {
  readonly statistics: TextStatistics
  /** Reads the statistics again, and the frequencies of these terms. */
  refresh(terms: readonly string[]): Promise<void>
  frequenciesOf(term: string): TermFrequency
  idf(term: string): number
  /**
   * Does work that asks for frequencies. Those that were not read yet count as 0 and are read afterwards: then the result
   * is not complete, and the work is to be done again.
   */
  complete<T>(work: () => T): Promise<{ readonly result: T; readonly isComplete: boolean }>
}

export function createCorpus(tables: Pick<TextTables, 'statistics' | 'frequencies'>): Corpus {
  let statistics = EMPTY
  /** The generation of the cached frequencies. */
  let cachedAt = -1
  const cached = new Map<string, TermFrequency>()
  const missing = new Set<string>()

  const read = async (terms: readonly string[]): Promise<void> => {
    const unread = terms.filter((term) => !cached.has(term))
    if (unread.length === 0) return
    const found = await tables.frequencies(unread)
    if (cached.size > MAX_TERMS) cached.clear()
    for (const term of unread) cached.set(term, found.get(term) ?? UNKNOWN)
  }

  const frequenciesOf = (term: string): TermFrequency => {
    const known = cached.get(term)
    if (!known) missing.add(term)
    return known ?? UNKNOWN
  }

  return {
    get statistics() {
      return statistics
    },
    get agents() {
      return statistics.publicAgents
    },
    get averageLength() {
      return Math.max(statistics.publicLength, 1) / Math.max(statistics.publicAgents, 1)
    },
    frequencyOf: (term) => frequenciesOf(term).agents,
    frequenciesOf,
    idf: (term) => inverseDocumentFrequency(frequenciesOf(term).agents, statistics.publicAgents),
    async refresh(terms) {
      statistics = await tables.statistics()
      if (Math.abs(statistics.generation - cachedAt) > statistics.publicAgents / AGENTS_PER_REFRESH) {
        cached.clear()
        cachedAt = statistics.generation
      }
      await read(terms)
    },
    async complete(work) {
      missing.clear()
      const result = work()
      const isComplete = missing.size === 0
      if (!isComplete) await read([...missing])
      return { result, isComplete }
    },
  }
}
