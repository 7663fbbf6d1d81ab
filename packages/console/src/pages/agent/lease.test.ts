import { expect, it } from 'vitest'
import { formatSpan, nextChange, shareLeft } from './lease.js'

const HOUR = 3_600_000

it.each([
  [26 * HOUR, '1 d 2 h'],
  [24 * HOUR, '1 d'],
  [3 * HOUR + 12 * 60_000, '3 h 12 min'],
  [150_000, '2 min'],
  [119_500, '2 min'],
  [61_000, '1 min 1 s'],
  [59_100, '1 min'],
  [900, '1 s'],
  [-5, '0 s'],
])('says %i ms as %s', (ms, text) => expect(formatSpan(ms)).toBe(text))

it('looks at the clock only as often as the text changes', () => {
  expect([48 * HOUR, HOUR, 100_000].map(nextChange)).toEqual([HOUR, 30_000, 1000])
})

it('is a share of the whole lifetime', () => {
  expect([shareLeft(0, 100, 25), shareLeft(0, 100, 200), shareLeft(0, 100, -5), shareLeft(5, 5, 5)]).toEqual([
    0.75, 0, 1, 0,
  ])
})
