/** Yielded when no item has arrived for a while. */
export const SILENCE = Symbol('silence')

/** Yields the items of the source, and `SILENCE` whenever none arrives in time. Leaving early ends the source. */
export async function* heartbeats<T>(source: AsyncIterable<T>, everyMs: number): AsyncGenerator<T | typeof SILENCE> {
  const items = source[Symbol.asyncIterator]()
  let beat = (): void => {}
  const timer = setInterval(() => beat(), everyMs)
  let next: Promise<IteratorResult<T>> | undefined
  let isOver = false
  try {
    for (;;) {
      next ??= items.next()
      const silence = new Promise<typeof SILENCE>((resolve) => {
        beat = () => resolve(SILENCE)
      })
      timer.refresh()
      const item = await Promise.race([next, silence])
      if (item === SILENCE) {
        yield SILENCE
        continue
      }
      next = undefined
      if (item.done) {
        isOver = true
        return
      }
      yield item.value
    }
  } catch (error) {
    isOver = true
    throw error
  } finally {
    clearInterval(timer)
    // Not awaited: the source may be waiting itself, until the caller's signal aborts it.
    if (!isOver) items.return?.()?.catch(() => {})
  }
}
