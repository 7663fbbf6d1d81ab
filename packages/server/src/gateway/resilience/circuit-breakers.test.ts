import { beforeEach, describe, expect, it } from 'vitest'
import { type CallResult, type CircuitBreakers, createCircuitBreakers } from './circuit-breakers.js'

let time = 0
let breakers: CircuitBreakers
beforeEach(() => {
  time = 1_000_000
  breakers = createCircuitBreakers({ monotonic: () => time, random: () => 1, limit: 3 })
})

/** Makes one call; false if the circuit is open. */
function call(result: CallResult, key = 'a', caller = 'x'): boolean {
  const admission = breakers.admit(key, caller)
  if (!admission.isOpen) admission.settle(result)
  return !admission.isOpen
}
const fail = (times: number, key = 'a', caller = 'x'): void => {
  for (let i = 0; i < times; i++) call('failed', key, caller)
}
const retryAfterMs = (key = 'a', caller = 'x'): number | undefined => {
  const admission = breakers.admit(key, caller)
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
    const probe = breakers.admit('a', 'x')
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
    const late = breakers.admit('a', 'x')
    fail(5)
    if (!late.isOpen) late.settle('ok')
    expect(call('ok')).toBe(false)
  })

  it('is evicted if others were used more recently', () => {
    fail(5, 'a')
    for (const key of ['b', 'c', 'd']) call('ok', key)
    // Three endpoints, and the caller of the first.
    expect(breakers.size).toBe(4)
    expect(call('ok', 'a')).toBe(true)
  })

  it('stays open for a random time', () => {
    breakers = createCircuitBreakers({ monotonic: () => time, random: () => 0 })
    fail(5)
    expect(retryAfterMs()).toBe(1000)
  })

  it('allows another probe if the first takes long, whose late result then counts like any other', () => {
    fail(5)
    time += 2001
    const slow = breakers.admit('a', 'x')
    expect(retryAfterMs()).toBe(1000)
    time += 10_000
    expect(call('ok')).toBe(true)
    if (!slow.isOpen) slow.settle('failed')
    expect(call('ok')).toBe(true)
  })
})

describe('a circuit breaker with several callers', () => {
  /** Whether a call of someone who has not failed would be made. */
  const isOpenForOthers = (): boolean => breakers.admit('a', 'bystander').isOpen

  it('opens only for the caller whose calls fail, however many they are', () => {
    for (let i = 0; i < 1000; i++) {
      call('failed', 'a', 'poisoner')
      time += 100
    }
    expect(breakers.admit('a', 'poisoner')).toMatchObject({ isOpen: true, isForEveryone: false })
    expect(isOpenForOthers()).toBe(false)
  })

  it('opens for everyone if the agent cannot be reached, which no input can cause', () => {
    for (let i = 0; i < 5; i++) call('unreachable')
    expect(breakers.admit('a', 'bystander')).toMatchObject({ isOpen: true, isForEveryone: true, retryAfterMs: 2000 })
  })

  it('does not take failures of reached agents for lost connections', () => {
    for (let i = 0; i < 4; i++) call('unreachable')
    call('failed')
    call('unreachable')
    expect(isOpenForOthers()).toBe(false)
  })

  it('opens for everyone as soon as three callers fail', () => {
    fail(4, 'a', 'x')
    fail(4, 'a', 'y')
    expect(isOpenForOthers()).toBe(false)
    fail(1, 'a', 'z')
    expect(isOpenForOthers()).toBe(true)
    time += 2001
    expect(call('ok', 'a', 'bystander')).toBe(true)
    expect(isOpenForOthers()).toBe(false)
  })

  it('stays closed if more callers succeed than fail', () => {
    for (const caller of ['p', 'q', 'r', 's']) call('ok', 'a', caller)
    for (const caller of ['x', 'y', 'z']) fail(4, 'a', caller)
    expect(isOpenForOthers()).toBe(false)
    call('failed', 'a', 'p')
    expect(isOpenForOthers()).toBe(true)
  })

  it('forgets what callers saw long ago', () => {
    for (const caller of ['x', 'y', 'z']) {
      fail(1, 'a', caller)
      time += 30_000
    }
    expect(isOpenForOthers()).toBe(false)
  })

  it('is not kept open by the probes of one caller', () => {
    for (const caller of ['x', 'y', 'z']) fail(1, 'a', caller)
    expect(isOpenForOthers()).toBe(true)
    // Its own circuit opens for longer and longer, so that others get to probe.
    for (let i = 0; i < 1200; i++) {
      call('failed', 'a', 'poisoner')
      time += 100
      if (call('ok', 'a', 'bystander')) return
    }
    throw new Error('the circuit stayed open for two minutes')
  })

  it('keeps a bounded number of circuits', () => {
    for (let i = 0; i < 100; i++) fail(5, `agent ${i % 7}`, `caller ${i}`)
    expect(breakers.size).toBeLessThanOrEqual(6)
  })
})
