/** An answer that may be given again. */
export interface CachedDocument {
  /** Undefined: there was nothing at this URL. */
  readonly text: string | undefined
  readonly etag?: string
  readonly lastModified?: string
  /** Milliseconds since 1970; from then on it must be asked for again. */
  readonly freshUntil: number
}

/** Where answers are kept; bounded, and shared by as many resolvers as the caller likes. */
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

/** Keeps answers in memory, and forgets the one that was used longest ago when there is no room for a new one. */
export function createDocumentCache({ maxEntries = 1000, maxLength = 16_000_000 }: CacheLimits = {}): DocumentCache {
  // A Map keeps the order of insertion: the first entry is the one used longest ago.
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
