import { createServer } from 'node:net'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../../src/store/postgres/migrations.js'
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.js'
import { readPostgresTables } from '../../src/store/postgres/read-tables.js'
import { writePostgresTables } from '../../src/store/postgres/write-tables.js'
import type { Change, Store } from '../../src/store/store.js'
import { NO_POSTGRES, testDatabase } from '../postgres.js'
import { AT, entry, loadAll, put, refresh, remove, stored } from './fixtures.js'
import { describeStore } from './suite.js'
import { task } from './task-suite.js'

const database = await testDatabase()
let schemas = 0

/** A new schema, first on the search path of its URL; faster to create than a database. */
async function createSchema(): Promise<{
  url: string
  sql(...statements: string[]): Promise<void>
  client(): Promise<pg.Client>
}> {
  const schema = `s${++schemas}`
  const url = `${database?.url}?options=-csearch_path%3D${schema}`
  const client = async (): Promise<pg.Client> => {
    const connected = new pg.Client({ connectionString: url })
    await connected.connect()
    return connected
  }
  const sql = async (...statements: string[]): Promise<void> => {
    const connected = await client()
    for (const statement of statements) await connected.query(statement)
    await connected.end()
  }
  await sql(`CREATE SCHEMA ${schema}`)
  return { url, sql, client }
}

