import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type {
  AuditFilter,
  Change,
  IdempotencyClaim,
  LoggedEntry,
  Store,
  StoredAgent,
  StoredGrant,
  StoredKey,
  StoredVectors,
} from '../../src/store/store.js'
import { describeFederation } from './federation-suite.js'
import { AT, entry, loadAll, newestEntries, put, refresh, remove, stored } from './fixtures.js'
import { describeLimits } from './limit-suite.js'
import { describeSecrets } from './secret-suite.js'
import { describeStatistics } from './statistics-suite.js'
import { describeSubjects } from './subject-suite.js'
import { describeTasks } from './task-suite.js'
import { describeTrust } from './trust-suite.js'

/** Where a store is, such as a folder or a schema; new for each test. */
export interface StorePlace {
  open(): Promise<Store>
  /** Makes the database reject agents of this owner, with its own error. */
  refuseOwner(owner: string): Promise<void>
  drop(): Promise<void>
}

/** Tests that every store must pass. */
export function describeStore(name: string, createPlace: () => Promise<StorePlace>): void {
  describe(name, () => {
    let place: StorePlace
    let store: Store

    beforeEach(async () => {
      place = await createPlace()
      store = await place.open()
    })
    afterEach(async () => {
      await store.close()
      await place.drop()
    })

    /** The log until it has this many entries: transactions of other tests on the same server may delay them. */
    const readLog = async (entries: number, after?: string): Promise<LoggedEntry[][]> => {
      const pages: LoggedEntry[][] = []
      const readOn = async (): Promise<number> => {
        const page = await store.auditAfter(pages.at(-1)?.at(-1)?.cursor ?? after)
        if (page.length > 0) pages.push(page)
        return pages.flat().length
      }
      await expect.poll(readOn, { interval: 5, timeout: 5000 }).toBe(entries)
      return pages
    }
    const audits = (action?: string) => newestEntries(store, { limit: 1000, ...(action !== undefined && { action }) })

    describe('put', () => {
      it('stores a new agent and returns it', async () => {
        const lease = { seconds: 60, expiresAt: AT + 60_000 }
        const agent = await stored(store.write(put('a', { lease, marks: { unsafe: true, quality_score: 0.5 } })))
        expect(agent).toEqual({
          id: 'a',
          number: 1,
          owner: 'alice',
          format: 'aidip',
          document: { id: 'a', name: 'a' },
          revision: 1,
          createdAt: AT,
          modifiedAt: AT,
          receivedAt: AT,
          lease,
          marks: { unsafe: true, quality_score: 0.5 },
        })
        expect(await store.get('a')).toEqual(agent)
        expect(await store.get('b')).toBeUndefined()
      })

      it('has no lease member on an agent without a lease', async () => {
        const agent = await stored(store.write(put('a')))
        expect(agent).not.toHaveProperty('lease')
        expect(await store.get('a')).not.toHaveProperty('lease')
      })

      it('keeps a document exactly', async () => {
        const document = { z: 1, a: ['\u0000', '\ud800', '𝄞 "quoted" \\ \n', 1e-7, null, {}], '': { '\u0000': 'key' } }
        await store.write(put('a', { document }))
        const agent = await store.get('a')
        expect(JSON.stringify(agent?.document)).toBe(JSON.stringify(document))
      })

      it('is a conflict if the name is taken, does not exist, or has changed', async () => {
        const first = await stored(store.write(put('a')))
        expect(await store.write(put('a', { owner: 'bob' }))).toEqual({ outcome: 'conflict' })
        expect(await store.write(put('b', { expect: 7 }))).toEqual({ outcome: 'conflict' })
        const second = await stored(store.write(put('a', { expect: first.revision, document: { v: 2 } })))
        expect(await store.write(put('a', { expect: first.revision, document: { v: 3 } }))).toEqual({
          outcome: 'conflict',
        })
        expect(await store.get('a')).toEqual(second)
        expect(await audits()).toHaveLength(2)
      })

      it('keeps number and createdAt, and replaces the rest', async () => {
        const first = await stored(store.write(put('a', { lease: { seconds: 60, expiresAt: AT + 60_000 } })))
        const second = await stored(
          store.write(
            put('a', {
              expect: first.revision,
              owner: 'bob',
              format: 'a2a',
              document: { v: 2 },
              lease: { seconds: 90, expiresAt: AT + 90_000 },
              marks: { status: 'deprecated' },
              at: AT + 5,
            }),
          ),
        )
        expect(second).toEqual({
          id: 'a',
          number: first.number,
          owner: 'bob',
          format: 'a2a',
          document: { v: 2 },
          revision: first.revision + 1,
          createdAt: AT,
          modifiedAt: AT + 5,
          receivedAt: AT + 5,
          lease: { seconds: 90, expiresAt: AT + 90_000 },
          marks: { status: 'deprecated' },
        })
        expect(await store.get('a')).toEqual(second)
      })

      it('keeps receivedAt if the write does not come from the owner', async () => {
        const first = await stored(store.write(put('a')))
        const second = await stored(store.write(put('a', { expect: first.revision, at: AT + 5, received: false })))
        expect(second).toMatchObject({ receivedAt: AT, modifiedAt: AT + 5 })
        expect(await store.get('a')).toEqual(second)
      })

      it('assigns increasing revisions and numbers, and never reuses a number', async () => {
        const a = await stored(store.write(put('a')))
        const b = await stored(store.write(put('b')))
        const a2 = await stored(store.write(put('a', { expect: a.revision })))
        await store.write(remove(b))
        const b2 = await stored(store.write(put('b')))
        expect(b.revision).toBeGreaterThan(a.revision)
        expect(a2.revision).toBeGreaterThan(b.revision)
        expect(b2.revision).toBeGreaterThan(a2.revision)
        expect(b2.number).toBeGreaterThan(b.number)
      })

      it('rejects text that cannot be stored, without affecting other writes', async () => {
        const good = store.write(put('a'))
        for (const bad of [put('a\0b'), put('b', { owner: 'x\ud800' })]) {
          await expect(store.write(bad)).rejects.toMatchObject({ code: 'invalid' })
        }
        expect((await good).outcome).toBe('done')
        expect(await store.get('a\0b')).toBeUndefined()
        expect(await store.tombstone({ id: 'a\0b' })).toBeUndefined()
      })

      it('allows one of many concurrent writers of a revision to win', async () => {
        let agent = await stored(store.write(put('a')))
        for (let round = 0; round < 3; round++) {
          const { revision } = agent
          const results = await Promise.all(
            Array.from({ length: 200 }, (_, i) => store.write(put('a', { expect: revision, document: { i, round } }))),
          )
          const winners = results.flatMap((result) => (result.outcome === 'done' ? [result.agent] : []))
          expect(winners).toHaveLength(1)
          expect(await store.get('a')).toEqual(winners[0])
          agent = winners[0] ?? agent
        }
        expect(await audits()).toHaveLength(4)
      })

      it('allows one of many concurrent registrations of a name to win', async () => {
        const results = await Promise.all(
          Array.from({ length: 50 }, (_, i) => store.write(put('a', { owner: `o${i}` }))),
        )
        expect(results.filter((result) => result.outcome === 'done')).toHaveLength(1)
      })
    })

    describe('atomicity', () => {
      it('a failed write leaves nothing behind and does not affect others', async () => {
        await store.write(put('before'))
        await place.refuseOwner('mallory')
        const { cursor } = await loadAll(store)
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) =>
            store.write(put(`a${i}`, { owner: i % 10 === 3 ? 'mallory' : 'alice' })),
          ),
        )
        expect(results.flatMap((result, i) => (result.status === 'rejected' ? [i] : []))).toEqual([3, 13])
        expect(results[3]).toMatchObject({ reason: { code: 'unavailable' } })
        expect((await loadAll(store)).agents).toHaveLength(19)
        expect((await store.changes(cursor)).changes).toHaveLength(18)
        expect(await audits()).toHaveLength(19)
        expect(await store.get('a3')).toBeUndefined()
        expect((await store.write(put('a3'))).outcome).toBe('done')
      })

      it('a conflict leaves nothing behind', async () => {
        const agent = await stored(store.write(put('a')))
        const { cursor } = await loadAll(store)
        await store.write(put('a'))
        await store.write(remove(agent, { expect: agent.revision + 1 }))
        await store.write(refresh(agent, { number: agent.number + 1 }))
        expect((await store.changes(cursor)).changes).toEqual([])
        expect(await audits()).toHaveLength(1)
        expect(await store.tombstone({ id: 'a' })).toBeUndefined()
        expect(await store.get('a')).toEqual(agent)
      })
    })

    describe('refresh', () => {
      it('renews lease and receivedAt, and nothing else', async () => {
        const agent = await stored(store.write(put('a', { lease: { seconds: 10, expiresAt: AT + 10_000 } })))
        const { cursor } = await loadAll(store)
        const lease = { seconds: 20, expiresAt: AT + 25_000 }
        const renewed = await stored(store.write(refresh(agent, { lease, at: AT + 5 })))
        expect(renewed).toEqual({ ...agent, lease, receivedAt: AT + 5 })
        expect(await store.get('a')).toEqual(renewed)
        expect((await store.changes(cursor)).changes).toEqual([])
        expect(await audits('refresh')).toHaveLength(1)
        // The revision is unchanged, so a decision based on it is still valid.
        expect((await store.write(put('a', { expect: agent.revision }))).outcome).toBe('done')
      })

      it('survives a put with lease "keep", even if the writer read an older lease', async () => {
        const lease = { seconds: 60, expiresAt: AT + 60_000 }
        const renewed = { seconds: 60, expiresAt: AT + 90_000 }
        const first = await stored(store.write(put('a', { lease })))
        await store.write(refresh(first, { lease: renewed }))
        const second = await stored(store.write(put('a', { expect: first.revision, lease: 'keep' })))
        expect([second.lease, (await store.get('a'))?.lease]).toEqual([renewed, renewed])
      })

      it('ends with a put with lease "none": the agent stays', async () => {
        const first = await stored(store.write(put('a', { lease: { seconds: 60, expiresAt: AT + 60_000 } })))
        const second = await stored(store.write(put('a', { expect: first.revision, lease: 'none' })))
        expect([second.lease, (await store.get('a'))?.lease]).toEqual([undefined, undefined])
      })

      it('does not decrease receivedAt if the clock was set back', async () => {
        const agent = await stored(store.write(put('a')))
        expect(await stored(store.write(refresh(agent, { at: AT - 5 })))).toMatchObject({ receivedAt: AT })
        const again = put('a', { expect: agent.revision, at: AT - 5 })
        expect(await stored(store.write(again))).toMatchObject({ receivedAt: AT, modifiedAt: AT - 5 })
        expect(await store.get('a')).toMatchObject({ receivedAt: AT })
      })

      it('updates receivedAt of an agent without a lease', async () => {
        const agent = await stored(store.write(put('a')))
        const refreshed = await stored(store.write(refresh(agent, { lease: 'keep', at: AT + 5 })))
        expect(refreshed).toEqual({ ...agent, receivedAt: AT + 5 })
        expect(refreshed).not.toHaveProperty('lease')
      })

      it('is a conflict if the agent is gone, even if the name is taken again', async () => {
        const agent = await stored(store.write(put('a')))
        await store.write(remove(agent))
        expect(await store.write(refresh(agent))).toEqual({ outcome: 'conflict' })
        await store.write(put('a'))
        expect(await store.write(refresh(agent))).toEqual({ outcome: 'conflict' })
      })

      it('handles many at once; the last one for an agent wins', async () => {
        const agents = await Promise.all(Array.from({ length: 30 }, (_, i) => stored(store.write(put(`a${i}`)))))
        const results = await Promise.all(
          [1, 2, 3].flatMap((n) => agents.map((agent) => store.write(refresh(agent, { at: AT + n })))),
        )
        expect(results.every((result) => result.outcome === 'done')).toBe(true)
        expect((await loadAll(store)).agents.every((agent) => agent.receivedAt === AT + 3)).toBe(true)
      })
    })

    describe('remove', () => {
      it('leaves a tombstone, found by number and by id', async () => {
        const agent = await stored(store.write(put('a', { marks: { unsafe: true } })))
        expect(await store.write(remove(agent, { reason: 'expired', at: AT + 9 }))).toEqual({ outcome: 'done' })
        expect(await store.get('a')).toBeUndefined()
        const tombstone = {
          id: 'a',
          number: agent.number,
          owner: 'alice',
          reason: 'expired',
          marks: { unsafe: true },
          at: AT + 9,
        }
        expect(await store.tombstone({ number: agent.number })).toEqual(tombstone)
        expect(await store.tombstone({ id: 'a' })).toEqual(tombstone)
        expect(await store.tombstone({ number: 99 })).toBeUndefined()
      })

      it('keeps the newest tombstone of a name', async () => {
        const first = await stored(store.write(put('a')))
        await store.write(remove(first, { at: AT + 9 }))
        const second = await stored(store.write(put('a', { owner: 'bob' })))
        await store.write(remove(second, { at: AT + 1 }))
        expect(await store.tombstone({ id: 'a' })).toMatchObject({ number: second.number, owner: 'bob' })
        expect(await store.tombstone({ number: first.number })).toMatchObject({ owner: 'alice' })
      })

      it('removes the lease too', async () => {
        const agent = await stored(store.write(put('a', { lease: { seconds: 1, expiresAt: AT } })))
        await store.write(remove(agent))
        await store.write(put('a'))
        expect(await store.get('a')).not.toHaveProperty('lease')
      })

      it('is a conflict if the agent has changed or is gone', async () => {
        const agent = await stored(store.write(put('a')))
        await store.write(put('a', { expect: agent.revision }))
        expect(await store.write(remove(agent))).toEqual({ outcome: 'conflict' })
        expect(await store.write(remove({ ...agent, id: 'b' }))).toEqual({ outcome: 'conflict' })
      })

      it.each([AT + 20_000, AT + 5000])(
        'can require that the lease was not renewed, whatever the clock: %i',
        async (end) => {
          const lease = { seconds: 10, expiresAt: AT + 10_000 }
          const agent = await stored(store.write(put('a', { lease })))
          await store.write(refresh(agent, { lease: { seconds: 10, expiresAt: end } }))
          expect(await store.write(remove(agent, { ifLeaseEnds: AT + 10_000 }))).toEqual({ outcome: 'conflict' })
          expect(await store.write(remove(agent, { ifLeaseEnds: end }))).toEqual({ outcome: 'done' })
          const lasting = await stored(store.write(put('b')))
          expect(await store.write(remove(lasting, { ifLeaseEnds: AT }))).toEqual({ outcome: 'done' })
        },
      )
    })

    describe('load', () => {
      it('returns all live agents in order of registration, in batches', async () => {
        await Promise.all(Array.from({ length: 1201 }, (_, i) => store.write(put(`a${i}`))))
        const gone = await store.get('a600')
        if (gone) await store.write(remove(gone))
        const sizes: number[] = []
        const numbers: number[] = []
        for await (const batch of (await store.load()).agents) {
          sizes.push(batch.length)
          numbers.push(...batch.map((agent) => agent.number))
        }
        expect(numbers).toHaveLength(1200)
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        expect(sizes.length).toBeGreaterThan(1)
      })

      it('reads one snapshot, and the change feed continues from it', async () => {
        for (let i = 0; i < 600; i += 100) {
          await Promise.all(
            Array.from({ length: 100 }, (_, k) => store.write(put(`a${i + k}`, { document: { v: 1 } }))),
          )
        }
        const { cursor, agents } = await store.load()
        const loaded: StoredAgent[] = []
        for await (const batch of agents) {
          loaded.push(...batch)
          if (loaded.length > 500) continue
          const last = await store.get('a599')
          await store.write(put('a599', { expect: last?.revision, document: { v: 2 } }))
          await store.write(put('later'))
          if (batch[0]) await store.write(remove(batch[0]))
        }
        expect(loaded).toHaveLength(600)
        expect(loaded.every((agent) => agent.document.v === 1)).toBe(true)
        const { changes } = await store.changes(cursor)
        expect(changes.map(({ kind }) => kind)).toEqual(['put', 'put', 'remove'])
      })

      it('may be stopped early, or never started', async () => {
        await Promise.all(Array.from({ length: 600 }, (_, i) => store.write(put(`a${i}`))))
        for await (const batch of (await store.load()).agents) if (batch.length > 0) break
        await store.load()
        await store.write(put('b'))
      })

      it('is empty in an empty store', async () => {
        const { cursor, agents } = await loadAll(store)
        expect(agents).toEqual([])
        expect((await store.changes(cursor)).changes).toEqual([])
      })
    })

    describe('changes', () => {
      it('contains each put, remove, key and grant once', async () => {
        const { cursor } = await loadAll(store)
        const agent = await stored(store.write(put('a')))
        await store.putKey(key('k'), entry())
        await store.putGrant(grant('g'), entry())
        await store.write(remove(agent))
        const first = await store.changes(cursor)
        expect(first.changes).toEqual([
          { kind: 'put', revision: agent.revision, id: 'a', number: agent.number },
          { kind: 'keys', revision: agent.revision + 1 },
          { kind: 'grants', revision: agent.revision + 2 },
          { kind: 'remove', revision: agent.revision + 3, id: 'a', number: agent.number },
        ])
        expect((await store.changes(first.cursor)).changes).toEqual([])
        expect((await store.changes(cursor)).changes).toEqual(first.changes)
      })

      it('delivers each change exactly once while many write', async () => {
        let { cursor } = await loadAll(store)
        const seen: Change[] = []
        let writing = true
        const follow = async (): Promise<void> => {
          for (;;) {
            const last = !writing
            const next = await store.changes(cursor)
            seen.push(...next.changes)
            cursor = next.cursor
            if (last) return
            await new Promise((resolve) => setTimeout(resolve, 1))
          }
        }
        const following = follow()
        const committed: number[] = []
        const write = async (writer: number): Promise<void> => {
          for (let i = 0; i < 25; i++) {
            const agent = await stored(store.write(put(`w${writer}-${i % 5}`)))
            const changed = await stored(store.write(put(agent.id, { expect: agent.revision })))
            committed.push(agent.revision, changed.revision)
            await store.write(remove(changed))
          }
        }
        await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)))
        writing = false
        await following
        const puts = seen.flatMap((change) => (change.kind === 'put' ? [change.revision] : []))
        expect(puts.toSorted((a, b) => a - b)).toEqual(committed.toSorted((a, b) => a - b))
        expect(seen.filter((change) => change.kind === 'remove')).toHaveLength(16 * 25)
      })

      it('rejects a cursor older than the retained changes: cursor_lost', async () => {
        const { cursor } = await loadAll(store)
        await store.write(put('a', { at: AT }))
        const second = await store.changes(cursor)
        await store.write(put('b', { at: AT + 10 }))
        // PostgreSQL keeps what transactions of other tests, in other databases of the server, may not have seen.
        const loses = (lost: string, changes: number): Promise<void> =>
          vi.waitFor(async () => {
            await store.prune({ audit: 0, tombstones: 0, changes, idempotency: 0, tasks: 0 })
            await expect(store.changes(lost)).rejects.toMatchObject({ code: 'cursor_lost' })
          }, 10_000)
        await loses(cursor, AT + 5)
        const third = await store.changes(second.cursor)
        expect(third.changes).toHaveLength(1)
        await loses(second.cursor, AT + 15)
        expect((await store.changes(third.cursor)).changes).toEqual([])
        await store.write(put('c', { at: AT + 20 }))
        expect((await store.changes(third.cursor)).changes).toHaveLength(1)
        expect((await loadAll(store)).agents).toHaveLength(3)
      })

      it('keeps a cursor valid while agents are refreshed and old changes are pruned', async () => {
        const agent = await stored(store.write(put('a')))
        const { cursor } = await loadAll(store)
        await store.write(refresh(agent))
        await store.prune({ audit: 0, tombstones: 0, changes: AT + 1, idempotency: 0, tasks: 0 })
        expect((await store.changes(cursor)).changes).toEqual([])
      })

      it('rejects cursors that it did not issue', async () => {
        await store.write(put('a'))
        for (const cursor of ['', 'x', '999', '1/2', '-1', '1/999:999:']) {
          await expect(store.changes(cursor)).rejects.toMatchObject({ code: 'cursor_lost' })
        }
      })
    })

    describe('keys and grants', () => {
      it('stores keys, with and without limits', async () => {
        const plain = key('k1')
        const limited = { ...key('k2'), names: ['corp-*'], expiresAt: AT + 5, createdAt: AT + 1 }
        expect(await store.putKey(plain, entry())).toBe(true)
        expect(await store.putKey(limited, entry())).toBe(true)
        expect(await store.keys()).toEqual([plain, limited])
        expect(await store.putKey({ ...plain, names: ['x'] }, entry())).toBe(true)
        expect(await store.putKey({ ...limited, hash: 'other' }, entry(), true)).toBe(false)
        expect(await store.keys()).toEqual([{ ...plain, names: ['x'] }, limited])
        expect(await store.deleteKey('k1', entry({ action: 'key.delete' }))).toBe(true)
        expect(await store.deleteKey('k1', entry({ action: 'key.delete' }))).toBe(false)
        expect(await store.keys()).toEqual([limited])
        expect(await audits('key.delete')).toHaveLength(1)
        expect(await audits()).toHaveLength(4)
      })

      it('allows one of many concurrent first keys to win', async () => {
        const results = await Promise.all(
          Array.from({ length: 10 }, (_, i) => store.putKey({ ...key('admin'), hash: `h${i}` }, entry(), true)),
        )
        expect(results.filter((isNew) => isNew)).toHaveLength(1)
        expect(await store.keys()).toMatchObject([{ hash: `h${results.indexOf(true)}` }])
      })

      it('stores grants, for an agent or a tag', async () => {
        const forAgent = { ...grant('g1'), agent: { id: 'a', owner: 'alice' } }
        const forTag = { ...grant('g2'), tag: 'finance' }
        await store.putGrant(forAgent, entry())
        await store.putGrant(forTag, entry())
        expect(await store.grants()).toEqual([forAgent, forTag])
        await store.putGrant({ ...grant('g1'), scopes: ['find'] }, entry())
        expect(await store.grants()).toEqual([{ ...grant('g1'), scopes: ['find'] }, forTag])
        expect(await store.deleteGrant('g1', entry())).toBe(true)
        expect(await store.deleteGrant('g1', entry())).toBe(false)
        expect(await store.grants()).toEqual([forTag])
      })
    })

    describe('settings', () => {
      it('keep the first value, unless it is replaced', async () => {
        expect(await store.putSetting('a', 'one', true)).toBe('one')
        expect(await store.putSetting('a', 'two', true)).toBe('one')
        expect(await store.putSetting('a', 'three', false)).toBe('three')
        expect(await store.putSetting('b', '', true)).toBe('')
        await store.close()
        store = await place.open()
        expect(await store.putSetting('a', 'four', true)).toBe('three')
        expect(await store.putSetting('b', 'x', true)).toBe('')
      })

      it('keep one value if several replicas choose at once', async () => {
        const chosen = await Promise.all(['x', 'y', 'z'].map((value) => store.putSetting('a', value, true)))
        expect(new Set(chosen).size).toBe(1)
      })
    })

    describe('vectors', () => {
      const all = async (model: string, numbers?: number[]) => {
        const kept: StoredVectors[] = []
        for await (const batch of store.vectors(model, numbers)) kept.push(...batch)
        return kept
      }
      const vectorsOf = (number: number, text: string, model = 'm1') => ({
        number,
        model,
        digest: `digest of ${text}`,
        data: Uint8Array.from([0, 255, ...Buffer.from(text)]),
      })

      it('are stored as bytes for each agent and model, and read in order in batches', async () => {
        const agents = await Promise.all(Array.from({ length: 1200 }, (_, i) => store.write(put(`a${i}`))))
        const numbers = agents
          .flatMap((result) => ('agent' in result && result.agent ? [result.agent.number] : []))
          .sort((a, b) => a - b)
        await store.putVectors(numbers.map((number) => vectorsOf(number, `of ${number}`)))
        const kept = await all('m1')
        expect(kept.map(({ number }) => number)).toEqual(numbers)
        expect(kept[7]).toEqual({ ...vectorsOf(numbers[7] ?? 0, `of ${numbers[7]}`), data: expect.any(Uint8Array) })
        expect(Uint8Array.from(kept[7]?.data ?? [])).toEqual(vectorsOf(0, `of ${numbers[7]}`).data)
        expect(await all('m2')).toEqual([])
        expect((await all('m1', [numbers[3] ?? 0, 9e9])).map(({ number }) => number)).toEqual([numbers[3]])
      })

      it('are replaced for an agent, and deleted with the agent', async () => {
        const result = await store.write(put('a'))
        if (result.outcome !== 'done' || !result.agent) throw new Error('not written')
        const { number } = result.agent
        await store.putVectors([vectorsOf(number, 'old')])
        await store.putVectors([vectorsOf(number, 'new', 'm2')])
        expect([await all('m1'), (await all('m2')).map(({ digest }) => digest)]).toEqual([[], ['digest of new']])
        await store.write(remove(result.agent))
        expect(await all('m2')).toEqual([])
        await store.putVectors([vectorsOf(number, 'late')])
        expect(await all('m1')).toEqual([])
      })
    })

    describe('audit', () => {
      it('returns entries newest first, filtered, up to a limit', async () => {
        const about = { agent: 'a', format: 'aidip', requestId: 'r', detail: 'why', address: '192.0.2.1', count: 7 }
        const states = { before: { text: 'a\0b\ud800', list: [1, null] }, after: {} }
        const full = entry({ at: AT + 3, actor: 'bob', ...about, ...states })
        const entries = [entry({ at: AT + 1 }), entry({ at: AT + 2, outcome: 'refused', action: 'mark' }), full]
        await store.appendAudit(entries)
        await store.appendAudit([])
        expect(await newestEntries(store, { limit: 10 })).toEqual(entries.toReversed())
        expect(await newestEntries(store, { limit: 2 })).toEqual([full, entries[1]])
        expect(await newestEntries(store, { limit: 10, since: AT + 2 })).toEqual([full, entries[1]])
        expect(await newestEntries(store, { limit: 10, subject: 'bob' })).toEqual([full])
        expect(await newestEntries(store, { limit: 10, agent: 'a' })).toEqual([full])
        expect(await newestEntries(store, { limit: 10, action: 'mark' })).toEqual([entries[1]])
        expect(await newestEntries(store, { limit: 10, outcome: 'refused' })).toEqual([entries[1]])
        expect(await newestEntries(store, { limit: 10, subject: 'bob', action: 'mark' })).toEqual([])
      })

      it('finds entries before a time, by part of their text, and after a cursor', async () => {
        const entries = [
          entry({ at: AT, detail: 'Key k-17 revoked' }),
          entry({ at: AT + 1, agent: 'Translator' }),
          entry({ at: AT + 1, address: '192.0.2.9', requestId: 'req-5' }),
          entry({ at: AT + 2, actor: 'bob%' }),
        ]
        await store.appendAudit(entries)
        const find = async (filter: Partial<AuditFilter>) =>
          (await newestEntries(store, { limit: 10, ...filter })).map((found) =>
            entries.findIndex(
              ({ at, actor, agent, address }) =>
                found.at === at && found.actor === actor && found.agent === agent && found.address === address,
            ),
          )
        expect(await find({ until: AT + 2 })).toEqual([2, 1, 0])
        expect(await find({ until: AT + 1, since: AT })).toEqual([0])
        for (const [text, expected] of [
          ['KEY k-17', [0]],
          ['translat', [1]],
          ['0.2.9', [2]],
          ['REQ-5', [2]],
          ['bob%', [3]],
          ['b_b', []],
          ['\0', []],
        ] as const)
          expect(await find({ text }), text).toEqual(expected)
        const pages: string[] = []
        for (let before: string | undefined; ; ) {
          const [one] = await store.audit({ limit: 1, ...(before !== undefined && { before }) })
          if (!one) break
          pages.push(JSON.stringify(one.entry))
          before = one.cursor
        }
        expect(pages).toEqual((await newestEntries(store, { limit: 10 })).map((one) => JSON.stringify(one)))
        expect(await find({ text: 'alice', subject: 'alice', action: 'register', until: AT + 1 })).toEqual([0])
        await expect(store.audit({ limit: 1, before: 'x' })).rejects.toMatchObject({ code: 'cursor_lost' })
      })

      it('finds entries by action or outcome among many others', async () => {
        const many = Array.from({ length: 1200 }, (_, i) => entry({ at: AT + (i % 7), detail: String(i) }))
        await store.appendAudit([entry({ action: 'mark', outcome: 'refused' }), ...many])
        expect(await newestEntries(store, { limit: 10, action: 'mark' })).toHaveLength(1)
        expect(await newestEntries(store, { limit: 10, outcome: 'refused' })).toHaveLength(1)
        const newest = (await newestEntries(store, { limit: 1100 })).map(({ detail }) => Number(detail))
        expect(newest).toEqual(
          Array.from({ length: 1200 }, (_, i) => i)
            .sort((a, b) => (b % 7) - (a % 7) || b - a)
            .slice(0, 1100),
        )
      })

      it('returns the log in order, in pages, and continues after any position', async () => {
        expect(await store.auditAfter(undefined)).toEqual([])
        const agent = await stored(store.write(put('a', { audit: entry({ detail: 'put', after: { v: 1 } }) })))
        const many = Array.from({ length: 1200 }, (_, i) => entry({ at: AT - i, detail: String(i) }))
        await store.appendAudit(many)
        await store.write(remove(agent, { audit: entry({ detail: 'remove' }) }))
        const details = ['put', ...many.map(({ detail }) => detail), 'remove']

        const pages = await readLog(details.length)
        expect(pages.length).toBeGreaterThan(2)
        expect(pages.flat().map((logged) => logged.entry.detail)).toEqual(details)
        expect(new Set(pages.flat().map(({ cursor }) => cursor)).size).toBe(details.length)
        expect(pages[0]?.[0]?.entry).toEqual(entry({ detail: 'put', after: { v: 1 } }))
        const rest = await readLog(501, pages.flat()[700]?.cursor)
        expect(rest.flat()).toEqual(pages.flat().slice(701))

        await store.putKey(key('k'), entry({ detail: 'key' }))
        const later = await readLog(1, pages.flat().at(-1)?.cursor)
        expect(later.flat().map((logged) => logged.entry.detail)).toEqual(['key'])
      })

      it('never gives a position to a second entry, even if everything was pruned', async () => {
        await store.appendAudit([entry(), entry()])
        const last = (await readLog(2)).flat().at(-1)?.cursor
        await store.prune({ audit: AT + 1, tombstones: 0, changes: 0, idempotency: 0, tasks: 0 })
        expect(await store.auditAfter(undefined)).toEqual([])
        await store.appendAudit([entry({ at: AT + 5 })])
        expect((await readLog(1, last)).flat()).toMatchObject([{ entry: { at: AT + 5 } }])
        for (const cursor of ['x', '', '-1', '1.5.2', '999999999999999', '999999999999999999.1']) {
          await expect(store.auditAfter(cursor), cursor).rejects.toMatchObject({ code: 'cursor_lost' })
        }
      })

      it('is pruned in small steps, while entries are added', async () => {
        const old = Array.from({ length: 25_000 }, () => entry())
        await store.appendAudit(old)
        const pruned = store.prune({ audit: AT + 1, tombstones: 0, changes: 0, idempotency: 0, tasks: 0 })
        const added = Array.from({ length: 20 }, (_, i) => store.appendAudit([entry({ at: AT + 2 + i })]))
        await Promise.all([...added, pruned])
        expect(await audits()).toHaveLength(20)
      })

      it('replaces characters that cannot be stored instead of dropping the entry', async () => {
        await store.appendAudit([entry({ detail: 'a\0b\ud800c', actor: '\0' })])
        expect(await newestEntries(store, { limit: 1 })).toMatchObject([{ detail: 'a\ufffdb\ufffdc', actor: '\ufffd' }])
        expect(await newestEntries(store, { limit: 1, subject: '\0' })).toEqual([])
      })
    })

    describe('idempotency', () => {
      const claim = (changes: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
        client: 'c',
        agent: 'a',
        key: 'k',
        fingerprint: 'f',
        at: AT,
        expiresAt: AT + 1000,
        ...changes,
      })

      it('lets the first caller begin, and reports the state to the others', async () => {
        const states = await Promise.all(Array.from({ length: 20 }, () => store.beginIdempotent(claim())))
        expect(states.filter(({ state }) => state === 'begun')).toHaveLength(1)
        expect(states.filter(({ state }) => state === 'running')).toHaveLength(19)
        expect(await store.beginIdempotent(claim({ fingerprint: 'other' }))).toEqual({ state: 'mismatch' })
        for (const other of [{ client: 'd' }, { agent: 'b' }, { key: 'l' }]) {
          expect(await store.beginIdempotent(claim(other))).toEqual({ state: 'begun' })
        }
        await store.finishIdempotent(claim(), 'text with \0 and \ud800', AT + 1000)
        expect(await store.beginIdempotent(claim())).toEqual({ state: 'finished', response: 'text with \0 and \ud800' })
        expect(await store.beginIdempotent(claim({ fingerprint: 'other' }))).toEqual({ state: 'mismatch' })
      })

      it('releases a key that was abandoned, but not one that is finished', async () => {
        await store.beginIdempotent(claim())
        await store.abandonIdempotent(claim())
        expect(await store.beginIdempotent(claim())).toEqual({ state: 'begun' })
        await store.finishIdempotent(claim(), 'ok', AT + 1000)
        await store.abandonIdempotent(claim())
        expect(await store.beginIdempotent(claim())).toEqual({ state: 'finished', response: 'ok' })
      })

      it('releases a key when it expires', async () => {
        await store.beginIdempotent(claim())
        await store.finishIdempotent(claim(), 'ok', AT + 1000)
        const late = claim({ fingerprint: 'other', at: AT + 1000, expiresAt: AT + 2000 })
        expect(await store.beginIdempotent(late)).toEqual({ state: 'begun' })
        expect(await store.beginIdempotent(late)).toEqual({ state: 'running' })
      })

      it('keeps a response longer than the reservation of the key', async () => {
        await store.beginIdempotent(claim())
        await store.finishIdempotent(claim(), 'ok', AT + 9000)
        const later = claim({ at: AT + 8999, expiresAt: AT + 9999 })
        expect(await store.beginIdempotent(later)).toEqual({ state: 'finished', response: 'ok' })
      })

      it('ignores finish and abandon from a caller whose key was taken over', async () => {
        await store.beginIdempotent(claim())
        const next = claim({ at: AT + 1000, expiresAt: AT + 2000 })
        expect(await store.beginIdempotent(next)).toEqual({ state: 'begun' })
        await store.finishIdempotent(claim(), 'too late', AT + 9000)
        await store.abandonIdempotent(claim())
        expect(await store.beginIdempotent(next)).toEqual({ state: 'running' })
        await store.finishIdempotent(next, 'ok', AT + 9000)
        expect(await store.beginIdempotent(next)).toEqual({ state: 'finished', response: 'ok' })
      })
    })

    describeTasks(() => store)
    describeStatistics(() => store)
    describeSecrets(() => store)
    describeLimits(() => store)
    describeTrust(() => store)
    describeSubjects(() => store)
    describeFederation(() => store)

    it('prunes what is older than requested', async () => {
      const old = await stored(store.write(put('old')))
      const kept = await stored(store.write(put('kept')))
      await store.write(remove(old, { at: AT + 1, audit: entry({ at: AT + 1, action: 'remove' }) }))
      await store.write(remove(kept, { at: AT + 9, audit: entry({ at: AT + 9, action: 'remove' }) }))
      const id = { client: 'c', agent: 'a', key: 'k' }
      await store.beginIdempotent({ ...id, fingerprint: 'f', at: AT, expiresAt: AT + 3 })
      await store.beginIdempotent({ ...id, key: 'l', fingerprint: 'f', at: AT, expiresAt: AT + 9 })
      await store.prune({ audit: AT + 5, tombstones: AT + 5, changes: AT + 5, idempotency: AT + 5, tasks: AT + 5 })
      expect(await audits()).toMatchObject([{ at: AT + 9 }])
      expect(await store.tombstone({ id: 'old' })).toBeUndefined()
      expect(await store.tombstone({ id: 'kept' })).toMatchObject({ at: AT + 9 })
      expect(await store.beginIdempotent({ ...id, fingerprint: 'g', at: AT, expiresAt: AT + 9 })).toEqual({
        state: 'begun',
      })
      expect(await store.beginIdempotent({ ...id, key: 'l', fingerprint: 'f', at: AT, expiresAt: AT + 9 })).toEqual({
        state: 'running',
      })
    })

    it('keeps everything after closing and reopening', async () => {
      const agent = await stored(store.write(put('a', { lease: { seconds: 60, expiresAt: AT + 60_000 } })))
      const gone = await stored(store.write(put('b')))
      await store.write(remove(gone))
      await store.putKey(key('k'), entry())
      await store.putGrant(grant('g'), entry())
      const { cursor } = await loadAll(store)
      const writing = store.write(put('late'))
      await store.close()
      const late = await stored(writing)
      await expect(store.get('a')).rejects.toMatchObject({ code: 'closed' })
      await expect(store.write(put('c'))).rejects.toMatchObject({ code: 'closed' })

      store = await place.open()
      expect((await loadAll(store)).agents).toEqual([agent, late])
      expect(await store.tombstone({ id: 'b' })).toMatchObject({ number: gone.number })
      expect(await store.keys()).toEqual([key('k')])
      expect(await store.grants()).toEqual([grant('g')])
      expect(await audits()).toHaveLength(6)
      expect((await store.changes(cursor)).changes).toMatchObject([{ kind: 'put', id: 'late' }])
      const next = await stored(store.write(put('c')))
      expect(next.number).toBeGreaterThan(late.number)
      expect(next.revision).toBeGreaterThan(late.revision)
    })
  })
}

const key = (id: string): StoredKey => ({ id, hash: 'h', subject: 'alice', scopes: ['find', 'publish'], createdAt: AT })
const grant = (id: string): StoredGrant => ({ id, subject: 'bob', scopes: ['invoke'], createdAt: AT })
