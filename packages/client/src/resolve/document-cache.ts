/** A cached response. */
export interface CachedDocument {
  /** Undefined if nothing was at this URL. */
  readonly text: string | undefined
  readonly etag?: string
  readonly lastModified?: string
  /** Milliseconds since 1970; afterwards it must be revalidated. */
  readonly freshUntil: number
  /** Milliseconds since 1970; before this time, which means that the clock was set back, it must be revalidated too. */
  readonly storedAt?: number
}

/** A cache of responses, which several resolvers can share. */
export interface DocumentCache {
  get(url: string): CachedDocument | undefined
  set(url: string, document: CachedDocument): void
  delete(url: string): void
}

export interface CacheLimits {
  readonly maxEntries?: number
  /** Characters of all documents together. */
  readonly maxLength?: number
}

/** Creates an LRU cache in memory, limited by entries and by length. */
export function createDocumentCache({ maxEntries = 1000, maxLength = 16_000_000 }: CacheLimits = {}): DocumentCache {
  // A Map keeps the order of insertion, so the first entry is the least recently used.
  const entries = new Map<string, CachedDocument>()
  let length = 0

  const remove = (url: string): void => {
    const entry = entries.get(url)
    if (!entry) return
    entries.delete(url)
    length -= sizeOf(url, entry)
  }

  return {
    get(url) {
      const entry = entries.get(url)
      if (entry) {
        entries.delete(url)
        entries.set(url, entry)
      }
      return entry
    },
    set(url, entry) {
      remove(url)
      if (sizeOf(url, entry) > maxLength) return
      entries.set(url, entry)
      length += sizeOf(url, entry)
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && length <= maxLength) break
        remove(oldest)
      }
    },
    delete: remove,
  }
}

const sizeOf = (url: string, { text = '', etag = '', lastModified = '' }: CachedDocument): number =>
  url.length + text.length + etag.length + lastModified.length
