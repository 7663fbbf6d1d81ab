/** What outsiders told, kept for a while, so that not every call asks them anew. */
export interface SwrCache<T> {
  /**
   * What is known for the key. Asks first if nothing usable is known; asks behind the caller's back if it has become
   * old. Callers of one key share one question. After a failure nobody is asked again for a while: the failure stands.
   */
  get(key: string, ask: () => Promise<T>): Promise<T>
}

export interface SwrCacheOptions<T> {
  readonly now: () => number
  /** Milliseconds for which what was told is used without asking again. */
  readonly freshMs: number
  /** Milliseconds for which it is still used while somebody asks again. */
  readonly usableMs: number
  /** Milliseconds after a failure until the next question. */
  readonly failedMs: number
  /** Keys remembered; the least recently used goes first. */
  readonly limit: number
  /** Size of a value in a unit of the caller's choice, and how much there may be in all. */
  readonly size?: (value: T) => number
  readonly maxSize?: number
}

interface Entry<T> {
  known?: { readonly value: T; readonly at: number; readonly size: number }
  failed?: { readonly error: unknown; readonly at: number }
  asking?: Promise<T>
}

export function createSwrCache<T>(options: SwrCacheOptions<T>): SwrCache<T> {
  const { now, freshMs, usableMs, failedMs, limit, size = () => 0, maxSize = Number.POSITIVE_INFINITY } = options
  const entries = new Map<string, Entry<T>>()
  let total = 0

  const sizeOf = ({ known }: Entry<T>): number => known?.size ?? 0
  const learn = (key: string, entry: Entry<T>, value: T): void => {
    const known = { value, at: now(), size: size(value) }
    if (entries.get(key) === entry) total += known.size - sizeOf(entry)
    entry.known = known
    delete entry.failed
    shrink()
  }
  const shrink = (): void => {
    for (const [key, entry] of entries) {
      if (entries.size <= limit && total <= maxSize) return
      entries.delete(key)
      total -= sizeOf(entry)
    }
  }
  const question = (key: string, entry: Entry<T>, ask: () => Promise<T>): Promise<T> => {
    const asking = ask().then(
      (value) => {
        delete entry.asking
        learn(key, entry, value)
        return value
      },
      (error: unknown) => {
        delete entry.asking
        entry.failed = { error, at: now() }
        throw error
      },
    )
    entry.asking = asking
    return asking
  }

  return {
    async get(key, ask) {
      const entry = entries.get(key) ?? {}
      // Put last: a map keeps the order of insertion, so the first is the least recently used.
      entries.delete(key)
      entries.set(key, entry)
      shrink()
      const { known, failed } = entry
      const mayAsk = !failed || now() - failed.at >= failedMs
      const age = known ? now() - known.at : Number.POSITIVE_INFINITY
      if (known && age < freshMs) return known.value
      if (known && age < usableMs) {
        // Its failure is remembered and told to whoever comes when the value is no longer usable.
        if (mayAsk && !entry.asking) question(key, entry, ask).catch(() => {})
        return known.value
      }
      if (entry.asking) return entry.asking
      if (failed && !mayAsk) throw failed.error
      return question(key, entry, ask)
    },
  }
}
