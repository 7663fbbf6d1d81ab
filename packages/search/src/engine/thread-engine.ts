import type { ThreadIndexOptions } from './messages.js'
import { SearchError } from './search-error.js'
import { type SearchThread, startSearchThread } from './start-search-thread.js'
import type { TextEngine } from './text-engine.js'

/** How often a search is made if the thread stops meanwhile. */
const MAX_ATTEMPTS = 3

let shared: SearchThread | undefined

/** The search thread of this process. */
const sharedThread = (): SearchThread => {
  shared ??= startSearchThread()
  return shared
}

/** Options of `createThreadEngine`. */
export interface ThreadEngineOptions extends ThreadIndexOptions {
  /** Default: the one that all engines of the process share. */
  readonly thread?: SearchThread | undefined
  /** A change could not be made: the agent is found by its filters only. */
  readonly onProblem?: (message: string) => void
}

/** Searches in a worker thread, so that searches delay nothing else. */
export function createThreadEngine({
  thread = sharedThread(),
  onProblem = () => {},
  ...options
}: ThreadEngineOptions = {}): TextEngine {
  const lostListeners: (() => void)[] = []
  const index = thread.open({
    lost() {
      index.change({ kind: 'open', options })
      for (const listener of lostListeners) listener()
    },
    problem: onProblem,
  })
  index.change({ kind: 'open', options })

  /** Again if the thread has stopped: what it held is being put again, and is found as far as it is. */
  const persist = async <T>(attempt: () => Promise<T>): Promise<T> => {
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
    put: (number, text, isPublic) => index.change({ kind: 'put', number, text, isPublic }),
    versions: async () => new Map(),
    remove: (number) => index.change({ kind: 'remove', number }),
    setDimensions: (dimensions) => index.change({ kind: 'setDimensions', dimensions }),
    putVectors: (number, packed) => index.change({ kind: 'putVectors', number, packed }),
    removeVectors: (number) => index.change({ kind: 'removeVectors', number }),
    settled: async () => void (await index.request('settled', {})),
    read: (text, options) => persist(async () => (await index.request('read', { text, options })).result),
    suggest: (unknown) => persist(async () => (await index.request('suggest', { unknown })).result),
    search: (query, vectors, { accepted, approximate = false, skip, take, all = false }, adjust) =>
      persist(async () => {
        const isKept = take > 0
        const params = { query, vectors, accepted: accepted.bits, approximate, end: skip + take, isKept, all }
        const { id, result: found } = await index.request('find', params)
        if (!isKept) return { ...found, hits: [] }
        const adjustments = adjust(found.numbers)
        const { result: hits } = await index.request('rank', { found: id, adjustments, skip, take })
        return { ...found, hits }
      }),
    evidence: (query, vectors, numbers) =>
      persist(async () => (await index.request('evidence', { query, vectors, numbers })).result),
    onLost: (listener) => void lostListeners.push(listener),
    close: async () => index.close(),
  }
}
