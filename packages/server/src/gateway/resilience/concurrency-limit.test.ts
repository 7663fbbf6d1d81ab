import { describe, expect, it } from 'vitest'
import { GatewayError } from '../gateway.js'
import { type ConcurrencyLimit, type ConcurrencyLimits, createConcurrencyLimit } from './concurrency-limit.js'
import { Deadline } from './deadline.js'
import { createRetryBudget } from './retry-budget.js'

const limitOf = (limits: Partial<ConcurrencyLimits> = {}): ConcurrencyLimit =>
  createConcurrencyLimit({ maxCalls: 100, maxCallsTo: () => 100, maxCallsOf: () => 100, queueMs: 5, ...limits })

const neverAborted = (): AbortSignal => new AbortController().signal
/** Takes a slot for a caller, by default one that no limit applies to. */
const acquire = async (limit: ConcurrencyLimit, agent: string, caller?: string) =>
  limit.acquire({ agent, caller }, neverAborted())
const refused = (code: string) => expect.objectContaining({ code, retryAfter: 1, mayHaveRun: false })

describe('the concurrency limit', () => {
  it('limits the calls to one agent without affecting others', async () => {
    const limit = limitOf({ maxCallsTo: () => 2 })
    const release = await acquire(limit, 'a')
    await acquire(limit, 'a')
    await expect(acquire(limit, 'a')).rejects.toEqual(refused('agent_busy'))
    await acquire(limit, 'b')
    release()
    await acquire(limit, 'a')
    await expect(acquire(limit, 'a')).rejects.toThrow('the agent has 2 calls in progress')
  })

  it('limits the calls in total', async () => {
    const limit = limitOf({ maxCalls: 2 })
    const release = await acquire(limit, 'a')
    await acquire(limit, 'b')
    await expect(acquire(limit, 'c')).rejects.toEqual(refused('gateway_busy'))
    await expect(acquire(limit, 'c')).rejects.toThrow('this directory has 2 calls in progress')
    release()
    await acquire(limit, 'c')
  })

  it('limits the calls of each caller, at once and with a limit of its own', async () => {
    const limit = limitOf({ maxCallsOf: (caller) => (caller === 'small' ? 1 : 2), queueMs: 60_000 })
    const release = await acquire(limit, 'a', 'small')
    await expect(acquire(limit, 'b', 'small')).rejects.toEqual(refused('caller_busy'))
    await expect(acquire(limit, 'b', 'small')).rejects.toThrow('you have 1 call in progress')
    await acquire(limit, 'a', 'large')
    await acquire(limit, 'a', 'large')
    await expect(acquire(limit, 'a', 'large')).rejects.toThrow('you have 2 calls in progress')
    release()
    await acquire(limit, 'b', 'small')
  })

  it('frees a slot only once', async () => {
    const limit = limitOf()
    const release = await acquire(limit, 'a', 'x')
    await acquire(limit, 'a', 'x')
    release()
    release()
    expect(limit.size).toBe(1)
  })

  it('gives free slots to the waiting callers in turn', async () => {
    const limit = limitOf({ maxCalls: 1, queueMs: 60_000 })
    const served: string[] = []
    const first = await acquire(limit, 'a')
    const calls = ['x', 'x', 'x', 'y', 'z'].map(async (caller, i) => {
      const release = await acquire(limit, 'a', caller)
      served.push(`${caller}${i}`)
      release()
    })
    first()
    await Promise.all(calls)
    expect(served).toEqual(['x0', 'y3', 'z4', 'x1', 'x2'])
    expect(limit.size).toBe(0)
  })

  it('gives a free slot to a call that can use it, past those that wait for a full agent', async () => {
    const limit = limitOf({ maxCalls: 2, maxCallsTo: () => 1, queueMs: 60_000 })
    const releaseA = await acquire(limit, 'a')
    const releaseB = await acquire(limit, 'b')
    const [forA, forC] = [acquire(limit, 'a', 'x'), acquire(limit, 'c', 'y')]
    releaseB()
    const releaseC = await forC
    releaseA()
    const again = await forA
    releaseC()
    again()
    expect(limit.size).toBe(0)
  })

  it('lets one caller have only a few waiting calls, so that others find room', async () => {
    const limit = limitOf({ maxCalls: 1, queueMs: 60_000 })
    const release = await acquire(limit, 'a', 'other')
    const run = async (caller: string): Promise<void> => (await acquire(limit, 'a', caller))()
    const waiting = Array.from({ length: 16 }, () => run('x'))
    await expect(run('x')).rejects.toEqual(refused('gateway_busy'))
    const other = run('y')
    release()
    await Promise.all([other, ...waiting])
    expect(limit.size).toBe(0)
  })

  it('counts waiting calls as calls of the caller', async () => {
    const limit = limitOf({ maxCalls: 1, maxCallsOf: () => 2, queueMs: 60_000 })
    const release = await acquire(limit, 'a', 'other')
    const waiting = [acquire(limit, 'a', 'x'), acquire(limit, 'a', 'x')]
    await expect(acquire(limit, 'a', 'x')).rejects.toEqual(refused('caller_busy'))
    release()
    for (const each of waiting) (await each)()
    expect(limit.size).toBe(0)
  })

  it('counts the wait against the deadline of the call, without blaming the agent', async () => {
    const limit = limitOf({ maxCalls: 1, queueMs: 60_000 })
    const release = await acquire(limit, 'a')
    const deadline = new Deadline(neverAborted(), 5, () => performance.now())
    await expect(limit.acquire({ agent: 'a', caller: 'x' }, deadline)).rejects.toEqual(refused('gateway_busy'))
    release()
    expect(limit.size).toBe(0)
  })

  it('forgets a waiting call whose caller goes away', async () => {
    const limit = limitOf({ maxCalls: 1, maxCallsOf: () => 1, queueMs: 60_000 })
    const release = await acquire(limit, 'a', 'other')
    const caller = new AbortController()
    const deadline = new Deadline(caller.signal, 60_000, () => performance.now())
    const waiting = limit.acquire({ agent: 'a', caller: 'x' }, deadline)
    caller.abort()
    await expect(waiting).rejects.toBeInstanceOf(GatewayError)
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    deadline.release()
    release()
    ;(await acquire(limit, 'a', 'x'))()
    expect(limit.size).toBe(0)
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
