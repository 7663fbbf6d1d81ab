/** Stands for a while in which nothing came. */
export const SILENCE = Symbol('silence')

/** The same items, and a sign of life after each while without one. Whoever stops reading ends the source. */
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
    // Not waited for: the source may be in the middle of a wait itself, which the caller's signal ends.
    if (!isOver) items.return?.()?.catch(() => {})
  }
}
