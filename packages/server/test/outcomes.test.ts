import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../src/policy/caller.js'
import { createOutcomes, type Outcomes } from '../src/services/calls/outcomes/outcomes.js'
import type { Agent, Catalog } from '../src/services/registry/catalog.js'
import { openSqliteStore } from '../src/store/sqlite/open-sqlite-store.js'
import type { Store } from '../src/store/store.js'
import { fixed, sendJson, startAgent, type TestAgent } from './invoke/agent.js'
import { put, remove, stored } from './store/fixtures.js'
import { testCatalog } from './support/catalog.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

const DAY_MS = 86_400_000
const alice: Caller = { subject: 'alice', kind: 'key', scopes: new Set(), address: '', requestId: '' }

describe('outcomes of calls', () => {
  let directory: TestDirectory
  let agent: TestAgent

  beforeAll(async () => {
    agent = await startAgent()
    directory = await startDirectory()
  })
  afterAll(async () => {
    await directory.close()
    await agent.close()
  })

  const invoke = (text: string) => directory.post('/agents/x/invoke', { as: 'tokC', body: { text } })
  const reputation = async () => (await directory.get('/agents/x', { as: 'tokA' })).json.verification.reputation

  it('are counted by operation and shown to the owner, even after a restart', async () => {
    await directory.post('/agents', { as: 'tokA', body: agent.document() })
    expect(await reputation()).toBeUndefined()
    for (const text of ['a', 'b', 'c']) expect((await invoke(text)).status).toBe(200)
    agent.reply = fixed({ error: { code: 'Broken', message: 'no' } }, 500)
    expect((await invoke('d')).status).toBe(500)
    const expected = {
      calls: 4,
      success_rate: 0.75,
      latency_ms: expect.any(Number),
      operations: { invoke: { calls: 4, success_rate: 0.75, latency_ms: expect.any(Number) } },
    }
    expect(await reputation()).toEqual(expected)
    await directory.restart()
    expect(await reputation()).toEqual(expected)
    expect((await directory.get('/agents/x', { as: 'tokC' })).text).not.toContain('success_rate')
  })

  it('do not count against the agent if the caller made the mistake', async () => {
    await directory.clear()
    await directory.post('/agents', { as: 'tokB', body: agent.document() })
    agent.reply = (_received, response) => sendJson(response, { error: { code: 'NotToday', message: 'no' } }, 409)
    expect((await invoke('a')).status).toBe(409)
    expect((await directory.post('/agents/x/invoke', { as: 'tokC', body: { text: 5 } })).status).toBe(400)
    expect((await directory.get('/agents/x', { as: 'tokB' })).json.verification).not.toHaveProperty('reputation')
  })
})

describe('counters', () => {
  let folder: string
  let store: Store
  let catalog: Catalog
  let agent: Agent
  let now: number
  const opened: Outcomes[] = []

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-outcomes-'))
    store = await openSqliteStore(folder)
    now = 1_700_000_000_000
    catalog = testCatalog(store, () => now)
    agent = catalog.apply(await stored(store.write(put('a', { document: aidipAgent({ id: 'a' }) }))))
  })
  afterEach(async () => {
    for (const outcomes of opened.splice(0)) await outcomes.close()
    await store.close()
    rmSync(folder, { recursive: true })
  })

  const open = async (): Promise<Outcomes> => {
    const options = { store, now: () => now, isKnown: (id: string) => catalog.get(id) !== undefined }
    const outcomes = await createOutcomes({ ...options, onError: (error) => expect.fail(String(error)) })
    opened.push(outcomes)
    return outcomes
  }

  it('halve in a week while the success rate stays the same', async () => {
    const outcomes = await open()
    for (let i = 0; i < 8; i++) outcomes.record(agent, 'translate', { ok: i < 6, ms: 100 })
    now += 7 * DAY_MS
    const half = { calls: 4, success_rate: 0.75, latency_ms: 100 }
    expect(outcomes.statisticsOf(agent, alice)).toEqual({ ...half, operations: { translate: half } })
    await outcomes.sync()
    now += 7 * DAY_MS
    expect(outcomes.statisticsOf(agent, alice)).toMatchObject({ calls: 2, success_rate: 0.75 })
    outcomes.record(agent, 'translate', { ok: true, ms: 100 })
    expect(outcomes.statisticsOf(agent, alice)).toMatchObject({ calls: 3, success_rate: 0.833 })
  })

  it('of replicas add up: each sees what the others counted', async () => {
    const [one, other] = [await open(), await open()]
    one.record(agent, 'x', { ok: true, ms: 10 })
    other.record(agent, 'x', { ok: false, ms: 10 })
    other.record(agent, 'y', { ok: true, ms: 30 })
    await one.sync()
    await other.sync()
    await one.sync()
    for (const outcomes of [one, other]) {
      expect(outcomes.statisticsOf(agent, alice)).toMatchObject({
        calls: 3,
        operations: { x: { calls: 2, success_rate: 0.5, latency_ms: 10 }, y: { calls: 1 } },
      })
    }
    await one.sync()
    expect(one.statisticsOf(agent, alice)).toMatchObject({ calls: 3 })
  })

  it('are written again after the store was unavailable', async () => {
    const outcomes = await open()
    const { add } = store.statistics
    outcomes.record(agent, 'x', { ok: true, ms: 1 })
    store.statistics.add = () => Promise.reject(new Error('away'))
    await expect(outcomes.sync()).rejects.toThrow('away')
    store.statistics.add = add
    outcomes.record(agent, 'x', { ok: true, ms: 1 })
    await outcomes.sync()
    expect(await store.statistics.since(0)).toMatchObject([{ calls: 2 }])
  })

  it('are not inherited by another owner of the name', async () => {
    const outcomes = await open()
    outcomes.record(agent, 'x', { ok: false, ms: 1 })
    await outcomes.sync()
    await store.write(remove(agent.stored))
    catalog.drop('a', agent.stored.revision)
    const next = catalog.apply(await stored(store.write(put('a', { owner: 'bob', document: aidipAgent({ id: 'a' }) }))))
    const bob = { ...alice, subject: 'bob' }
    expect([outcomes.statisticsOf(next, bob), outcomes.factorOf(next)]).toEqual([undefined, 1])
    outcomes.record(next, 'x', { ok: true, ms: 1 })
    expect(outcomes.statisticsOf(next, bob)).toMatchObject({ calls: 1, success_rate: 1 })
    await outcomes.sync()
    expect((await open()).statisticsOf(next, bob)).toMatchObject({ calls: 1, success_rate: 1 })
  })

  it('change the ranking a little, by calls and by ratings', async () => {
    const outcomes = await open()
    expect(outcomes.factorOf(agent)).toBe(1)
    for (let i = 0; i < 50; i++) outcomes.record(agent, 'x', { ok: false, ms: 1 })
    const bad = outcomes.factorOf(agent)
    expect(bad).toBeLessThan(0.99)
    for (let i = 0; i < 20; i++)
      await outcomes.rate({ agent: 'a', owner: 'alice', subject: `s${i}`, rating: 5, at: now })
    expect(outcomes.factorOf(agent)).toBeGreaterThan(bad)
  })

  it('are kept for a limited number of operations', async () => {
    const outcomes = await open()
    for (let i = 0; i < 1000; i++) outcomes.record(agent, `o${i}`, { ok: true, ms: 1 })
    expect(outcomes.statisticsOf(agent, alice)).toMatchObject({ calls: 200 })
  })
})
