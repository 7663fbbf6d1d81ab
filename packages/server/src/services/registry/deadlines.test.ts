import { expect, it } from 'vitest'
import { createDeadlines } from './deadlines.js'

it('returns the items that are due, earliest first, and keeps the rest', () => {
  const deadlines = createDeadlines<number>()
  // A fixed, unsorted sequence with some duplicates.
  const times = Array.from({ length: 500 }, (_, i) => (i * 7919) % 311)
  for (const time of times) deadlines.add(time, time)
  const sorted = [...times].sort((a, b) => a - b)
  const taken: number[] = []
  for (let time = 0; taken.length < times.length; time += 37) {
    expect(deadlines.next()).toBe(sorted[taken.length])
    const due = deadlines.takeUntil(time)
    expect(due).toEqual(sorted.slice(taken.length, taken.length + due.length))
    expect(deadlines.next() ?? Number.POSITIVE_INFINITY).toBeGreaterThan(time)
    taken.push(...due)
  }
  expect(deadlines.next()).toBeUndefined()
  expect(deadlines.takeUntil(Number.POSITIVE_INFINITY)).toEqual([])
})

it('accepts new items between calls', () => {
  const deadlines = createDeadlines<string>()
  deadlines.add(5, 'five')
  deadlines.add(1, 'one')
  expect(deadlines.takeUntil(1)).toEqual(['one'])
  deadlines.add(3, 'three')
  expect(deadlines.takeUntil(10)).toEqual(['three', 'five'])
})
