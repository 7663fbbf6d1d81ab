import { describe, expect, it } from 'vitest'
import { DAY_MS, type StoredLimit } from '../../src/store/limit-store.js'
import type { Store } from '../../src/store/store.js'
import { AT, entry, newestEntries } from './fixtures.js'

const limit = (changes: Partial<StoredLimit> = {}): StoredLimit => ({
  id: 'subject:alice',
  kind: 'subject',
  name: 'alice',
  values: { calls_per_day: 5 },
  createdAt: AT,
  ...changes,
})

/** Tests of limits and usage that every store must pass. */
export function describeLimits(store: () => Store): void {
  describe('limits', () => {
    it('are stored, replaced and deleted, with entries in change log and audit log', async () => {
      const { limits } = store()
      const { cursor } = await store().load()
      const audit = entry({ action: 'limit.set' })
      await limits.put(limit(), audit)
      await limits.put(limit({ values: { agents: 0 }, createdAt: AT + 1 }), audit)
      await limits.put(limit({ id: 'agent:a', kind: 'agent', name: 'a', createdAt: AT + 2 }), audit)
      expect(await limits.list()).toMatchObject([{ id: 'subject:alice', values: { agents: 0 } }, { kind: 'agent' }])
      expect(await limits.delete('agent:a', audit)).toBe(true)
      expect(await limits.delete('agent:a', audit)).toBe(false)
      expect(await limits.delete('\0', audit)).toBe(false)
      expect((await store().changes(cursor)).changes.map(({ kind }) => kind)).toEqual(Array(4).fill('limits'))
      expect(await newestEntries(store(), { limit: 10, action: 'limit.set' })).toHaveLength(4)
    })

    it('have counts for each day, which add up and are pruned', async () => {
      const { limits } = store()
      const day = Math.floor(AT / DAY_MS)
      expect(await limits.addUsage(day, [])).toEqual([])
      await Promise.all(
        Array.from({ length: 20 }, () =>
          limits.addUsage(day, [
            { key: 'subject:b', calls: 2 },
            { key: 'subject:a', calls: 1 },
          ]),
        ),
      )
      expect(await limits.addUsage(day, [{ key: 'subject:a', calls: 3 }])).toEqual([{ key: 'subject:a', calls: 23 }])
      await limits.addUsage(day + 1, [{ key: 'subject:a', calls: 1 }])
      const usage = await limits.usage(day, ['subject:a', 'subject:b', 'subject:c'])
      expect(usage.toSorted((x, y) => (x.key < y.key ? -1 : 1))).toEqual([
        { key: 'subject:a', calls: 23 },
        { key: 'subject:b', calls: 40 },
      ])
      const tasks = (day + 1) * DAY_MS
      await store().prune({ audit: 0, tombstones: 0, changes: 0, idempotency: 0, tasks })
      expect(await limits.usage(day, ['subject:a'])).toEqual([])
      expect(await limits.usage(day + 1, ['subject:a'])).toEqual([{ key: 'subject:a', calls: 1 }])
    })
  })
}
