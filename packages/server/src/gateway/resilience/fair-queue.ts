/** A bounded queue that serves its callers in turn, however many entries each of them has. */
export interface FairQueue<T> {
  /** False if the queue is full, or has as many entries of this caller as one may have. */
  add(caller: string, entry: T): boolean
  remove(caller: string, entry: T): void
  /** Removes and returns the oldest ready entry of the caller who has waited longest since its last turn. */
  take(isReady: (entry: T) => boolean): T | undefined
  readonly size: number
}

export interface FairQueueSize {
  /** Most entries. */
  readonly all: number
  /** Most entries of one caller, so that it cannot fill the queue. */
  readonly each: number
}

export function createFairQueue<T>({ all, each }: FairQueueSize): FairQueue<T> {
  /** Callers with entries; the next one to be served comes first. */
  const waiting = new Map<string, Set<T>>()
  let size = 0

  const remove = (caller: string, entry: T): void => {
    const entries = waiting.get(caller)
    if (!entries?.delete(entry)) return
    size--
    if (entries.size === 0) waiting.delete(caller)
  }

  return {
    add(caller, entry) {
      const entries = waiting.get(caller) ?? new Set()
      if (size >= all || entries.size >= each) return false
      waiting.set(caller, entries.add(entry))
      size++
      return true
    },
    remove,
    take(isReady) {
      for (const [caller, entries] of waiting) {
        for (const entry of entries) {
          if (!isReady(entry)) continue
          remove(caller, entry)
          // To the end: the others come first now.
          if (waiting.delete(caller)) waiting.set(caller, entries)
          return entry
        }
      }
      return undefined
    },
    get size() {
      return size
    },
  }
}
