import { compileSchema, isObject, type JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fixed, startAgent } from './invoke/agent.js'
import { NO_POSTGRES, testDatabase } from './postgres.js'
import { createTestClock } from './support/clock.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'
import { expectError } from './support/errors.js'

const PATHS = ['/admin/overview', '/admin/history', '/admin/limits/refused', '/admin/health', '/admin/settings']

/** Secrets that must not be in any response. */
const SECRETS = {
  metricsToken: 'metrics-token-of-the-tests',
  secret: 'secret-of-all-replicas-here',
  peerToken: 'token-for-the-peer',
  embedderKey: 'key-of-the-embedder',
  password: 'password-in-a-url',
  header: 'header-of-the-receiver',
}

const clock = createTestClock()
let directory: TestDirectory
let document: JsonObject
beforeAll(async () => {
  directory = await startDirectory(
    {
      rateLimits: { search: 3, register: 1e6, lookup: 1e6, invoke: 1e6 },
      metricsToken: SECRETS.metricsToken,
      secret: SECRETS.secret,
      cors: { origins: [`https://admin:${SECRETS.password}@page.example`] },
      telemetry: { otlp: { url: 'http://127.0.0.1:9/v1/traces', headers: { authorization: SECRETS.header } } },
      peers: [{ name: 'p', url: 'http://127.0.0.1:9', token: SECRETS.peerToken, intervalSeconds: 86_400 }],
    },
    clock,
  )
  document = (await directory.get('/openapi.json')).json
})
afterAll(() => directory.close())

const read = async (path: string) => {
  const { status, json } = await directory.get(path, { as: 'admin' })
  expect(status, path).toBe(200)
  return json
}

/** The schema of the response in OpenAPI. */
function schemaOf(path: string): JsonObject {
  const { paths } = document
  const { get } = Object(isObject(paths) ? paths[path] : undefined)
  return get.responses[200].content['application/json'].schema
}

describe('what operators see', () => {
  it.each(PATHS)('%s is for administrators only, is not cached and contains no secret', async (path) => {
    expectError(await directory.get(path), { status: 401 })
    expectError(await directory.get(path, { as: 'tokA' }), { status: 403 })
    const { status, headers, text, json } = await directory.get(path, { as: 'admin' })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    for (const secret of [directory.adminKey, ...Object.values(SECRETS)]) expect(text).not.toContain(secret)
    expect(compileSchema(schemaOf(path))(json)).toEqual([])
  })

  it('counts agents by status and visibility, and shows index, queues, store and process', async () => {
    for (const [id, more] of [
      ['a', {}],
      ['b', { status: 'inactive' }],
      ['c', { visibility: 'private' }],
    ] as const)
      expect((await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id, ...more }) })).status).toBe(201)
    clock.advance(11)
    expect(await read('/admin/overview')).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      store: { kind: 'sqlite', state: 'ok' },
      agents: {
        total: 3,
        by_status: { active: 2, inactive: 1 },
        by_visibility: { public: 2, private: 1 },
        copies: 0,
        quarantined: 0,
      },
      index: { agents: 3, pending_words: 0 },
      feed: { revision: expect.any(Number), peers_failing: expect.any(Number) },
      queues: { writes: 0, embedding: 0, calls: 0, tasks: 0 },
      process: { memory: { rss: expect.any(Number) } },
    })
    await vi.waitFor(async () =>
      expect((await read('/admin/overview')).process.event_loop_delay_ms).toMatchObject({ p99: expect.any(Number) }),
    )
  })

  it('shows requests, durations and errors minute by minute, and adds minutes up', async () => {
    const since = new Date(clock.now()).toISOString()
    clock.advance(60)
    await directory.get('/agents/a')
    await directory.get('/agents/nobody')
    clock.advance(60)
    await directory.get('/agents/a')
    const { points, step_seconds } = await read(`/admin/history?since=${since}`)
    expect(step_seconds).toBe(60)
    const counted = points.filter(({ counts }: { counts: JsonObject }) => counts.lookup !== undefined)
    expect(counted).toHaveLength(2)
    expect(counted[0]).toMatchObject({ counts: { lookup: 2 }, errors: { not_found: 1 } })
    expect(counted[0].latency_ms.lookup.p99).toBeGreaterThanOrEqual(counted[0].latency_ms.lookup.p50)
    const hours = (await read(`/admin/history?since=${since}&step=3600`)).points
    expect(hours.length).toBeLessThanOrEqual(2)
    const sum = hours.reduce(
      (total: number, { counts }: { counts: { lookup?: number } }) => total + (counts.lookup ?? 0),
      0,
    )
    expect(sum).toBeGreaterThanOrEqual(3)
    expectError(await directory.get('/admin/history?step=5', { as: 'admin' }), { status: 400 })
  })

  it('shows who reached a limit in the last hour, and how often, and forgets it', async () => {
    for (let i = 0; i < 5; i++) await directory.post('/agents/search', { as: 'tokC', body: { query: 'x' } })
    for (let i = 0; i < 4; i++) await directory.post('/agents/search', { body: { query: 'x' } })
    const { refused, others } = await read('/admin/limits/refused')
    expect(refused).toMatchObject([
      { limit: 'search_per_minute', subject: 'tokC', times: 2 },
      { limit: 'search_per_minute', address: '127.0.0.1', times: 1 },
    ])
    expect(others).toBe(0)
    expect(await read('/admin/limits/refused?limit=1')).toMatchObject({ refused: [{ subject: 'tokC' }], others: 1 })
    expect((await read('/admin/history')).points.at(-1).errors.rate_limited).toBe(3)
    clock.advance(3601)
    expect((await read('/admin/limits/refused')).refused).toEqual([])
  })

  it('lists settings with their values, defaults and sources, and whether secrets are set', async () => {
    const settings: JsonObject[] = (await read('/admin/settings')).settings
    const of = (key: string) => settings.find((setting) => setting.key === key)
    expect(of('rateLimits.search')).toMatchObject({ value: 3, default: 600, source: 'program', is_secret: false })
    expect(of('gateway.timeoutMs')).toMatchObject({ value: 30_000, default: 30_000, source: 'default' })
    expect(of('adminKey')).toMatchObject({ value: '(set)', default: null, is_secret: true })
    expect(of('tlsKey')).toMatchObject({ value: null, is_secret: true })
    expect(of('cors.origins')).toMatchObject({ value: ['https://page.example/'] })
    expect(of('peers')).toMatchObject({ value: [{ name: 'p', token: '(set)' }] })
    expect(of('telemetry.otlp.headers')).toMatchObject({ value: '(set)' })
  })

  it('pages through the audit log and searches it', async () => {
    const found: JsonObject[] = []
    let next: string | undefined
    do {
      const query = new URLSearchParams({ q: 'TOKA', limit: '2', ...(next !== undefined && { cursor: next }) })
      const page = await read(`/admin/audit?${query}`)
      expect(page.entries.length).toBeLessThanOrEqual(2)
      found.push(...page.entries)
      next = page.next
    } while (next !== undefined)
    expect(found.length).toBeGreaterThan(3)
    expect(found).toEqual((await read('/admin/audit?q=toka&limit=1000')).entries)
    expect(found.filter(({ action }) => action === 'register').map(({ agent }) => agent)).toEqual(['c', 'b', 'a'])
    expectError(await directory.get('/admin/audit?cursor=x', { as: 'admin' }), { status: 400 })
    expectError(await directory.get('/admin/audit?until=x', { as: 'admin' }), { status: 400 })
  })
})

