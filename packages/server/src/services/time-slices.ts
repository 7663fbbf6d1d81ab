/** Milliseconds of background work at a time, and of the pause after it, in which requests are served. */
const SLICE_MS = 8
const PAUSE_MS = 5

/**
 * For asynchronous work whose steps may not wait for anything: returns a promise of a pause when a slice is over. Reading
 * the embedded store, for example, resolves without a turn of the event loop.
 */
export function createPacer(): () => Promise<void> | undefined {
  let end = performance.now() + SLICE_MS
  return () => {
    if (performance.now() < end) return undefined
    return new Promise((resolve) => {
      setTimeout(() => {
        end = performance.now() + SLICE_MS
        resolve()
      }, PAUSE_MS)
    })
  }
}

/** Maps items like `Array.prototype.map`, with a pause whenever a slice is over. */
export async function mapInSlices<T, R>(items: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const pace = createPacer()
  const results: R[] = []
  for (const [i, item] of items.entries()) {
    results.push(map(item, i))
    await pace()
  }
  return results
}
