import { describe, expect, it } from 'vitest'
import type { UsageCount } from '../../store/limit-store.js'
import { createBudgets } from './budgets.js'

const DAY_MS = 86_400_000

/** A store of counts that several replicas share. */
function usageStore() {
  const totals = new Map<string, number>()
  const state = { isDown: false, totals }
  const check = () => {
    if (state.isDown) throw new Error('the store is unavailable')
  }
  const of = (day: number, key: string): UsageCount => ({ key, calls: totals.get(`${day} ${key}`) ?? 0 })
  const limits = {
    list: async () => [],
    put: async () => {},
    delete: async () => false,
    addUsage: async (day: number, counts: readonly UsageCount[]) => {
      check()
      for (const { key, calls } of counts) totals.set(`${day} ${key}`, of(day, key).calls + calls)
      return counts.map(({ key }) => of(day, key))
    },
    usage: async (day: number, keys: readonly string[]) => {
      check()
      return keys.map((key) => of(day, key))
    },
  }
  return { state, store: { limits } }
}

function startReplica({ store }: ReturnType<typeof usageStore>, perDay: number | undefined = 10, ofAgent?: number) {
  const clock = { now: 1000 * DAY_MS + 1, monotonic: 0 }
  const errors: unknown[] = []
  const refused: string[] = []
  const budgets = createBudgets({
    store,
    limits: {
      of: () => (perDay === undefined ? undefined : { value: perDay, rule: 'subject:alice' }),
      ofAgent: () => ofAgent,
    },
    now: () => clock.now,
    monotonic: () => clock.monotonic,
    onRefused: ({ kind, name }) => refused.push(`${kind} ${name}`),
    onError: (error) => errors.push(error),
  })
  const spend = (calls = 1) => budgets.spend('alice', 'a', calls)
  return { budgets, clock, errors, refused, spend }
}

describe('a daily budget', () => {
  it('allows as many calls as the limit, however many come at once, and says when it is reset', async () => {
    const { budgets, refused, spend } = startReplica(usageStore())
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => spend()))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    await expect(spend()).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfter: 86_400,
      message: expect.stringContaining('calls_per_day'),
      members: { limit: { name: 'calls_per_day', limit: 10, used: 10 } },
    })
    expect(refused).toEqual(Array(21).fill('subject alice'))
    await budgets.close()
  })

  it('is shared by replicas, and survives the end of a process', async () => {
    const shared = usageStore()
    const [one, two] = [startReplica(shared), startReplica(shared)]
    await one.spend(4)
    await two.spend(5)
    await Promise.all([one.budgets.close(), two.budgets.close()])
    one.clock.monotonic += 2000
    await expect(one.spend(2)).rejects.toMatchObject({ code: 'rate_limited' })
    await one.spend(1)
    await one.budgets.close()
    const next = startReplica(shared)
    await expect(next.spend()).rejects.toMatchObject({ members: { limit: { used: 10 } } })
    expect(await next.budgets.used({ kind: 'subject', name: 'alice' })).toBe(10)
  })

  it('starts again with the next day', async () => {
    const shared = usageStore()
    const { budgets, clock, spend } = startReplica(shared)
    await spend(10)
    clock.now += DAY_MS
    await spend(7)
    await budgets.close()
    expect(Object.fromEntries(shared.state.totals)).toEqual({ '1000 subject:alice': 10, '1001 subject:alice': 7 })
  })

  it('writes counts within a second', async () => {
    const shared = usageStore()
    const { spend } = startReplica(shared)
    await spend(3)
    await expect.poll(() => shared.state.totals.get('1000 subject:alice'), { timeout: 3000 }).toBe(3)
  })

  it('keeps counting while the store is down, but lets nobody in whose count it does not know', async () => {
    const shared = usageStore()
    const { budgets, clock, errors, spend } = startReplica(shared)
    await spend(4)
    shared.state.isDown = true
    clock.monotonic += 2000
    await spend(5)
    await expect(spend(2)).rejects.toMatchObject({ code: 'rate_limited' })
    await expect(budgets.spend('bob', 'a', 1)).rejects.toThrow('unavailable')
    await budgets.close()
    expect(errors.length).toBeGreaterThan(0)
    shared.state.isDown = false
    await budgets.close()
    expect(shared.state.totals.get('1000 subject:alice')).toBe(9)
  })

  it('of an agent is for all its callers together', async () => {
    const { budgets } = startReplica(usageStore(), undefined, 2)
    await budgets.spend('alice', 'a', 1)
    await budgets.spend('bob', 'a', 1)
    await expect(budgets.spend('carol', 'a', 1)).rejects.toThrow('the agent gets 2 calls per day')
    await budgets.close()
  })
})
