import { describe, expect, it } from 'vitest'
import type { ReplicaNews, ReplicaStore } from '../../store/replica-store.js'
import { createReplicas } from './replicas.js'
import { createSharedBuckets } from './shared-buckets.js'
import { createSharedCounts } from './shared-counts.js'

const LIMIT = 10

/** A replica with another one beside it, whose store responds as a test says. */
async function setUp() {
  const news: ReplicaNews = { others: [{ 'caller ann': 2 }], buckets: [] }
  const store = { respond: async (): Promise<ReplicaNews> => news, exchanges: 0 }
  const states: unknown[] = []
  const left = new Map<string, number>()
  const replicaStore: ReplicaStore = {
    exchange: ({ spending }) => {
      store.exchanges++
      const buckets = spending.map(({ key, capacity, spent, wanted }) => {
        const tokens = (left.get(key) ?? capacity) - spent - wanted
        left.set(key, tokens)
        return { key, tokens, granted: wanted }
      })
      return store.respond().then(({ others }) => ({ others, buckets }))
    },
    claim: async (_id, keys) => [...keys],
    leave: async () => {},
  }
  const replicas = createReplicas({ store: replicaStore, onState: (error) => states.push(error) })
  const options = { capacity: LIMIT, refillMs: 1e9, maxKeys: 10, monotonic: () => 0 }
  const buckets = createSharedBuckets('test', options, replicas)
  const counts = createSharedCounts('caller', replicas)
  await replicas.start()
  return { replicas, buckets, counts, store, states }
}

describe('a replica', () => {
  it('counts alone, without a delay, if no other process can use the store', async () => {
    const replicas = createReplicas({ store: undefined, onState: () => {} })
    await replicas.start()
    const buckets = createSharedBuckets(
      'test',
      { capacity: 1, refillMs: 60_000, maxKeys: 1, monotonic: () => 0 },
      replicas,
    )
    expect([replicas.count, buckets.take('ann'), buckets.take('ann')]).toEqual([1, undefined, 60])
    await replicas.stop()
  })

  it('asks the store once for requests that arrive together', async () => {
    const { replicas, buckets, store } = await setUp()
    const before = store.exchanges
    const taken = await Promise.all(Array.from({ length: LIMIT }, () => buckets.take('ann')))
    expect(taken).toEqual(taken.map(() => undefined))
    expect(store.exchanges - before).toBeLessThanOrEqual(2)
    expect(buckets.take('ann')).toBeGreaterThan(0)
    await replicas.stop()
  })

  it('adds the calls of the others to its own', async () => {
    const { replicas, counts } = await setUp()
    counts.add('ann')
    expect([counts.of('ann'), counts.of('ben')]).toEqual([3, 0])
    await replicas.stop()
  })

  it('goes on alone, with one message, when the store fails, and shares limits when it is back', async () => {
    const { replicas, buckets, counts, store, states } = await setUp()
    const { respond } = store
    store.respond = () => Promise.reject(new Error('gone'))
    expect(await buckets.take('ann')).toBeUndefined()
    expect([replicas.count, counts.of('ann')]).toEqual([1, 0])
    // The rest of the bucket, without waiting.
    for (let i = 1; i < LIMIT; i++) expect(buckets.take('ann')).toBeUndefined()
    expect(buckets.take('ann')).toBeGreaterThan(0)
    expect(states).toEqual([new Error('gone')])
    store.respond = respond
    await expect.poll(() => replicas.count, { timeout: 5000 }).toBe(2)
    expect(states).toEqual([new Error('gone'), undefined])
    await replicas.stop()
  })

  it('lets a request wait about a second at most if the store does not respond', async () => {
    const { replicas, buckets, counts, store, states } = await setUp()
    let respond = (): void => {}
    store.respond = () =>
      new Promise((resolve) => {
        respond = () => resolve({ others: [], buckets: [] })
      })
    counts.add('ann')
    await Promise.all([buckets.take('ann'), counts.settle('ann', LIMIT)])
    expect(states).toEqual([new Error('no response within 1000 ms')])
    expect([replicas.count, buckets.take('ann')]).toEqual([1, undefined])
    respond()
    await replicas.stop()
  })
})
