/**
 * Parts of which the rest can be given up at any time: also before the first was asked for, when a generator would not
 * run its `finally`, and while one is waited for, when it would not hear of it.
 */
export function leavable<T>(parts: AsyncGenerator<T, void>, cancel: () => void): AsyncIterableIterator<T, undefined> {
  const iterator: AsyncIterableIterator<T, undefined> = {
    async next() {
      const { done, value } = await parts.next()
      return done ? { done: true, value: undefined } : { done: false, value }
    },
    async return() {
      cancel()
      await parts.return()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}
