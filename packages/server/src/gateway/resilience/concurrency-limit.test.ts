import { describe, expect, it } from 'vitest'
import { createConcurrencyLimit } from './concurrency-limit.js'
import { createRetryBudget } from './retry-budget.js'

const busy = expect.objectContaining({ code: 'busy', retryAfter: 1, mayHaveRun: false })

describe('calls under way', () => {
  it('are bounded for one agent, without harm to others', () => {
    const concurrency = createConcurrencyLimit({ maxCalls: 10, maxCallsPerAgent: 2 })
    const leave = concurrency.acquire('a')
    concurrency.acquire('a')
    expect(() => concurrency.acquire('a')).toThrow(busy)
    concurrency.acquire('b')
    leave()
    concurrency.acquire('a')
    expect(() => concurrency.acquire('a')).toThrow(busy)
  })

  it('are bounded all together', () => {
    const concurrency = createConcurrencyLimit({ maxCalls: 3, maxCallsPerAgent: 2 })
    const leave = concurrency.acquire('a')
    concurrency.acquire('b')
    concurrency.acquire('c')
    expect(() => concurrency.acquire('d')).toThrow(busy)
    leave()
    concurrency.acquire('d')
  })

  it('are counted out once', () => {
    const concurrency = createConcurrencyLimit({ maxCalls: 3, maxCallsPerAgent: 3 })
    const leave = concurrency.acquire('a')
    concurrency.acquire('a')
    leave()
    leave()
    expect(concurrency.size).toBe(1)
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
