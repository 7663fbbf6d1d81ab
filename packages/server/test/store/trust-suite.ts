import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.js'
import type { TrustEntry } from '../../src/store/trust-store.js'
import { AT, entry, newestEntries } from './fixtures.js'

const domain = (changes: Partial<TrustEntry> = {}): TrustEntry => ({
  kind: 'domain',
  key: 'a',
  version: 0,
  value: { token: 't' },
  at: AT,
  ...changes,
})

/** Tests of entries about trust that every store must pass. */
export function describeTrust(store: () => Store): void {
  describe('trust', () => {
    it('stores, replaces and deletes an entry, with entries in change log and audit log', async () => {
      const { trust } = store()
      const { cursor } = await store().load()
      const audit = entry({ action: 'domain.claim' })
      expect(await trust.put(domain(), audit)).toBe(true)
      expect(await trust.put(domain({ version: 1, value: { token: 'u' }, expiresAt: AT }), audit)).toBe(true)
      const stored = domain({ version: 2, value: { token: 'u' }, expiresAt: AT })
      expect(await trust.get('domain', 'a')).toEqual(stored)
      expect(await trust.list('domain')).toEqual([stored])
      expect(await trust.list('lease')).toEqual([])
      expect(await trust.get('domain', '\0')).toBeUndefined()
      expect(await trust.delete({ kind: 'domain', key: 'a', version: 1 }, audit)).toBe(false)
      expect(await trust.delete(stored, audit)).toBe(true)
      expect(await trust.delete(stored, audit)).toBe(false)
      expect(await trust.list('domain')).toEqual([])
      const { changes } = await store().changes(cursor)
      expect(changes.map(({ kind }) => kind)).toEqual(['trust', 'trust', 'trust'])
      expect(await newestEntries(store(), { limit: 10 })).toHaveLength(3)
    })

    it('rejects a write that is not based on the stored version', async () => {
      const { trust } = store()
      expect(await trust.put(domain({ version: 1 }))).toBe(false)
      expect(await trust.put(domain())).toBe(true)
      for (const version of [0, 2]) expect(await trust.put(domain({ version }), entry())).toBe(false)
      expect(await newestEntries(store(), { limit: 10 })).toEqual([])
      expect(await trust.put(domain({ version: 1 }))).toBe(true)
    })

    it('lets one of several writers win', async () => {
      const results = await Promise.all(['x', 'y', 'z'].map((token) => store().trust.put(domain({ value: { token } }))))
      expect(results.filter(Boolean)).toHaveLength(1)
    })

    it('does not announce a write without an audit entry', async () => {
      const { cursor } = await store().load()
      await store().trust.put(domain({ kind: 'lease' }))
      expect((await store().changes(cursor)).changes).toEqual([])
    })

    it('lists the entries of a kind that were put since a time', async () => {
      const { trust } = store()
      for (const [i, key] of ['x', 'y', 'z'].entries()) await trust.put(domain({ key, at: AT + i }))
      await trust.put(domain({ key: 'x', version: 1, at: AT + 5 }))
      const keys = async (since?: number) => (await trust.list('domain', since)).map(({ key }) => key)
      expect(await keys(AT + 2)).toEqual(['x', 'z'])
      expect(await keys()).toEqual(['x', 'y', 'z'])
    })

    it('keeps crawled sites, of any size up to a hundred documents', async () => {
      const { trust } = store()
      const pages = Array.from({ length: 100 }, (_, i) => ({
        url: `https://a.example/${'x'.repeat(200)}${i}`,
        etag: '"1"',
      }))
      const site = domain({ kind: 'crawl', value: { url: 'https://a.example/', requestedBy: [{ by: 'a' }], pages } })
      expect(await trust.put(site)).toBe(true)
      expect(await trust.get('crawl', 'a')).toEqual({ ...site, version: 1 })
    })

    it('prunes entries that have expired', async () => {
      const { trust } = store()
      await trust.put(domain({ key: 'old', expiresAt: AT }))
      await trust.put(domain({ key: 'new', expiresAt: AT + 10 }))
      await trust.put(domain({ key: 'kept' }))
      await store().prune({ audit: 0, tombstones: 0, changes: 0, idempotency: 0, tasks: AT + 5 })
      expect((await trust.list('domain')).map(({ key }) => key)).toEqual(['kept', 'new'])
    })
  })
}
