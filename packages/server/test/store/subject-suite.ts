import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.js'
import type { SubjectItem } from '../../src/store/subject-store.js'
import { AT, entry, loadAll, newestEntries, put, remove, stored } from './fixtures.js'
import { task } from './task-suite.js'

const OFFER = { kind: 'transfer', version: 0, at: AT, expiresAt: AT + 1000 } as const
const claimOf = (owner: string) =>
  ({
    kind: 'domain',
    key: JSON.stringify([owner, 'a.example']),
    version: 0,
    value: { owner, name: 'a.example' },
    at: AT,
  }) as const

/** Stores something of every kind about a subject, and a trace of it with others. Names have quotes and percent signs. */
async function fill(store: Store, name: string, other: string): Promise<void> {
  const audit = entry({ actor: 'admin', action: 'key.create', detail: `k for ${name}`, after: { subject: name } })
  const gone = await stored(store.write(put(`gone-${name}`, { owner: name, audit: entry({ actor: name }) })))
  await store.write(remove(gone, { audit: entry({ actor: name, action: 'remove' }) }))
  for (const id of ['1', '2']) {
    const own = { owner: name, audit: entry({ actor: name, address: '192.0.2.1' }) }
    await store.write(put(`${name}-${id}`, own))
  }
  await store.write(put('others', { owner: other, audit: entry({ actor: other, detail: `not${name}x` }) }))
  const key = { hash: `h-${name}`, scopes: ['invoke'], createdAt: AT }
  await store.putKey({ ...key, id: `k-${name}`, subject: name }, audit)
  await store.putKey({ ...key, id: 'k-others', hash: 'h', subject: other }, entry({ actor: 'admin' }))
  const grant = { scopes: ['discover'], createdAt: AT }
  await store.putGrant({ ...grant, id: 'g1', subject: name, tag: 't' }, audit)
  await store.putGrant({ ...grant, id: 'g2', subject: 'dave', agent: { id: `${name}-1`, owner: name } }, audit)
  await store.tasks.create(task('t1', { owner: name, answer: '{"ok":true}' }), { open: 9, count: 9, bytes: 1000 })
  await store.statistics.rate({ agent: 'others', owner: other, subject: name, rating: 2, comment: 'mine', at: AT })
  await store.statistics.rate({ agent: 'others', owner: other, subject: 'dave', rating: 4, at: AT })
  await store.statistics.rate({ agent: `${name}-1`, owner: name, subject: 'dave', rating: 5, at: AT })
  const counts = { agent: `${name}-1`, owner: name, operation: 'x', at: AT, calls: 1, failures: 0, ms: 5 }
  await store.statistics.add([counts], 1000)
  const claim = { client: name, agent: '1 others', key: 'once', fingerprint: 'f', at: AT, expiresAt: AT + 1000 }
  await store.beginIdempotent(claim)
  await store.finishIdempotent(claim, '{"stored":1}', AT + 1000)
  await store.limits.put(
    { id: `subject:${name}`, kind: 'subject', name, values: { calls_per_day: 5 }, createdAt: AT },
    audit,
  )
  await store.limits.addUsage(1, [{ key: `subject:${name}`, calls: 3 }])
  await store.secrets.putCredential({ agent: `${name}-1`, owner: name, secret: 'sealed', at: AT }, audit)
  await store.trust.put(claimOf(name), audit)
  await store.trust.put({ ...OFFER, key: `${name}-1`, value: { number: 1, from: name, to: other } }, audit)
  const requestedBy = [{ by: other }, { by: name }]
  await store.trust.put({ kind: 'crawl', key: 's', version: 0, at: AT, value: { requestedBy, pages: [] } })
  await store.trust.put({ ...OFFER, key: 'others', value: { number: 2, from: other, to: name } }, audit)
}

const KINDS = {
  agent: 2,
  tombstone: 1,
  key: 1,
  grant: 2,
  task: 1,
  rating: 1,
  idempotent_response: 1,
  limit: 1,
  usage: 1,
  credential: 1,
  statistics: 1,
  domain: 1,
  transfer: 2,
  site: 1,
}

