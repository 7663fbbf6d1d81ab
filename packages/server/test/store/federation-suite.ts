import { describe, expect, it } from 'vitest'
import type { FederatedCopy } from '../../src/store/federation-store.js'
import type { Store } from '../../src/store/store.js'
import { AT, put, stored } from './fixtures.js'

const copy = (peer: string, agent: string, changes: Partial<FederatedCopy> = {}): FederatedCopy => ({
  peer,
  agent,
  state: 'listed',
  format: 'aidip',
  document: { id: agent, name: 'Ünïcode "quoted"' },
  origin: {
    peer,
    service: `https://${peer}.example`,
    authority: `${peer}.example`,
    path: [`https://${peer}.example`],
    received_at: new Date(AT).toISOString(),
    freshness: {},
  },
  seenAt: AT,
  ...changes,
})

/** Tests of copies of other directories' agents that every store must pass. */
export function describeFederation(store: () => Store): void {
  describe('copies of agents of peers', () => {
    it('are kept for each peer, replaced and deleted', async () => {
      const { federation } = store()
      await federation.put([])
      await federation.put([copy('north', 'a'), copy('south', 'a', { expiresAt: AT + 1 }), copy('north', 'b')])
      await federation.put([copy('north', 'a', { document: { id: 'a' }, state: 'accepted', seenAt: AT + 1 })])
      expect(await federation.of('a')).toEqual([
        copy('north', 'a', { document: { id: 'a' }, state: 'accepted', seenAt: AT + 1 }),
        copy('south', 'a', { expiresAt: AT + 1 }),
      ])
      await federation.delete('north', ['a', 'unknown', '\0'])
      await federation.delete('north', [])
      expect((await federation.of('a')).map(({ peer }) => peer)).toEqual(['south'])
      expect(await federation.of('\0')).toEqual([])
      await expect(federation.put([copy('north', '\0')])).rejects.toMatchObject({ code: 'invalid' })
    })

    it('are listed by page, peer, state and when they were last seen, and counted', async () => {
      const { federation } = store()
      await federation.put([
        copy('south', 'a', { state: 'quarantined' }),
        copy('north', 'c', { seenAt: AT - 1 }),
        copy('north', 'b'),
        copy('north', 'B', { state: 'rejected', seenAt: AT - 2 }),
      ])
      const page = async (filter: Partial<Parameters<typeof federation.list>[0]>) =>
        (await federation.list({ limit: 100, ...filter })).map(({ peer, agent }) => `${peer} ${agent}`)
      expect(await page({})).toEqual(['north B', 'north b', 'north c', 'south a'])
      expect(await page({ limit: 2, after: { peer: 'north', agent: 'B' } })).toEqual(['north b', 'north c'])
      expect(await page({ peer: 'north', seenBefore: AT })).toEqual(['north B', 'north c'])
      expect(await page({ state: 'quarantined' })).toEqual(['south a'])
      expect(await federation.counts()).toEqual(
        expect.arrayContaining([
          { peer: 'north', state: 'listed', count: 2 },
          { peer: 'north', state: 'rejected', count: 1 },
          { peer: 'south', state: 'quarantined', count: 1 },
        ]),
      )
    })

    it('are pruned when their lifetime at the origin has ended, unless an operator has rejected them', async () => {
      const { federation } = store()
      await federation.put([
        copy('north', 'a', { expiresAt: AT - 1 }),
        copy('north', 'b', { expiresAt: AT }),
        copy('north', 'c', { expiresAt: AT - 1, state: 'rejected' }),
      ])
      await store().prune({ audit: 0, tombstones: 0, changes: 0, idempotency: 0, tasks: AT })
      expect((await federation.list({ limit: 10 })).map(({ agent }) => agent)).toEqual(['b', 'c'])
    })

    it('have their origin in the marks of the agent that is shown', async () => {
      const { origin } = copy('north', 'a')
      const agent = await stored(store().write(put('a', { owner: 'peer#north', marks: { origin } })))
      expect(agent.marks.origin).toEqual(origin)
      expect((await store().get('a'))?.marks.origin).toEqual(origin)
    })
  })
}
