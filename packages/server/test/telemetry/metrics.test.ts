import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { sendJson } from '../invoke/agent.js'
import { setUp } from '../invoke/setup.js'
import { startDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { parseSamples, readMetric } from './samples.js'

const setup = setUp()
const read = (name: string, labels?: Record<string, string>) => readMetric(setup.directory, name, labels)

describe('/metrics', () => {
  it('counts requests by method, route template and status class', async () => {
    const { directory } = setup
    await setup.register()
    const count = (route: string, status: string) =>
      read('switchboard_http_request_duration_seconds_count', { method: 'GET', route, status })
    const before = [
      await count('/agents/:id', '2xx'),
      await count('/agents/:id', '4xx'),
      await count('unmatched', '4xx'),
    ]
    await directory.get('/agents/x')
    await directory.get('/agents/x')
    await directory.get('/agents/nobody')
    await directory.get('/no/such/path')
    const after = [
      await count('/agents/:id', '2xx'),
      await count('/agents/:id', '4xx'),
      await count('unmatched', '4xx'),
    ]
    expect(after.map((value, i) => value - (before[i] ?? 0))).toEqual([2, 1, 1])
  })

  it('counts error responses by code', async () => {
    const before = await read('switchboard_http_errors_total', { code: 'invalid_request' })
    await setup.directory.post('/agents/search', { raw: '{' })
    expect(await read('switchboard_http_errors_total', { code: 'invalid_request' })).toBe(before + 1)
  })

  it.each(['embedding', 'candidates', 'ranking', 'rendering'])(
    'measures the stage %s of a search by text',
    async (stage) => {
      await setup.register()
      const count = () => read('switchboard_search_stage_duration_seconds_count', { stage })
      const before = await count()
      await setup.directory.post('/agents/search', { body: { query: 'an agent for tests' } })
      await setup.directory.post('/discover', { body: { query: 'an agent for tests' } })
      await setup.directory.post('/agents/search', { body: { filters: { tags: ['none'] } } })
      expect(await count()).toBe(before + 2)
    },
  )

  it("separates the directory's own part of a call from the agent's", async () => {
    await setup.register()
    const delayMs = 200
    setup.agent.reply = async ({ json }, response) => {
      await sleep(delayMs)
      sendJson(response, json)
    }
    const agent = () => read('switchboard_agent_call_duration_seconds_sum', { protocol: 'http', outcome: 'ok' })
    const own = () => read('switchboard_gateway_processing_duration_seconds_sum', { protocol: 'http' })
    const calls = () => read('switchboard_gateway_processing_duration_seconds_count', { protocol: 'http' })
    const before = { agent: await agent(), own: await own(), calls: await calls() }
    const started = performance.now()
    expect((await setup.call({ text: 'hello' })).status).toBe(200)
    const seconds = (performance.now() - started) / 1000
    const agentPart = (await agent()) - before.agent
    const ownPart = (await own()) - before.own
    expect(agentPart).toBeGreaterThanOrEqual(delayMs / 1000 - 0.01)
    expect(ownPart).toBeGreaterThan(0)
    expect(ownPart).toBeLessThan(seconds - agentPart + 0.001)
    expect((await calls()) - before.calls).toBe(1)
  })

  it('counts calls by outcome: errors of the agent, and no response', async () => {
    const { directory, agent } = setup
    await setup.register()
    const count = (outcome: string) =>
      read('switchboard_agent_call_duration_seconds_count', { protocol: 'http', outcome })
    const before = [await count('agent_error'), await count('client_error'), await count('unreachable')]
    for (const status of [500, 404]) {
      agent.reply = (_, response) => sendJson(response, { error: 'no' }, status)
      await setup.call({ text: 'hello' })
    }
    const closed = aidipAgent({ id: 'closed', endpoint: 'http://127.0.0.1:1/' })
    expect((await directory.post('/agents', { as: 'tokA', body: closed })).status).toBe(201)
    await setup.call({ text: 'hello' }, { path: '/agents/closed/invoke' })
    const after = [await count('agent_error'), await count('client_error'), await count('unreachable')]
    expect(after.map((value, i) => value - (before[i] ?? 0))).toEqual([1, 1, 1])
  })

  it('shows calls in progress', async () => {
    await setup.register()
    let answer = (): void => {}
    const arrived = new Promise<void>((resolve) => {
      setup.agent.reply = async ({ json }, response) => {
        resolve()
        await new Promise<void>((done) => {
          answer = done
        })
        sendJson(response, json)
      }
    })
    const called = setup.call({ text: 'hello' })
    await arrived
    expect(await read('switchboard_gateway_calls')).toBe(1)
    answer()
    await called
    expect(await read('switchboard_gateway_calls')).toBe(0)
  })

  it('measures the store, the index and the change feed', async () => {
    const writes = await read('switchboard_store_operation_duration_seconds_count', {
      operation: 'write',
      outcome: 'ok',
    })
    await setup.register()
    expect(
      await read('switchboard_store_operation_duration_seconds_count', { operation: 'write', outcome: 'ok' }),
    ).toBeGreaterThan(writes)
    expect(await read('switchboard_index_agents')).toBe(1)
    expect(await read('switchboard_index_bytes', { part: 'words' })).toBeGreaterThan(0)
    expect(await read('switchboard_queue_length', { queue: 'writes' })).toBe(0)
    expect(await read('switchboard_ready')).toBe(1)
    let last = 0
    await vi.waitFor(
      async () => {
        const lag = await read('switchboard_feed_lag_seconds')
        const hasFallen = lag < last
        last = lag
        expect(hasFallen, 'it rises between two polls of the feed and falls with each').toBe(true)
      },
      { timeout: 20_000, interval: 20 },
    )
  })

  it('counts peers, and those that cannot be read', async () => {
    const peers = [{ name: 'gone', url: 'http://127.0.0.1:1/' }]
    const directory = await startDirectory({ peers })
    await vi.waitFor(
      async () => {
        expect(await readMetric(directory, 'switchboard_peers', { state: 'failing' })).toBe(1)
        expect(await readMetric(directory, 'switchboard_peers', { state: 'ok' })).toBe(0)
      },
      { timeout: 30_000, interval: 100 },
    )
    await directory.close()
  })

  it('contains no ids, subjects, addresses or texts', async () => {
    const { directory, agent } = setup
    const [id, name, query, input] = ['quokka-agent', 'axolotl', 'narwhal', 'okapi'] as const
    await directory.post('/agents', { as: 'tokA', body: agent.document({ id, name }) })
    await directory.get(`/agents/${id}`)
    await directory.get(`/${query}?q=${input}`)
    await directory.post('/agents/search', { body: { query } })
    await setup.call({ text: input }, { path: `/agents/${id}/invoke` })
    const { text } = await directory.get('/metrics')
    for (const secret of [id, name, query, input, 'tokA', 'tokC', '127.0.0.1']) expect(text).not.toContain(secret)
    for (const { name, labels } of parseSamples(text)) expect(Object.keys(labels).length, name).toBeLessThanOrEqual(4)
  })
})