/** Tests of what is kept about subjects that every store must pass. */
export function describeSubjects(store: () => Store): void {
  const readAll = async (subject: string): Promise<SubjectItem[]> => {
    const items: SubjectItem[] = []
    for await (const page of store().subjects.read(subject)) items.push(...page)
    return items
  }
  /** Everything that the store shows. */
  const dump = async (): Promise<string> => {
    const { agents } = await loadAll(store())
    const trust = await Promise.all([
      store().trust.list('domain'),
      store().trust.list('transfer'),
      store().trust.list('crawl'),
    ])
    return JSON.stringify([
      agents,
      trust,
      await store().keys(),
      await store().grants(),
      await store().limits.list(),
      await store().secrets.credentials(),
      await newestEntries(store(), { limit: 1000 }),
      await store().statistics.ratingsSince(0),
      await store().tasks.get('t1'),
      await store().tombstone({ id: `gone-${NAME}` }),
      await store().tombstone({ id: `${NAME}-1` }),
    ])
  }
  const NAME = 'a"li%ce'
  const audit = entry({ actor: 'admin', action: 'subject.erase', at: AT + 1 })

  describe('subjects', () => {
    it('AURI-10.1-01 everything kept about one can be read, without secrets', async () => {
      await fill(store(), NAME, 'bob')
      expect(await store().subjects.count(NAME)).toEqual(KINDS)
      const items = await readAll(NAME)
      const counts: Record<string, number> = {}
      for (const { kind } of items) counts[kind] = (counts[kind] ?? 0) + 1
      expect(counts).toEqual({ ...KINDS, audit: 4 })
      const text = JSON.stringify(items)
      expect(text).toContain('mine')
      expect(text).toContain('stored')
      for (const secret of ['sealed', 'c2VhbGVk', `h-${NAME}`]) expect(text).not.toContain(secret)
      expect(await readAll('nobody')).toEqual([])
      expect(await readAll('a\0')).toEqual([])
    })

    it('are read completely, in pages', async () => {
      const entries = Array.from({ length: 450 }, (_, i) => entry({ actor: NAME, requestId: `r${i}` }))
      await store().appendAudit(entries)
      expect((await readAll(NAME)).map(({ value }) => value.requestId)).toEqual(entries.map((each) => each.requestId))
    })

    it('AURI-10.1-01 are erased: nothing with their name is left, and nothing of others is lost', async () => {
      await fill(store(), NAME, 'bob')
      const { cursor } = await store().load()
      expect(await store().subjects.erase(NAME, 'erased:1', audit)).toEqual(KINDS)
      expect(await store().subjects.count(NAME)).toEqual({})
      expect(await store().subjects.renameInAudit(NAME, 'erased:1', false)).toBeGreaterThan(4)
      const text = await dump()
      // The ids of agents stay in tombstones and in the audit log; here they begin with the name.
      const quoted = JSON.stringify(NAME).slice(1, -1)
      expect(text.replaceAll(/(gone-)?a\\+"li%ce(-\d)?(?=\\*")/g, (id) => (id === quoted ? 'LEFT' : ''))).not.toContain(
        'LEFT',
      )
      expect(text).not.toContain('192.0.2.1')
      expect(await readAll(NAME)).toEqual([])
      expect((await loadAll(store())).agents.map(({ id }) => id)).toEqual(['others'])
      expect((await store().keys()).map(({ subject }) => subject)).toEqual(['bob'])
      expect(await store().statistics.ratingsSince(0)).toMatchObject([{ agent: 'others', count: 2, sum: 6 }])
      expect(await newestEntries(store(), { limit: 9, subject: 'bob' })).toMatchObject([{ detail: `not${NAME}x` }])
      expect(await newestEntries(store(), { limit: 9, action: 'subject.erase' })).toHaveLength(1)
      const { changes } = await store().changes(cursor)
      expect(changes.filter(({ kind }) => kind === 'remove')).toHaveLength(2)
      expect(new Set(changes.map(({ kind }) => kind))).toEqual(
        new Set(['remove', 'keys', 'grants', 'secrets', 'trust', 'limits']),
      )
      // Erasing again finds nothing, and later writes go on.
      expect(await store().subjects.erase(NAME, 'erased:2', audit)).toEqual({})
      expect((await stored(store().write(put('later')))).revision).toBeGreaterThan(changes.at(-1)?.revision ?? 0)
    })

    it('move to another name with everything they have, which others see as changes', async () => {
      await fill(store(), NAME, 'bob')
      const { cursor } = await store().load()
      const { agents: before } = await loadAll(store())
      await store().subjects.rename(NAME, 'carol', audit)
      await store().subjects.renameInAudit(NAME, 'carol', true)
      expect(await store().subjects.count(NAME)).toEqual({})
      const { credential: _, ...rest } = KINDS
      expect(await store().subjects.count('carol')).toEqual(rest)
      const { agents } = await loadAll(store())
      for (const agent of agents.filter(({ owner }) => owner === 'carol')) {
        const { revision } = before.find(({ id }) => id === agent.id) ?? { revision: 0 }
        expect(agent.revision).toBeGreaterThan(revision)
      }
      const { changes } = await store().changes(cursor)
      expect(changes.filter(({ kind }) => kind === 'put')).toMatchObject([{ id: `${NAME}-1` }, { id: `${NAME}-2` }])
      expect(await newestEntries(store(), { limit: 99, subject: 'carol' })).toMatchObject([
        { address: '192.0.2.1' },
        { address: '192.0.2.1' },
        {},
        {},
      ])
      expect(await store().trust.get('domain', JSON.stringify(['carol', 'a.example']))).toMatchObject({
        version: 2,
        value: { owner: 'carol' },
      })
      expect(await store().trust.get('transfer', 'others')).toMatchObject({ value: { from: 'bob', to: 'carol' } })
    })

    it('that move to a name with data of its own leave that data as it is', async () => {
      await fill(store(), NAME, 'bob')
      await store().trust.put({ ...claimOf('bob'), value: { owner: 'bob', name: 'a.example', own: true } }, audit)
      await store().statistics.rate({ agent: 'others', owner: 'bob', subject: 'bob', rating: 1, at: AT })
      await store().limits.put(
        { id: 'subject:bob', kind: 'subject', name: 'bob', values: { agents: 1 }, createdAt: AT },
        audit,
      )
      await store().limits.addUsage(1, [{ key: 'subject:bob', calls: 4 }])
      await store().subjects.rename(NAME, 'bob', audit)
      expect(await store().subjects.count(NAME)).toEqual({})
      expect(await store().subjects.count('bob')).toMatchObject({ agent: 3, key: 2, rating: 1, limit: 1, domain: 1 })
      expect(await store().limits.usage(1, ['subject:bob'])).toEqual([{ key: 'subject:bob', calls: 7 }])
      expect(await store().limits.list()).toMatchObject([{ values: { agents: 1 } }])
      expect(await store().trust.get('domain', JSON.stringify(['bob', 'a.example']))).toMatchObject({
        value: { own: true },
      })
    })
  })
}
