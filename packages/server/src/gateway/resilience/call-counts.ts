/** Calls in progress by key: by caller, or by agent. */
export interface CallCounts {
  /** Calls in progress, also those of other replicas as far as they are known. */
  of(key: string): number
  add(key: string): void
  remove(key: string): void
  /** The calls of this process. */
  entries(): Iterable<[string, number]>
  /** A promise if other replicas have to learn of the calls before `of` can be compared with the limit. */
  settle(key: string, limit: number): Promise<void> | undefined
  /** Calls the listener when the counts of other replicas may have changed. */
  onChange(listener: () => void): void
}

/** Counts the calls of this process; keys without a count take no memory. */
export function createCallCounts(): CallCounts {
  const counts = new Map<string, number>()
  return {
    of: (key) => counts.get(key) ?? 0,
    add: (key) => void counts.set(key, (counts.get(key) ?? 0) + 1),
    remove(key) {
      const left = (counts.get(key) ?? 1) - 1
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    },
    entries: () => counts.entries(),
    settle: () => undefined,
    onChange() {},
  }
}
