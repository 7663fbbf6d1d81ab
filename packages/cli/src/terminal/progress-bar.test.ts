import { describe, expect, it } from 'vitest'
import { createProgressBar } from './progress-bar.js'

const screenOf = (isTTY: boolean, columns = 80) => {
  const written: string[] = []
  const clock = { now: 1000 }
  const screen = { isTTY, columns, write: (text: string) => written.push(text) }
  return { written, clock, bar: createProgressBar(screen, () => clock.now) }
}
const ERASE = '\r\u001b[K'

describe('the progress bar', () => {
  it('shows count, rate and time left on a terminal, and is removed at the end', () => {
    const { written, clock, bar } = screenOf(true)
    bar.show(15, 30, 0)
    bar.show(16, 30, 0) // too soon
    clock.now += 2000
    bar.show(20, 30, 0)
    clock.now += 1000
    bar.show(21, undefined, 2, 'waiting 5 s')
    bar.clear()
    bar.clear()
    expect(written).toEqual([
      `${ERASE}[${'#'.repeat(15)}${'.'.repeat(15)}] 15 of 30`,
      `${ERASE}[${'#'.repeat(20)}${'.'.repeat(10)}] 20 of 30, 10/s, 1 s left`,
      `${ERASE}21 done, 7.0/s, 2 failed, waiting 5 s`,
      ERASE,
    ])
  })

  it('follows the rate of the last seconds, not that of the whole task', () => {
    const { written, clock, bar } = screenOf(true, 200)
    for (let second = 0; second < 60; second++) {
      clock.now += 1000
      bar.show(second < 20 ? second * 1000 : 20_000 + second, 200_000, 0)
    }
    expect(written.at(-1)).toMatch(/20059 of 200000, 1\.0\/s, 49 h 59 min left$/)
  })

  it('fits the terminal', () => {
    const { written, bar } = screenOf(true, 10)
    bar.show(1, 2, 0)
    expect(written[0]?.length).toBe(ERASE.length + 9)
  })

  it('prints a line from time to time without a terminal', () => {
    const { written, clock, bar } = screenOf(false)
    for (let second = 1; second <= 25; second++) {
      clock.now += 1000
      bar.show(second * 100, 90_000, 0)
    }
    bar.clear()
    expect(written).toEqual([
      'switchboard: 1000 of 90000, 100/s, 14 min 50 s left\n',
      'switchboard: 2000 of 90000, 100/s, 14 min 40 s left\n',
    ])
  })
})
