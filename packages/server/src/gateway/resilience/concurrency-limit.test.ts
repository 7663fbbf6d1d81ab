import { describe, expect, it } from 'vitest'
import { createConcurrencyLimit } from './concurrency-limit.js'
import { createRetryBudget } from './retry-budget.js'

const busy = expect.objectContaining({ code: 'busy', retryAfter: 1, mayHaveRun: false })

describe('the concurrency limit', () => {
  it('limits the calls to one agent without affecting others', () => {
    const concurrency = createConcurrencyLimit({ maxCalls: 10, maxCallsPerAgent: 2 })
    const release = concurrency.acquire('a')
    concurrency.acquire('a')
    expect(() => concurrency.acquire('a')).toThrow(busy)
    concurrency.acquire('b')
    release()
    concurrency.acquire('a')
    expect(() => concurrency.acquire('a')).toThrow(busy)
  })

  it('limits the calls in total', () => {
    const concurrency = createConcurrencyLimit({ maxCalls: 3, maxCallsPerAgent: 2 })
    const release = concurrency.acquire('a')
    concurrency.acquire('b')
    concurrency.acquire('c')
    expect(() => concurrency.acquire('d')).toThrow(busy)
    release()
    concurrency.acquire('d')
  })

  it('frees a slot only once', () => {
    const concurrency = createConcurrencyLimit({ maxCalls: 3, maxCallsPerAgent: 3 })
    const release = concurrency.acquire('a')
    concurrency.acquire('a')
    release()
    release()
    expect(concurrency.size).toBe(1)
  })
})

describe('the retry budget', () => {
  it('starts with a reserve and then grows with the calls', () => {
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
