/** Work that must not be done twice at once, by name: each waits for the one before it. */
export interface Turns {
  take<T>(name: string, work: () => Promise<T>): Promise<T>
}

/**
 * Writes are decided on what was read and refused if it has changed since; so writers of one agent would only get in
 * each other's way. In turn, each decides once, and the last to come is the last to write.
 */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>()
  return {
    async take(name, work) {
      const mine = (last.get(name) ?? Promise.resolve()).then(work, work)
      last.set(name, mine)
      try {
        return await mine
      } finally {
        if (last.get(name) === mine) last.delete(name)
      }
    },
  }
}
