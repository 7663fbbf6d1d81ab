import { describe, expect, it } from 'vitest'
import type { StoredCredential, StoredSigningKey } from '../../src/store/secret-store.js'
import type { Store } from '../../src/store/store.js'
import { AT, entry, newestEntries } from './fixtures.js'

const credential = (agent: string): StoredCredential => ({ agent, owner: 'alice', secret: 'c2VhbGVk', at: AT })
const signingKey = (id: string, createdAt = AT): StoredSigningKey => ({ id, publicKey: '{}', secret: 's', createdAt })

/** Tests of secrets that every store must pass. */
export function describeSecrets(store: () => Store): void {
  describe('secrets', () => {
    it('are stored, replaced and deleted, with entries in change log and audit log', async () => {
      const { secrets } = store()
      const { cursor } = await store().load()
      await secrets.putCredential(credential('a'), entry({ action: 'credential.set' }))
      await secrets.putCredential({ ...credential('a'), secret: 'new' }, entry({ action: 'credential.set' }))
      await secrets.putSigningKey(signingKey('new', AT + 1), entry({ action: 'signing-key.create' }))
      await secrets.putSigningKey(signingKey('old'), entry({ action: 'signing-key.create' }))
      expect(await secrets.credentials()).toEqual([{ ...credential('a'), secret: 'new' }])
      expect(await secrets.signingKeys()).toEqual([signingKey('old'), signingKey('new', AT + 1)])
      expect(await secrets.deleteCredential('a', entry({ action: 'credential.delete' }))).toBe(true)
      expect(await secrets.deleteCredential('a', entry({ action: 'credential.delete' }))).toBe(false)
      expect(await secrets.deleteCredential('\0', entry())).toBe(false)
      expect(await secrets.deleteSigningKey('old', entry({ action: 'signing-key.delete' }))).toBe(true)
      expect([await secrets.credentials(), (await secrets.signingKeys()).length]).toEqual([[], 1])
      const { changes } = await store().changes(cursor)
      expect(changes.map(({ kind }) => kind)).toEqual(Array(6).fill('secrets'))
      expect(await newestEntries(store(), { limit: 10 })).toHaveLength(6)
    })
  })
}
