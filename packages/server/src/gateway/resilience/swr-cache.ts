import { LRUCache } from 'lru-cache'

/** A stale-while-revalidate cache for what agents say about themselves. */
export interface SwrCache<T> {
  /**
   * The value for the key. Loads it if none is usable, and refreshes it in the background if it is no longer fresh.
   * Concurrent callers share one load. A failure is cached too, for a shorter time.
   */
  get(key: string, load: () => Promise<T>): Promise<T>
}

/** Times in milliseconds. */
export interface SwrCacheOptions<T> {
  readonly monotonic: () => number
  /** How long a value is used without a refresh. */
  readonly freshMs: number
  /** How long a value is used while it is being refreshed. */
  readonly usableMs: number
  /** How long to wait after a failure before loading again. */
  readonly failedMs: number
  /** Keys kept; the least recently used is evicted first. */
  readonly limit: number
  /** Size of a value, in any unit; an integer above 0. Required with `maxSize`. */
  readonly size?: (value: T) => number
  /** Total size kept. */
  readonly maxSize?: number
}

interface Entry<T> {
  loaded?: { readonly value: T; readonly at: number }
  failed?: { readonly error: unknown; readonly at: number }
  loading?: Promise<T>
}

/** Creates an empty cache. */
export function createSwrCache<T>(options: SwrCacheOptions<T>): SwrCache<T> {
  const { monotonic, freshMs, usableMs, failedMs, limit, size = () => 1, maxSize } = options
  const entries = new LRUCache<string, Entry<T>>({
    max: limit,
    ...(maxSize !== undefined && {
      maxSize,
      sizeCalculation: ({ loaded }: Entry<T>) => (loaded ? size(loaded.value) : 1),
    }),
  })

  const load = (key: string, entry: Entry<T>, loader: () => Promise<T>): Promise<T> => {
    entry.loading = loader().then(
      (value) => {
        // A new object: the cache does not compute the size of the same one again. Unless evicted in the meantime.
        if (entries.peek(key) === entry) entries.set(key, { loaded: { value, at: monotonic() } })
        return value
      },
      (error: unknown) => {
        delete entry.loading
        entry.failed = { error, at: monotonic() }
        throw error
      },
    )
    return entry.loading
  }
  const create = (key: string): Entry<T> => {
    const entry: Entry<T> = {}
    entries.set(key, entry)
    return entry
  }

  return {
    async get(key, loader) {
      const entry = entries.get(key) ?? create(key)
      const { loaded, failed } = entry
      const mayLoad = !failed || monotonic() - failed.at >= failedMs
      const age = loaded ? monotonic() - loaded.at : Number.POSITIVE_INFINITY
      if (loaded && age < freshMs) return loaded.value
      if (loaded && age < usableMs) {
        // A failed refresh is cached, and thrown once the value is no longer usable.
        if (mayLoad && !entry.loading) load(key, entry, loader).catch(() => {})
        return loaded.value
      }
      if (entry.loading) return entry.loading
      if (failed && !mayLoad) throw failed.error
      return load(key, entry, loader)
    },
  }
}
