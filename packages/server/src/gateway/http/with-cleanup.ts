/**
 * Iterates over a generator, and runs `cleanup` if the reader stops early. The generator's own `finally` is not enough:
 * it does not run if the reader stops before the first value, and not before the value that is being awaited.
 */
export function withCleanup<T>(
  generator: AsyncGenerator<T, void>,
  cleanup: () => void | Promise<void>,
): AsyncIterableIterator<T, undefined> {
  const iterator: AsyncIterableIterator<T, undefined> = {
    async next() {
      const { done, value } = await generator.next()
      return done ? { done: true, value: undefined } : { done: false, value }
    },
    async return() {
      await cleanup()
      await generator.return()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}