describe.skipIf(!database)(database ? 'on PostgreSQL' : `store on PostgreSQL, ${NO_POSTGRES}`, () => {
  afterAll(() => database?.drop())

  describeStore('postgres', async () => {
    const { url, sql } = await createSchema()
    return {
      open: () => openPostgresStore(url),
      refuseOwner: (owner) => sql(`ALTER TABLE agents ADD CHECK (owner <> '${owner}')`),
      drop: async () => {},
    }
  })

  describe('several replicas', () => {
    let schema: Awaited<ReturnType<typeof createSchema>>
    let stores: Store[]

    const open = async (count: number): Promise<Store[]> => {
      stores = await Promise.all(Array.from({ length: count }, () => openPostgresStore(schema.url, { connections: 4 })))
      return stores
    }

    beforeEach(async () => {
      schema = await createSchema()
    })
    afterEach(() => Promise.all(stores.map((store) => store.close())))

    it('can start at the same time on an empty database', async () => {
      const [first, , , , last] = await open(5)
      await first?.write(put('a'))
      expect(await last?.get('a')).toMatchObject({ id: 'a' })
    })

    it('allow only one of them to register a name, and to change a revision', async () => {
      await open(3)
      for (let round = 0; round < 20; round++) {
        const id = `a${round}`
        const registered = await Promise.all(stores.map((store) => store.write(put(id))))
        const winners = registered.flatMap((result) => (result.outcome === 'done' ? [result.agent] : []))
        expect(winners).toHaveLength(1)
        const revision = winners[0]?.revision
        const changed = await Promise.all(stores.map((store) => store.write(put(id, { expect: revision }))))
        expect(changed.filter(({ outcome }) => outcome === 'done')).toHaveLength(1)
      }
    })

    it('take from shared buckets what is left, and may owe a bucket', async () => {
      const [one, two] = await open(2)
      const take = async (store: Store | undefined, spent: number, wanted: number) => {
        const bucket = { key: 'k', capacity: 10, refillMs: 1e9, spent, wanted }
        const news = await store?.replicas?.exchange({ id: 'any', calls: {}, spending: [bucket] })
        return news?.buckets.map(({ tokens, granted }) => [Math.round(tokens), granted])
      }
      const first = await Promise.all([take(one, 0, 7), take(two, 0, 7)])
      expect(first.flat(2).toSorted()).toEqual([0, 3, 3, 7])
      expect(await take(one, 4, 1)).toEqual([[-4, 0]])
      expect(await take(two, 100, 0)).toEqual([[-10, 0]])
    })

    it('refill shared buckets evenly, up to their capacity', async () => {
      const [store] = await open(1)
      const left = async (spent: number): Promise<number> => {
        const bucket = { key: 'k', capacity: 10, refillMs: 1000, spent, wanted: 0 }
        const news = await store?.replicas?.exchange({ id: 'any', calls: {}, spending: [bucket] })
        return news?.buckets[0]?.tokens ?? Number.NaN
      }
      expect(await left(10)).toBe(0)
      await expect.poll(() => left(0)).toBe(10)
    })

    it('learn the calls of those that are alive', async () => {
      const [one, two] = await open(2)
      const exchange = (store: Store | undefined, id: string, calls: Record<string, number>) =>
        store?.replicas?.exchange({ id, calls, spending: [] })
      expect(await exchange(one, 'one', { 'caller \0': 1 })).toEqual({ others: [], buckets: [] })
      expect(await exchange(two, 'two', { b: 2 })).toMatchObject({ others: [{ 'caller \0': 1 }] })
      expect(await exchange(one, 'one', {})).toMatchObject({ others: [{ b: 2 }] })
      await schema.sql(`UPDATE replicas SET seen_at = seen_at - interval '1 minute' WHERE id = 'two'`)
      expect(await exchange(one, 'one', {})).toMatchObject({ others: [] })
      await one?.replicas?.leave('one')
      expect(await exchange(two, 'two', {})).toMatchObject({ others: [] })
    })

    it('divide work, which another one takes over if it is not done in time or given up', async () => {
      const [one, two] = await open(2)
      const claim = (store: Store | undefined, id: string, keys: string[], forMs = 60_000) =>
        store?.replicas?.claim(id, keys, forMs)
      expect(await claim(one, 'killed', ['a'])).toEqual(['a'])
      for (const id of ['one', 'two']) await one?.replicas?.exchange({ id, calls: {}, spending: [] })
      const claimed = await Promise.all([claim(one, 'one', ['a', 'b', 'a']), claim(two, 'two', ['b', 'a'])])
      expect(claimed.flat().toSorted()).toEqual(['a', 'b'])
      expect(await claim(one, 'one', ['c'], 1)).toEqual(['c'])
      await expect.poll(() => claim(two, 'two', ['c'])).toEqual(['c'])
      expect(await claim(one, 'one', ['c'])).toEqual([])
      expect(await claim(two, 'two', ['c'])).toEqual(['c'])
      await two?.replicas?.leave('two')
      expect(await claim(one, 'one', ['c'])).toEqual(['c'])
    })

    it('create no more unfinished tasks of an owner than it may have', async () => {
      await open(3)
      const created = await Promise.all(
        stores.flatMap((store, s) =>
          Array.from({ length: 5 }, (_, i) =>
            store.tasks.create(task(`t-${s}-${i}`), { open: 4, count: 10, bytes: 1000 }),
          ),
        ),
      )
      expect(created.filter((isCreated) => isCreated)).toHaveLength(4)
    })

    it('keep to the quotas of owners, also of agents and bytes that are written together', async () => {
      await open(3)
      const quota = { agents: 5, bytes: 3000 }
      const register = (owner: string, memory: number) =>
        Promise.all(
          stores.flatMap((store, s) =>
            Array.from({ length: 4 }, (_, i) => store.write(put(`${owner}-${s}-${i}`, { owner, memory, quota }))),
          ),
        )
      const byCount = await register('ann', 1)
      expect(byCount.filter(({ outcome }) => outcome === 'done')).toHaveLength(5)
      expect(byCount.find(({ outcome }) => outcome === 'over_quota')).toMatchObject({ growth: { agents: 1, bytes: 1 } })
      const bySize = await register('ben', 1000)
      const agents = bySize.flatMap((result) => (result.outcome === 'done' && result.agent ? [result.agent] : []))
      expect(agents).toHaveLength(3)
      const [agent] = agents
      const update = (memory: number) =>
        stores[0]?.write(put(agent?.id ?? '', { owner: 'ben', expect: agent?.revision, memory, quota }))
      expect(await update(1001)).toEqual({
        outcome: 'over_quota',
        usage: { agents: 3, bytes: 3000 },
        growth: { agents: 0, bytes: 1 },
      })
      expect(await update(1000)).toMatchObject({ outcome: 'done' })
    })

    it('renew leases that arrive together in few transactions', async () => {
      const [store] = await open(1)
      const agents = await Promise.all(
        Array.from({ length: 200 }, (_, i) => stored(store?.write(put(`leased-${i}`)) ?? Promise.reject())),
      )
      await Promise.all(agents.map((agent) => store?.write(refresh(agent))))
      const client = await schema.client()
      const { rows } = await client.query('SELECT count(DISTINCT xmin::text) AS transactions FROM presence')
      await client.end()
      expect(Number(rows[0]?.transactions)).toBeLessThan(20)
    })

    it('write the same agents in any order without a deadlock', async () => {
      await open(3)
      const ids = Array.from({ length: 40 }, (_, i) => `a${i}`)
      const done = new Map<string, number>()
      const work = async (store: Store, order: string[]): Promise<void> => {
        for (let round = 0; round < 5; round++) {
          await Promise.all(
            order.map(async (id) => {
              const agent = await store.get(id)
              const write = agent && round % 2 ? remove(agent) : put(id, { expect: agent?.revision })
              const { outcome } = await store.write(write)
              if (outcome === 'done') done.set(id, (done.get(id) ?? 0) + 1)
            }),
          )
        }
      }
      const orders = [ids, ids.toReversed(), ids.toSorted()]
      const { cursor } = await loadAll(stores[0] ?? expect.fail())
      await Promise.all(stores.map((store, i) => work(store, orders[i] ?? ids)))
      const changes = await stores[0]?.changes(cursor)
      expect(changes?.changes).toHaveLength([...done.values()].reduce((sum, count) => sum + count, 0))
    })

    it('see a lease renewed by another one', async () => {
      const [one, other] = await open(2)
      if (!one || !other) return expect.fail()
      for (let round = 0; round < 10; round++) {
        const agent = await stored(one.write(put(`a${round}`, { lease: { seconds: 1, expiresAt: AT } })))
        const [renewed, expired] = await Promise.all([
          one.write(refresh(agent, { lease: { seconds: 1, expiresAt: AT + 1000 } })),
          other.write(remove(agent, { ifLeaseEnds: AT, reason: 'expired' })),
        ])
        expect([renewed.outcome, expired.outcome].toSorted()).toEqual(['conflict', 'done'])
      }
    })
  })

  describe('change feed', () => {
    it('misses nothing when transactions commit out of order, and contains nothing rolled back', async () => {
      const { url, client } = await createSchema()
      const store = await openPostgresStore(url)
      let { cursor } = await store.load()
      const seen: Change[] = []
      const poll = async (): Promise<void> => {
        const next = await store.changes(cursor)
        seen.push(...next.changes)
        cursor = next.cursor
      }
      let writing = true
      const follow = async (): Promise<void> => {
        while (writing) {
          await poll()
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
        }
      }
      const committed: string[] = []
      /** Transactions of another program, held open for a while after writing. */
      const hold = async (writer: number): Promise<void> => {
        const connected = await client()
        for (let i = 0; i < 30; i++) {
          const id = `h${writer}-${i}`
          await connected.query('BEGIN')
          await connected.query(`INSERT INTO changes (kind, id, number, at) VALUES ('put', $1, 1, 1)`, [id])
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
          const keep = Math.random() < 0.8
          await connected.query(keep ? 'COMMIT' : 'ROLLBACK')
          if (keep) committed.push(id)
        }
        await connected.end()
      }
      const write = async (writer: number): Promise<void> => {
        for (let i = 0; i < 60; i++) committed.push((await stored(store.write(put(`w${writer}-${i}`)))).id)
      }
      const following = follow()
      await Promise.all([
        ...Array.from({ length: 6 }, (_, i) => hold(i)),
        ...Array.from({ length: 4 }, (_, i) => write(i)),
      ])
      writing = false
      await following
      await poll()
      expect(seen.map((change) => ('id' in change ? change.id : '')).toSorted()).toEqual(committed.toSorted())
      await store.close()
    })

    it('does not prune changes that a running transaction could still precede', async () => {
      const { url, client } = await createSchema()
      const store = await openPostgresStore(url)
      const { cursor } = await store.load()
      const slow = await client()
      await slow.query('BEGIN')
      await slow.query(`INSERT INTO changes (kind, at) VALUES ('keys', ${AT})`)
      await store.write(put('a'))
      await store.prune({ audit: 0, tombstones: 0, changes: AT + 5, idempotency: 0, tasks: 0 })
      const before = await store.changes(cursor)
      expect(before.changes).toMatchObject([{ kind: 'put' }])
      await slow.query('COMMIT')
      await slow.end()
      expect((await store.changes(before.cursor)).changes).toMatchObject([{ kind: 'keys' }])
      await store.close()
    })

    it('starts over after a restore from another cluster with other transaction ids', async () => {
      const { url, sql } = await createSchema()
      const store = await openPostgresStore(url)
      await store.write(put('a'))
      await store.close()
      await sql(`UPDATE changes SET xid = '4000000000'`, `UPDATE switchboard SET pruned = '3000000000'`)
      const restored = await openPostgresStore(url)
      const { cursor, agents } = await loadAll(restored)
      expect(agents).toHaveLength(1)
      await restored.write(put('b'))
      const next = await restored.changes(cursor)
      expect(next.changes).toMatchObject([{ id: 'b' }])
      expect((await restored.changes(next.cursor)).changes).toEqual([])
      await restored.close()
    })
  })

  describe('the audit log', () => {
    it('returns no entry before those of older transactions, which would then be missed', async () => {
      const { url, client } = await createSchema()
      const store = await openPostgresStore(url)
      const slow = await client()
      await slow.query('BEGIN')
      await slow.query(`INSERT INTO audit (at, actor, action, outcome) VALUES (${AT}, 'slow', 'mark', 'ok')`)
      await store.appendAudit([entry({ actor: 'fast' })])
      expect(await store.auditAfter(undefined)).toEqual([])
      await slow.query('COMMIT')
      await slow.end()
      const actors = async () => (await store.auditAfter(undefined)).map((logged) => logged.entry.actor)
      await expect.poll(actors, { timeout: 5000 }).toEqual(['slow', 'fast'])
      await store.close()
    })

    it('is complete after a restore from another cluster with other transaction ids', async () => {
      const { url, sql } = await createSchema()
      const store = await openPostgresStore(url)
      await store.appendAudit([entry({ actor: 'former' })])
      await store.close()
      await sql(`UPDATE audit SET xid = '4000000000'`)
      const restored = await openPostgresStore(url)
      await restored.appendAudit([entry({ actor: 'current' })])
      const actors = async () => (await restored.auditAfter(undefined)).map((logged) => logged.entry.actor)
      await expect.poll(actors, { timeout: 5000 }).toEqual(['former', 'current'])
      await expect(restored.auditAfter('4000000000.1')).rejects.toMatchObject({ code: 'cursor_lost' })
      await restored.close()
    })
  })

  describe('the database', () => {
    const secret = 'hunter2-secret'

    const expectUnavailable = async (url: string): Promise<void> => {
      const started = Date.now()
      const error = await openPostgresStore(url).catch((reason: unknown) => reason)
      expect(error).toMatchObject({
        name: 'StoreError',
        code: 'unavailable',
        message: expect.stringMatching(/^[^\n]+$/),
      })
      expect(String(error)).not.toContain(secret)
      expect(Date.now() - started).toBeLessThan(7000)
    }

    it('is unavailable if nothing listens or the URL is invalid', async () => {
      await expectUnavailable(`postgres://user:${secret}@127.0.0.1:1/x`)
      await expectUnavailable(`postgres://user:${secret}@localhost:1/x`)
      await expectUnavailable(`postgres://user:${secret}@[/x`)
      await expectUnavailable(`${database?.url}-which-is-not-there`)
    })

    it('is unavailable within seconds if the server does not respond', async () => {
      const silent = createServer().listen(0, '127.0.0.1')
      await new Promise((resolve) => silent.once('listening', resolve))
      const address = silent.address()
      if (typeof address !== 'object' || !address) return expect.fail()
      await expectUnavailable(`postgres://user:${secret}@127.0.0.1:${address.port}/x`)
      silent.close()
    }, 10_000)

    it('is unavailable if the schema in the search path does not exist', async () => {
      await expectUnavailable(`${database?.url}?options=-csearch_path%3Dnowhere`)
    })

    it('can be used after a newer Switchboard has migrated it, but neither copied nor restored', async () => {
      const { url, sql, client } = await createSchema()
      await (await openPostgresStore(url)).close()
      await sql('CREATE TABLE added (x int)', `UPDATE switchboard SET version = ${MIGRATIONS.length + 1}`)
      const store = await openPostgresStore(url)
      expect((await store.write(put('a'))).outcome).toBe('done')
      await store.close()
      const operator = await client()
      const { rows } = await operator.query('SELECT version FROM switchboard')
      await operator.end()
      expect(rows).toEqual([{ version: MIGRATIONS.length + 1 }])
      await expect(readPostgresTables(url)).rejects.toMatchObject({ code: 'newer_version' })
      await expect(writePostgresTables(url, () => 0)).rejects.toMatchObject({ code: 'newer_version' })
    })

    it('is rejected if a newer Switchboard has migrated it in a way that this one must not use', async () => {
      const { url, sql } = await createSchema()
      await (await openPostgresStore(url)).close()
      await sql(`UPDATE switchboard SET version = ${(MIGRATIONS.length + 1) * 1001}`)
      await expect(openPostgresStore(url)).rejects.toMatchObject({ code: 'newer_version' })
    })

    it('may close connections: running writes fail with a code, later ones work', async () => {
      const { url, client } = await createSchema()
      const store = await openPostgresStore(`${url}&application_name=cut`)
      await Promise.all(Array.from({ length: 20 }, (_, i) => store.write(put(`a${i}`))))
      const writes = Promise.allSettled(Array.from({ length: 200 }, (_, i) => store.write(put(`b${i}`))))
      const operator = await client()
      // Waits until they have ended: a later read must not get one that is about to.
      await operator.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'cut'`,
      )
      await operator.end()
      const results = await writes
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'unavailable' })
      }
      // Completed writes are stored. (A write may be stored even though its response was lost.)
      const ids = new Set((await loadAll(store)).agents.map(({ id }) => id))
      results.forEach((result, i) => {
        if (result.status === 'fulfilled') expect(ids.has(`b${i}`)).toBe(true)
      })
      expect((await store.write(put('c'))).outcome).toBe('done')
      await store.close()
    })

    it('accepts one of many claims of an idempotency key from several replicas', async () => {
      const { url } = await createSchema()
      const stores = await Promise.all([openPostgresStore(url), openPostgresStore(url)])
      const claim = { client: 'c', agent: 'a', key: 'k', fingerprint: 'f', at: AT, expiresAt: AT + 9 }
      const states = await Promise.all(Array.from({ length: 40 }, (_, i) => stores[i % 2]?.beginIdempotent(claim)))
      expect(states.filter((state) => state?.state === 'begun')).toHaveLength(1)
      expect(await stores[0]?.putKey({ id: 'k', hash: '', subject: '', scopes: [], createdAt: 1 }, entry())).toBe(true)
      for (const store of stores) await store.close()
    })
  })
})
