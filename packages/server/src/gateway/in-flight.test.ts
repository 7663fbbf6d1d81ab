import { describe, expect, it } from 'vitest'
import { createInFlight } from './in-flight.js'
import { createRetryBudget } from './retry-budget.js'

const busy = expect.objectContaining({ code: 'busy', retryAfter: 1, mayHaveRun: false })

describe('calls under way', () => {
  it('are bounded for one agent, without harm to others', () => {
    const inFlight = createInFlight({ maxCalls: 10, maxCallsPerAgent: 2 })
    const leave = inFlight.enter('a')
    inFlight.enter('a')
    expect(() => inFlight.enter('a')).toThrow(busy)
    inFlight.enter('b')
    leave()
    inFlight.enter('a')
    expect(() => inFlight.enter('a')).toThrow(busy)
  })

  it('are bounded all together', () => {
    const inFlight = createInFlight({ maxCalls: 3, maxCallsPerAgent: 2 })
    const leave = inFlight.enter('a')
    inFlight.enter('b')
    inFlight.enter('c')
    expect(() => inFlight.enter('d')).toThrow(busy)
    leave()
    inFlight.enter('d')
  })

  it('are counted out once', () => {
    const inFlight = createInFlight({ maxCalls: 3, maxCallsPerAgent: 3 })
    const leave = inFlight.enter('a')
    inFlight.enter('a')
    leave()
    leave()
    expect(inFlight.size).toBe(1)
  })
})

describe('the retry budget', () => {
  it('has a reserve, and then a share of the calls', () => {
    const budget = createRetryBudget(0.1)
    const taken = (): number => {
      let n = 0
      while (budget.take()) n++
      return n
    }
    expect(taken()).toBe(10)
    for (let i = 0; i < 50; i++) budget.earn()
    expect(taken()).toBeGreaterThanOrEqual(4)
    for (let i = 0; i < 100_000; i++) budget.earn()
    expect(taken()).toBe(100)
  })
})
