import { describe, expect, it } from 'vitest'
import { afterHealthCheck, availabilityOf, type Health, isShownAnew, nextHealthCheck } from './health.js'

const NOW = 1_700_000_000_000
const HOUR = 3_600_000
const MIDDLE = 0.5

const up = afterHealthCheck(undefined, 'reachable', NOW)

describe('the health of an agent', () => {
  it('is unreachable after two failed checks in a row, since the first of them', () => {
    const once = afterHealthCheck(up, 'silent', NOW + 1)
    expect(once).toMatchObject({ state: 'reachable', since: NOW, failures: 1 })
    const twice = afterHealthCheck(once, 'silent', NOW + 2)
    expect(twice).toMatchObject({ state: 'unreachable', since: NOW + 1, failures: 2 })
    expect([availabilityOf(undefined), availabilityOf(once), availabilityOf(twice)]).toEqual([1, 1, 0.7])
  })

  it('is reachable again after one successful check', () => {
    const down = [1, 2, 3].reduce<Health>((health, i) => afterHealthCheck(health, 'silent', NOW + i), up)
    expect(afterHealthCheck(down, 'reachable', NOW + 9)).toEqual({
      state: 'reachable',
      since: NOW + 9,
      checkedAt: NOW + 9,
      failures: 0,
    })
  })

  it('is checked at the interval, soon after a failure, and ever less often while it stays unreachable', () => {
    expect(nextHealthCheck(up, HOUR, MIDDLE)).toBe(HOUR)
    let health = afterHealthCheck(up, 'silent', NOW)
    expect(nextHealthCheck(health, HOUR, MIDDLE)).toBe(120_000)
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      health = afterHealthCheck(health, 'silent', NOW)
      waits.push(nextHealthCheck(health, HOUR, MIDDLE) / HOUR)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 24, 24, 24])
  })

  it('is checked with jitter, so that agents registered together are not checked together', () => {
    expect(nextHealthCheck(up, HOUR, 0)).toBeCloseTo(0.9 * HOUR)
    expect(nextHealthCheck(up, HOUR, 1)).toBeCloseTo(1.1 * HOUR)
  })

  it('is shown anew when its state changes, and else once a day', () => {
    const shown = { health: up, checkedAt: NOW }
    expect(isShownAnew(undefined, up)).toBe(true)
    expect(isShownAnew(shown, afterHealthCheck(up, 'reachable', NOW + HOUR))).toBe(false)
    expect(isShownAnew(shown, afterHealthCheck(up, 'reachable', NOW + 25 * HOUR))).toBe(true)
    const down = afterHealthCheck(afterHealthCheck(up, 'silent', NOW), 'silent', NOW)
    expect(isShownAnew(shown, down)).toBe(true)
  })
})
