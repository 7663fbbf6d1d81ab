import type { ThreadIndexOptions } from './messages.js'
import { SearchError } from './search-error.js'
import { type SearchThread, sharedThread } from './start-search-thread.js'
import type { TextEngine } from './text-engine.js'

/** How often a search is made if the thread stops meanwhile. */
const MAX_ATTEMPTS = 3

/** Options of `createThreadEngine`. */
export interface ThreadEngineOptions extends Omit<ThreadIndexOptions, 'isRestored'> {
  /** Default: the one that all engines of the process share. */
  readonly thread?: SearchThread | undefined
  /** A change could not be made: the agent is found by its filters only. */
  readonly onProblem?: (message: string) => void
  /** The file is of no use: everything has to be put again. */
  readonly onRejected?: (reason: string) => void
}

/** Searches in a worker thread, so that searches delay nothing else. */
export function createThreadEngine({
  thread = sharedThread(),
  onProblem = () => {},
  onRejected = () => {},
  ...options
}: ThreadEngineOptions = {}): TextEngine {
  const lostListeners: (() => void)[] = []
  const index = thread.open({
    lost() {
      // Not from the file, which may have agents that were removed since.
      index.change({ kind: 'open', options })
      for (const listener of lostListeners) listener()
    },
    problem: onProblem,
  })
  index.change({ kind: 'open', options: { ...options, isRestored: true } })

  /** If the thread stops, tries again: what it held is being put again, so some agents may be missing. */
  const retry = async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt()
      } catch (error) {
        const isInterrupted = error instanceof SearchError && error.code === 'interrupted'
        if (!isInterrupted || attempts === MAX_ATTEMPTS) throw error
      }
    }
  }

  return {
    get bytes() {
      return index.bytes
    },
    put: (number, text, isPublic, version) => index.change({ kind: 'put', number, text, isPublic, version }),
    remove: (number) => index.change({ kind: 'remove', number }),
    setDimensions: (dimensions) => index.change({ kind: 'setDimensions', dimensions }),
    putVectors: (number, packed) => index.change({ kind: 'putVectors', number, packed }),
    removeVectors: (number) => index.change({ kind: 'removeVectors', number }),
    settled: async () => void (await index.request('settled', {})),
    read: (text, options) => retry(async () => (await index.request('read', { text, options })).result),
    suggest: (unknown) => retry(async () => (await index.request('suggest', { unknown })).result),
    search: (query, vectors, { accepted, approximate = false, skip, take, all = false }, adjust) =>
      retry(async () => {
        const isKept = take > 0
        const params = { query, vectors, accepted: accepted.bits, approximate, end: skip + take, isKept, all }
        const { id, result: found } = await index.request('find', params)
        if (!isKept) return { ...found, hits: [] }
        const adjustments = adjust(found.numbers)
        const { result: hits } = await index.request('rank', { found: id, adjustments, skip, take })
        return { ...found, hits }
      }),
    evidence: (query, vectors, numbers) =>
      retry(async () => (await index.request('evidence', { query, vectors, numbers })).result),
    async versions() {
      const { versions, rejected } = await retry(async () => (await index.request('versions', {})).result)
      if (rejected !== undefined) onRejected(rejected)
      return versions
    },
    save: async () => (await index.request('save', {})).result,
    onLost: (listener) => void lostListeners.push(listener),
    close: async () => index.close(),
  }
}