describe('the health of agents', () => {
  it('is known from calls: an agent whose calls fail is failing', async () => {
    const agent = await startAgent()
    try {
      agent.reply = fixed({ error: { code: 'Broken', message: 'no' } }, 500)
      for (const id of ['d', 'e'])
        expect((await directory.post('/agents', { as: 'tokA', body: agent.document({ id }) })).status).toBe(201)
      for (let i = 0; i < 4; i++)
        expect((await directory.post('/agents/d/invoke', { as: 'tokC', body: { text: 'x' } })).status).toBe(500)
      const page = await read('/admin/health?state=failing,unreachable')
      expect(page).toMatchObject({
        checked: false,
        counts: { failing: 1, unreachable: 0, reachable: 0 },
        agents: [{ id: 'd', owner: 'tokA', state: 'failing', success_rate: 0 }],
      })
      expect(page.next).toBeUndefined()
      const first = await read('/admin/health?limit=2&q=TOKA')
      expect(first.agents.map(({ id }: JsonObject) => id)).toEqual(['a', 'b'])
      const rest = await read(`/admin/health?limit=5&after=${first.next}`)
      expect(rest.agents.map(({ id }: JsonObject) => id)).toEqual(['c', 'd', 'e'])
      expectError(await directory.get('/admin/health?state=fine', { as: 'admin' }), { status: 400 })
    } finally {
      await agent.close()
    }
  })
})

const database = await testDatabase()
describe.skipIf(!database)(database ? 'with PostgreSQL' : `with PostgreSQL, ${NO_POSTGRES}`, () => {
  it('the overview names the store, and the settings no password', async () => {
    const shared = await startDirectory({ database: database?.url ?? '' })
    try {
      const overview = (await shared.get('/admin/overview', { as: 'admin' })).json
      expect(overview).toMatchObject({ store: { kind: 'postgres', state: 'ok' }, replicas: 1 })
      const { settings } = (await shared.get('/admin/settings', { as: 'admin' })).json
      const shown = settings.find(({ key }: JsonObject) => key === 'database').value
      expect(shown).toMatch(/^postgres(ql)?:|^\(set\)$/)
      expect(shown).not.toMatch(/@|\?/)
    } finally {
      await shared.close()
      await database?.drop()
    }
  })
})
