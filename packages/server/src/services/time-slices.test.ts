import { expect, it } from 'vitest'
import { mapInSlices } from './time-slices.js'

/** Works for some milliseconds without a pause. */
function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

it('long work in slices gives other work its turn, and its results are in order', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const items = Array.from({ length: 50 }, (_, i) => i)
  const doubled = await mapInSlices(items, (item, index) => {
    work(2)
    return item + index
  })
  clearInterval(timer)
  expect(doubled).toEqual(items.map((item) => 2 * item))
  // 100 ms of work in slices of at most 10 ms.
  expect(turns).toBeGreaterThanOrEqual(5)
})

it('short work is not delayed', async () => {
  let turns = 0
  const timer = setImmediate(() => turns++)
  expect(await mapInSlices(['a', 'b'], (item) => item.toUpperCase())).toEqual(['A', 'B'])
  clearImmediate(timer)
  expect(turns).toBe(0)
})
