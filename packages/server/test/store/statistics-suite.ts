import { describe, expect, it } from 'vitest'
import type { StoredChoice, StoredCounts, StoredRating } from '../../src/store/statistics-store.js'
import type { Store } from '../../src/store/store.js'
import { AT, entry, put, remove, stored } from './fixtures.js'

const HALF_LIFE = 1000

const counts = (changes: Partial<StoredCounts> = {}): StoredCounts => ({
  agent: 'a',
  owner: 'alice',
  operation: 'translate',
  at: AT,
  calls: 4,
  failures: 2,
  ms: 100,
  ...changes,
})

const rating = (changes: Partial<StoredRating> = {}): StoredRating => ({
  agent: 'a',
  owner: 'alice',
  subject: 'carol',
  rating: 5,
  at: AT,
  ...changes,
})

/** Tests of counters and ratings that every store must pass. */
export function describeStatistics(store: () => Store): void {
  const add = (...more: StoredCounts[]) => store().statistics.add(more, HALF_LIFE)
  const all = async () => (await store().statistics.since(0)).toSorted((a, b) => (a.operation < b.operation ? -1 : 1))

  describe('statistics', () => {
    it('add up, and halve with each half-life', async () => {
      await add(counts(), counts({ operation: 'zip' }))
      await add(counts({ at: AT + HALF_LIFE, calls: 1, failures: 0, ms: 7 }))
      expect(await all()).toEqual([
        counts({ at: AT + HALF_LIFE, calls: 3, failures: 1, ms: 57 }),
        counts({ operation: 'zip' }),
      ])
      await add(counts({ at: AT - HALF_LIFE, calls: 4, failures: 0, ms: 0 }))
      expect((await all())[0], 'late counts decay too').toMatchObject({ at: AT + HALF_LIFE, calls: 4 })
    })

    it('of several processes add up in any order', async () => {
      const parts = Array.from({ length: 20 }, (_, i) => counts({ operation: `o${i}`, calls: 1 }))
      await Promise.all(Array.from({ length: 10 }, (_, i) => add(...(i % 2 ? parts : parts.toReversed()))))
      expect((await all()).map(({ calls }) => calls)).toEqual(Array(20).fill(10))
      await add()
    })

    it('can be read from a given time', async () => {
      await add(counts({ operation: 'old' }), counts({ operation: 'new', at: AT + 5 }))
      expect((await store().statistics.since(AT + 5)).map(({ operation }) => operation)).toEqual(['new'])
    })

    it('start again with another owner', async () => {
      await add(counts())
      await add(counts({ owner: 'bob', calls: 1, failures: 0, ms: 3, at: AT - 9 }))
      expect(await all()).toEqual([counts({ owner: 'bob', calls: 1, failures: 0, ms: 3, at: AT - 9 })])
    })

    it('are pruned when nothing was added for a long time', async () => {
      await add(counts(), counts({ operation: 'new', at: AT + 5 }))
      await store().prune({ audit: 0, tombstones: AT + 5, changes: 0, idempotency: 0, tasks: 0 })
      expect((await all()).map(({ operation }) => operation)).toEqual(['new'])
    })
  })

  describe('ratings', () => {
    it('count once for each subject: the latest', async () => {
      const { statistics } = store()
      expect(await statistics.rate(rating())).toEqual({ agent: 'a', owner: 'alice', count: 1, sum: 5 })
      expect(await statistics.rate(rating({ subject: 'dave', rating: 2 }))).toMatchObject({ count: 2, sum: 7 })
      const again = rating({ rating: 1, comment: 'half \ud800 and \0', at: AT + 5 })
      expect(await statistics.rate(again)).toMatchObject({ count: 2, sum: 3 })
      await statistics.rate(rating({ agent: 'b' }))
      expect(await statistics.ratingsSince(AT + 5)).toEqual([{ agent: 'a', owner: 'alice', count: 2, sum: 3 }])
      expect(await statistics.ratingsSince(AT)).toHaveLength(2)
    })

    it('of an earlier owner’s agent do not count', async () => {
      await store().statistics.rate(rating())
      await store().statistics.rate(rating({ subject: 'dave', owner: 'bob', rating: 1 }))
      const totals = await store().statistics.ratingsSince(0)
      expect(totals.toSorted((a, b) => a.sum - b.sum)).toEqual([
        { agent: 'a', owner: 'bob', count: 1, sum: 1 },
        { agent: 'a', owner: 'alice', count: 1, sum: 5 },
      ])
    })
  })

  describe('choices after searches', () => {
    const choice = (changes: Partial<StoredChoice> = {}): StoredChoice => ({
      number: 1,
      term: 't',
      at: AT,
      shown: 4,
      chosen: 2,
      ...changes,
    })
    const addChoices = (...choices: StoredChoice[]) => store().statistics.addChoices(choices, HALF_LIFE)
    const byTerm = async (at = 0) =>
      (await store().statistics.choicesSince(at)).toSorted((a, b) => (a.term < b.term ? -1 : 1))

    it('add up, halve with each half-life, and can be read from a given time', async () => {
      await addChoices(choice(), choice({ term: 'u' }))
      await addChoices(choice({ at: AT + HALF_LIFE, shown: 1, chosen: 1 }))
      expect(await byTerm()).toEqual([choice({ at: AT + HALF_LIFE, shown: 3, chosen: 2 }), choice({ term: 'u' })])
      expect(await byTerm(AT + 1)).toHaveLength(1)
      await addChoices()
    })

    it('of several processes add up in any order', async () => {
      const parts = Array.from({ length: 20 }, (_, i) => choice({ term: `t${i}`, shown: 1 }))
      await Promise.all(Array.from({ length: 10 }, (_, i) => addChoices(...(i % 2 ? parts : parts.toReversed()))))
      expect((await byTerm()).map(({ shown }) => shown)).toEqual(Array(20).fill(10))
    })

    it('are pruned when the agent is gone, and when nothing was added for a long time', async () => {
      const agent = await stored(store().write(put('a')))
      const { number } = agent
      await addChoices(choice({ number }), choice({ number, term: 'new', at: AT + 5 }), choice({ number: number + 1 }))
      const prune = () => store().prune({ audit: 0, tombstones: AT + 5, changes: 0, idempotency: 0, tasks: 0 })
      await prune()
      expect(await byTerm()).toEqual([choice({ number, term: 'new', at: AT + 5 })])
      await store().write(remove(agent))
      await prune()
      expect(await byTerm()).toEqual([])
    })
  })

  it('deletes statistics, ratings and credentials only when another owner registers the name', async () => {
    const { statistics, secrets } = store()
    const audit = { at: AT, actor: 'admin', action: 'credential.set', outcome: 'ok' as const }
    const kept = async () => [
      (await statistics.since(0)).length,
      (await statistics.ratingsSince(0)).length,
      (await secrets.credentials()).length,
    ]
    const first = await stored(store().write(put('a')))
    await add(counts())
    await statistics.rate(rating())
    await secrets.putCredential({ agent: 'a', owner: 'alice', secret: 's', at: AT }, audit)
    await store().write(remove(first))
    const again = await stored(store().write(put('a')))
    expect(await kept(), 'registered again by its owner').toEqual([1, 1, 1])
    await store().write(remove(again))
    await store().write(put('a', { owner: 'bob' }))
    expect(await kept(), 'registered by another owner').toEqual([0, 0, 0])
  })

  it('deletes statistics, ratings and credentials when an agent gets another owner', async () => {
    const { statistics, secrets } = store()
    const agent = await stored(store().write(put('a')))
    await add(counts())
    await statistics.rate(rating())
    await secrets.putCredential({ agent: 'a', owner: 'alice', secret: 's', at: AT }, entry())
    await store().write(put('a', { expect: agent.revision }))
    expect(await secrets.credentials()).toHaveLength(1)
    const { revision } = (await store().get('a')) ?? agent
    const moved = await stored(store().write(put('a', { expect: revision, owner: 'bob' })))
    expect(moved).toMatchObject({ owner: 'bob', number: agent.number })
    expect([await statistics.since(0), await statistics.ratingsSince(0), await secrets.credentials()]).toEqual([
      [],
      [],
      [],
    ])
  })

  it('deletes ratings and credentials when the agent’s tombstone is gone too', async () => {
    const { statistics, secrets } = store()
    const audit = { at: AT, actor: 'admin', action: 'credential.set', outcome: 'ok' as const }
    const agent = await stored(store().write(put('a')))
    await statistics.rate(rating())
    await secrets.putCredential({ agent: 'a', owner: 'alice', secret: 's', at: AT }, audit)
    const prune = (tombstones: number) => store().prune({ audit: 0, tombstones, changes: 0, idempotency: 0, tasks: 0 })
    const kept = async () => [(await statistics.ratingsSince(0)).length, (await secrets.credentials()).length]
    await prune(AT + 10)
    expect(await kept(), 'the agent lives').toEqual([1, 1])
    await store().write(remove(agent, { at: AT + 1 }))
    await prune(AT)
    expect(await kept(), 'it is remembered').toEqual([1, 1])
    await prune(AT + 10)
    expect(await kept()).toEqual([0, 0])
  })
}
