/**
 * A generator that is tidied up after, even if it is left before its first value: then its own `finally` never runs.
 * `end` may be called twice.
 */
export function stoppable<T>(generator: AsyncGenerator<T, void>, end: () => Promise<void>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => generator.next(),
      async return() {
        await end()
        return generator.return()
      },
    }),
  }
}
