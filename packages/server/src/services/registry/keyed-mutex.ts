/** A mutex for each key: work under one key runs one at a time, in the order it was requested. */
export interface KeyedMutex {
  run<T>(key: string, work: () => Promise<T>): Promise<T>
}

/**
 * Writes are optimistic: each is decided on the revision that was read and rejected if the agent has changed since.
 * Within one process the mutex avoids those rejections, and makes the last caller the last writer.
 */
export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<unknown>>()
  return {
    async run(key, work) {
      const mine = (tails.get(key) ?? Promise.resolve()).then(work, work)
      tails.set(key, mine)
      try {
        return await mine
      } finally {
        if (tails.get(key) === mine) tails.delete(key)
      }
    },
  }
}
