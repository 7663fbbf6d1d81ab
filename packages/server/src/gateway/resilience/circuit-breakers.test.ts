import { beforeEach, describe, expect, it } from 'vitest'
import { type CallResult, type CircuitBreakers, createCircuitBreakers } from './circuit-breakers.js'

let time = 0
let breakers: CircuitBreakers
beforeEach(() => {
  time = 1_000_000
  breakers = createCircuitBreakers({ now: () => time, random: () => 1, limit: 3 })
})

/** Makes one call; false if the circuit is open. */
function call(result: CallResult, key = 'a'): boolean {
  const admission = breakers.admit(key)
  if (!admission.isOpen) admission.settle(result)
  return !admission.isOpen
}
const fail = (times: number, key = 'a'): void => {
  for (let i = 0; i < times; i++) call('failed', key)
}
const retryAfterMs = (key = 'a'): number | undefined => {
  const admission = breakers.admit(key)
  return admission.isOpen ? admission.retryAfterMs : undefined
}

describe('a circuit breaker', () => {
  it('opens after five consecutive failures, for that key only', () => {
    fail(4)
    expect(call('failed')).toBe(true)
    expect(call('ok')).toBe(false)
    expect(retryAfterMs()).toBe(2000)
    expect(call('ok', 'b')).toBe(true)
  })

  it('stays closed if there are successes in between, even over a long time', () => {
    for (let i = 0; i < 10; i++) {
      fail(4)
      call('ok')
      time += 60_000
    }
    expect(call('ok')).toBe(true)
  })

  it('opens when half of many calls fail', () => {
    for (let i = 0; i < 11; i++) {
      call('ok')
      call('failed')
    }
    expect(call('ok')).toBe(false)
  })

  it('lets old failures decay', () => {
    for (let i = 0; i < 40; i++) {
      call(i % 2 === 0 ? 'failed' : 'ok')
      time += 10_000
    }
    expect(call('ok')).toBe(true)
  })

  it('allows one probe after a while, and closes if it succeeds', () => {
    fail(5)
    time += 2001
    const probe = breakers.admit('a')
    expect(probe.isOpen).toBe(false)
    expect(retryAfterMs()).toBe(1000)
    if (!probe.isOpen) probe.settle('ok')
    expect([call('ok'), call('ok')]).toEqual([true, true])
  })

  it('stays open twice as long after each failed probe, up to a minute', () => {
    fail(5)
    const waits = [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]
    for (const wait of waits) {
      expect(retryAfterMs()).toBe(wait)
      time += wait
      expect(call('failed')).toBe(true)
    }
  })

  it('allows another probe if the result of the first is unknown', () => {
    fail(5)
    time += 2001
    expect(call('unknown')).toBe(true)
    expect(call('ok')).toBe(true)
    expect(call('ok')).toBe(true)
  })

  it('does not count calls with an unknown result', () => {
    for (let i = 0; i < 50; i++) call('unknown')
    expect(call('ok')).toBe(true)
  })

  it('does not count calls that were running when it opened', () => {
    const late = breakers.admit('a')
    fail(5)
    if (!late.isOpen) late.settle('ok')
    expect(call('ok')).toBe(false)
  })

  it('is evicted if others were used more recently', () => {
    fail(5, 'a')
    for (const key of ['b', 'c', 'd']) call('ok', key)
    expect(breakers.size).toBe(3)
    expect(call('ok', 'a')).toBe(true)
  })

  it('stays open for a random time', () => {
    breakers = createCircuitBreakers({ now: () => time, random: () => 0 })
    fail(5)
    expect(retryAfterMs()).toBe(1000)
  })
})
