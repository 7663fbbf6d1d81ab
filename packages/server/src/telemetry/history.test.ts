import { describe, expect, it } from 'vitest'
import { createHistory } from './history.js'

const MINUTE = 60_000

describe('the history', () => {
  const start = 1_700_000_040_000
  let now = start
  const history = createHistory(() => now)

  it('has percentiles that are exact to about a fifth, also of added minutes', () => {
    for (let ms = 1; ms <= 1000; ms++) {
      now = start + (ms % 3) * MINUTE
      history.request('search', 200, ms)
    }
    now = start + 3 * MINUTE
    const [point] = history.read(0, 60 * 24)
    expect(point?.counts).toEqual({ search: 1000 })
    const { p50 = 0, p95 = 0, p99 = 0 } = point?.latency_ms.search ?? {}
    for (const [found, exact] of [
      [p50, 500],
      [p95, 950],
      [p99, 990],
    ] as const)
      expect(Math.abs(found - exact) / exact).toBeLessThan(0.2)
  })

  it('does not count durations of refused requests, nor more names than it has room for', () => {
    now = start + 10 * MINUTE
    history.request('lookup', 429, 1)
    for (let i = 0; i < 1000; i++) history.error(`code-${i}`)
    const { counts, errors } = history.read(now, 1).at(-1) ?? {}
    expect(counts).toEqual({})
    expect(Object.keys(errors ?? {}).length).toBe(64)
  })

  it('keeps a day', () => {
    for (let minute = 0; minute < 3000; minute++) {
      now = start + minute * MINUTE
      history.call('ok', 5)
    }
    const points = history.read(0, 1)
    expect(points).toHaveLength(1440)
    expect(points.every(({ counts }) => counts.agent === 1)).toBe(true)
    expect(points.at(-1)?.at).toBe(new Date(now - (now % MINUTE)).toISOString())
  })
})
