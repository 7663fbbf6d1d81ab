import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { NO_POSTGRES, testDatabase } from './postgres.js'
import { startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

const database = await testDatabase()

const LOOKUPS = 60
const STORED_BYTES = 3000

describe.skipIf(!database)(database ? 'three servers on one PostgreSQL' : `three servers, ${NO_POSTGRES}`, () => {
  let agent: TestAgent
  let servers: TestDirectory[]
  beforeAll(async () => {
    agent = await startAgent()
    const start = () =>
      startDirectory({
        database: database?.url ?? '',
        rateLimits: { search: 1e6, register: 1e6, lookup: LOOKUPS, invoke: 1e6 },
        quotas: { agents: 10, bytes: 1e6 },
        gateway: { maxStoredBytesPerCaller: STORED_BYTES },
      })
    servers = [await start(), await start(), await start()]
    const body = agent.document({ visibility: 'public' })
    expect((await one().post('/agents', { as: 'admin', body })).status).toBe(201)
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()))
    await agent.close()
    await database?.drop()
  })

  const one = (): TestDirectory => {
    const [first] = servers
    if (!first) throw new Error('not started')
    return first
  }
  /** A key that all servers know; they know the agent, too. */
  const keyOf = async (subject: string): Promise<string> => {
    const key = await one().makeKey({ subject, scopes: ['publish', 'discover', 'invoke'] })
    for (const server of servers)
      await expect.poll(async () => (await server.get('/agents/x', { key })).status).toBe(200)
    return key
  }
  /** Sends requests to all servers at once. */
  const sendAll = async (each: number, send: (server: TestDirectory, i: number) => Promise<TestResponse>) => {
    const all = servers.flatMap((server, s) => Array.from({ length: each }, (_, i) => send(server, s * each + i)))
    return (await Promise.all(all)).map(({ status }) => status)
  }
  const count = (statuses: readonly number[], status: number): number => statuses.filter((it) => it === status).length

  it('AIDIP-9-12 allow a client no more requests than one would, and a tenth', async () => {
    let attempt = 0
    // On a busy machine the database may not respond within a second; then each server counts alone, as it should.
    await vi.waitFor(async () => {
      const key = await keyOf(`burst-${++attempt}`)
      const started = performance.now()
      const statuses = await sendAll(LOOKUPS, (server) => server.get('/agents/x', { key }))
      const refilled = Math.ceil(((performance.now() - started) / 60_000) * LOOKUPS)
      expect(count(statuses, 200)).toBeLessThanOrEqual(LOOKUPS * 1.1 + refilled)
      // The key was used before, to see whether all servers know it.
      expect(count(statuses, 200)).toBeGreaterThanOrEqual(LOOKUPS - 10)
      expect(count(statuses, 200) + count(statuses, 429)).toBe(3 * LOOKUPS)
    }, 30_000)
  })

  it('allow a client that uses only one of them its whole limit at once', async () => {
    const key = await keyOf('loyal')
    const answers = await Promise.all(Array.from({ length: LOOKUPS - 10 }, () => one().get('/agents/x', { key })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  })

  it('tell a client what is left of its limit on all of them', async () => {
    const key = await keyOf('curious')
    for (let i = 0; i < 20; i++) await one().get('/agents/x', { key })
    const remaining = async (server = one()): Promise<number> =>
      Number(/;r=(\d+)/.exec((await server.get('/agents/x', { key })).headers.get('ratelimit') ?? '')?.[1])
    const [, , three] = servers
    await expect.poll(() => remaining(three), { interval: 400, timeout: 5000 }).toBeLessThanOrEqual(LOOKUPS - 18)
  })

  it('allow a caller as many concurrent calls as one would', async () => {
    const key = await keyOf('parallel')
    const limits = { concurrent_calls: 6 }
    await one().post('/admin/limits', { as: 'admin', body: { subject: 'parallel', limits } })
    const limitOn = async (server: TestDirectory): Promise<unknown> =>
      (await server.get('/limits', { key })).json.limits.find(
        ({ name }: { name: string }) => name === 'concurrent_calls',
      )
    for (const server of servers) await expect.poll(() => limitOn(server)).toMatchObject({ limit: 6 })
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let running = 0
    const { reply } = agent
    agent.reply = async (...args) => {
      running++
      await held
      return reply(...args)
    }
    const call = (server: TestDirectory) => server.post('/agents/x/invoke', { key, body: { text: 'hello' } })
    const answers = sendAll(6, call)
    const more: Promise<TestResponse>[] = []
    // Those that asked for the last slot at the same moment may all have been refused.
    await expect
      .poll(
        () => {
          if (running < 6) more.push(call(one()))
          return running
        },
        { interval: 100, timeout: 5000 },
      )
      .toBe(6)
    await expect.poll(() => limitOn(one())).toMatchObject({ used: 6 })
    expect(await sendAll(1, call)).toEqual([429, 429, 429])
    expect(running).toBe(6)
    release()
    const statuses = [...(await answers), ...(await Promise.all(more)).map(({ status }) => status)]
    expect(count(statuses, 200)).toBe(6)
    agent.reply = reply
  })

  it('allow an owner no more agents than its quota', async () => {
    const key = await keyOf('owner')
    const register = (server: TestDirectory, i: number) =>
      server.post('/agents', { key, body: aidipAgent({ id: `owned-${i}` }) })
    const statuses = await sendAll(8, register)
    expect([count(statuses, 201), count(statuses, 403)]).toEqual([10, 14])
    const { json } = await one().post('/agents', { key, body: aidipAgent({ id: 'one-more' }) })
    expect(json.quota).toMatchObject({ name: 'agents', limit: 10, requested: 1 })
  })

  it('store no more bytes of results for the idempotency keys of a caller than one would', async () => {
    const key = await keyOf('idempotent')
    const text = 'x'.repeat(400)
    const call = (server: TestDirectory, i: number) =>
      server.post('/agents/x/invoke', { key, body: { text }, headers: { 'idempotency-key': `key-${i}` } })
    expect(count(await sendAll(4, call), 200)).toBe(12)
    const repeated = await sendAll(4, call)
    expect(count(repeated, 200)).toBeLessThanOrEqual(Math.floor((STORED_BYTES * 1.1) / 400))
    expect(count(repeated, 200)).toBeGreaterThan(0)
    expect(count(repeated, 409)).toBe(12 - count(repeated, 200))
  })
})
