import { createClient } from '@switchboard/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import type { Agent, RegistrationFormat } from '../src/index.js'
import { closeAll, count, echo, makeAgent, startAgent, until } from './support/agents.js'

let directory: TestDirectory
let token: string
beforeAll(async () => {
  directory = await startDirectory()
  token = await directory.makeKey({ subject: 'publisher', scopes: ['publish', 'discover', 'invoke'] })
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())
afterEach(closeAll)

const read = (path = '/agents/tester') => directory.get(path, { as: 'tokC' })

/** A fake clock: the test decides when each wait ends. */
function makeClock() {
  const waits: { ms: number; end: () => void }[] = []
  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      waits.push({ ms, end: resolve })
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  const next = async () => {
    await until(
      () => waits.length,
      (length) => length > 0,
    )
    return waits.shift()
  }
  return { sleep, next }
}

describe.each<RegistrationFormat>(['aidip', 'profile', 'directory'])('a registration in the format %s', (format) => {
  it('AIDIP-2-03 AIDIP00-3-01 PROF-4.1-04 AD-4.1-10 AD-4.1-16 makes an agent that is found, read and called through the directory', async () => {
    const { agent, url } = await startAgent({ capabilities: [echo, count], tags: ['talk'] })
    const registration = await agent.register(directory.url, { format, token })
    expect(registration.id).toBe('tester')
    const { json } = await read()
    expect(json).toMatchObject({ id: 'tester', description: 'Says things back.', version: '2.1.0' })
    expect(json.operations.map(({ name }: { name: string }) => name)).toEqual(['echo', 'count'])
    expect(json.endpoint).toBe(`${url}/`)
    const called = await directory.post('/agents/tester/echo', { as: 'tokC', body: { text: 'hi' } })
    expect([called.status, called.json]).toEqual([200, { text: 'hi' }])
    const unified = await directory.post('/agents/tester/invoke', { as: 'tokC', body: { operation: 'count', to: 2 } })
    expect(unified.json).toEqual([{ n: 1 }, { n: 2 }])
    const wrong = await directory.post('/agents/tester/echo', { as: 'tokC', body: {} })
    expect(wrong.status).toBe(400)
    const accept = { accept: 'text/event-stream' }
    const stream = await directory.post('/agents/tester/count', { as: 'tokC', body: { to: 2 }, headers: accept })
    expect(stream.text).toContain('data: {"n":2}')
  })

  it('ends with the agent', async () => {
    const { agent } = await startAgent()
    await agent.register(directory.url, { format, token })
    expect((await read()).status).toBe(200)
    await agent.close()
    expect((await read()).status).toBe(404)
  })

  it('PROF-4.8-06 PROF-4.8-07 AD-2.1-01 is renewed before it expires, with jitter', async () => {
    const { sleep, next } = makeClock()
    let random = 0
    const runtime = { sleep, random: () => random }
    const { agent } = await startAgent({ runtime })
    const registration = await agent.register(directory.url, { format, token, lifetime: 120 })
    const first = await next()
    expect(first?.ms).toBeGreaterThan(55_000)
    expect(first?.ms).toBeLessThanOrEqual(60_000)
    const before = registration.expiresAt
    random = 1
    first?.end()
    const second = await next()
    expect(second?.ms).toBeGreaterThan(90_000)
    expect(second?.ms).toBeLessThanOrEqual(96_000)
    expect(registration.expiresAt).toBeGreaterThanOrEqual(before)
    expect((await read()).json.expires_at).toBeDefined()
  })

  it('is repeated if the directory has lost the agent', async () => {
    const { sleep, next } = makeClock()
    const { agent } = await startAgent({ runtime: { sleep } })
    await agent.register(directory.url, { format, token })
    const wait = await next()
    await directory.clear()
    expect((await read()).status).toBe(404)
    wait?.end()
    await next()
    expect((await read()).status).toBe(200)
  })

  it('C-95 states who may find the agent, and which members only its owner sees', async () => {
    const { agent } = await startAgent({ visibility: 'private', private: ['version'], lifetime: 90 })
    const before = Date.now()
    const { expiresAt } = await agent.register(directory.url, { format, token })
    expect(Math.round((expiresAt - before) / 10_000)).toBe(9)
    expect((await read()).status).toBe(404)
    agent.update({ visibility: 'public' })
    const found = await until(
      () => read(),
      ({ status }) => status === 200,
    )
    expect(found.json.version).toBeUndefined()
    expect((await directory.get('/agents/tester', { key: token })).json.version).toBe('2.1.0')
  })

  it('PROF-9-01 sends a change at once', async () => {
    const { agent } = await startAgent()
    await agent.register(directory.url, { format, token })
    agent.update({ description: 'Says other things.' })
    const changed = await until(
      () => read(),
      ({ json }) => json.description === 'Says other things.',
    )
    expect(changed.json.description).toBe('Says other things.')
  })
})

describe('a registration', () => {
  it('is retried with backoff while the directory is down', async () => {
    const { sleep, next } = makeClock()
    let isDown = false
    const errors: unknown[] = []
    const flaky: typeof fetch = (input, init) => (isDown ? Promise.reject(new TypeError('down')) : fetch(input, init))
    const client = createClient({ baseUrl: directory.url, token, fetch: flaky, retry: { retries: 0 } })
    const { agent } = await startAgent({ runtime: { sleep, random: () => 1 }, onError: (error) => errors.push(error) })
    await agent.register(client)
    isDown = true
    const waits: (number | undefined)[] = []
    for (let i = 0; i < 4; i++) {
      const wait = await next()
      waits.push(wait?.ms)
      wait?.end()
    }
    expect(waits.slice(1)).toEqual([1000, 2000, 4000])
    expect(errors.length).toBeGreaterThanOrEqual(3)
    isDown = false
    const last = await next()
    last?.end()
    await next()
    expect((await read()).status).toBe(200)
  })

  it('is retried from the start while the directory is down, and succeeds when it is back', async () => {
    const { sleep, next } = makeClock()
    let isDown = true
    const errors: unknown[] = []
    const flaky: typeof fetch = (input, init) => (isDown ? Promise.reject(new TypeError('down')) : fetch(input, init))
    const client = createClient({ baseUrl: directory.url, token, fetch: flaky, retry: { retries: 0 } })
    const { agent } = await startAgent({ runtime: { sleep, random: () => 1 }, onError: (error) => errors.push(error) })
    const registering = agent.register(client)
    const first = await next()
    first?.end()
    const second = await next()
    expect([first?.ms, second?.ms]).toEqual([1000, 2000])
    expect(errors).toMatchObject([{ code: 'unreachable' }, { code: 'unreachable' }])
    isDown = false
    second?.end()
    expect((await registering).id).toBe('tester')
    expect((await read()).status).toBe(200)
  })

  it('is abandoned if the agent is closed or its signal aborts before the directory responds', async () => {
    const { sleep, next } = makeClock()
    const down: typeof fetch = () => Promise.reject(new TypeError('down'))
    const client = createClient({ baseUrl: directory.url, token, fetch: down, retry: { retries: 0 } })
    const { agent } = await startAgent({ runtime: { sleep }, onError: () => {} })
    const leaving = new AbortController()
    const aborted = expect(agent.register(client, { signal: leaving.signal })).rejects.toMatchObject({
      code: 'aborted',
    })
    await next()
    leaving.abort()
    await aborted
    const closed = expect(agent.register(client)).rejects.toMatchObject({ code: 'aborted' })
    await next()
    await agent.close()
    await closed
  })

  it('needs the address of the agent', async () => {
    await expect(makeAgent().register(directory.url, { token })).rejects.toMatchObject({ code: 'invalid_definition' })
  })

  it('AD-8.2-01 sends credentials to the Agent Directory, which requires them', async () => {
    const { agent } = await startAgent()
    await expect(agent.register(directory.url, { format: 'directory' })).rejects.toMatchObject({ code: 'unauthorized' })
    expect((await read()).status).toBe(404)
    await agent.register(directory.url, { format: 'directory', token })
    expect((await read()).status).toBe(200)
  })

  it('fails if the directory rejects it', async () => {
    const { agent } = await startAgent()
    await expect(agent.register(directory.url, { token: 'wrong' })).rejects.toMatchObject({ code: 'unauthorized' })
    await expect(agent.register(directory.url, { token, lifetime: 5 })).rejects.toMatchObject({
      code: 'invalid_definition',
    })
  })

  it('AIDIP-9-07 keeps its id, which another publisher cannot take', async () => {
    const { agent } = await startAgent()
    const first = await agent.register(directory.url, { token })
    const other: Agent = (await startAgent()).agent
    const otherToken = await directory.makeKey({ subject: 'other', scopes: ['publish'] })
    await expect(other.register(directory.url, { token: otherToken })).rejects.toMatchObject({ code: 'conflict' })
    agent.update({ tags: ['new'] })
    await until(
      () => read(),
      ({ json }) => json.tags.includes('new'),
    )
    expect((await read()).json.id).toBe(first.id)
  })

  it('PROF-14-12 gives no right to call: the agent still authenticates callers', async () => {
    const { agent } = await startAgent({ authentication: { apiKeys: [{ subject: 'ann', key: 'secret' }] } })
    await agent.register(directory.url, { token })
    const found = await directory.post('/agents/search', { as: 'tokC', body: { query: 'say' } })
    expect(found.json[0].id).toBe('tester')
    const direct = await fetch(`${agent.url}/echo`, { method: 'POST' })
    expect(direct.status).toBe(401)
    const headers = { 'x-api-key': 'secret' }
    const key = await directory.makeKey({ subject: 'caller', scopes: ['invoke', 'discover'] })
    const through = await directory.post('/agents/tester/echo', { key, body: { text: 'a' }, headers })
    expect(through.status).toBe(200)
  })

  it('makes the agent callable through the gateway over A2A and MCP', async () => {
    const { url } = await startAgent()
    const register = (id: string, protocol: string, path: string) =>
      directory.post('/discover/agents', {
        as: 'tokA',
        body: {
          id,
          name: id,
          description: 'Says things back.',
          tags: ['talk'],
          bindings: [
            {
              protocol,
              endpoint: `${url}/${path}`,
              ...(protocol === 'a2a' && { protocolBinding: 'JSONRPC', protocolVersion: '1.0' }),
            },
          ],
          capabilities: [{ name: 'echo', input_schema: echo.input ?? {}, output_schema: echo.output ?? {} }],
        },
      })
    for (const [id, protocol] of [
      ['by-a2a', 'a2a'],
      ['by-mcp', 'mcp'],
    ] as const) {
      expect((await register(id, protocol, protocol)).status).toBe(201)
      const called = await directory.post(`/agents/${id}/echo`, { as: 'tokC', body: { text: 'hi' } })
      expect([called.status, called.json]).toEqual([200, { text: 'hi' }])
    }
  })

  it('makes the agent callable through the gateway over a WebSocket, streamed and deferred', async () => {
    const { url } = await startAgent({ capabilities: [count] })
    await directory.post('/discover/agents', {
      as: 'tokA',
      body: {
        id: 'by-ws',
        name: 'by-ws',
        description: 'Counts.',
        tags: ['talk'],
        bindings: [{ protocol: 'ws', endpoint: url.replace('http', 'ws') }],
        capabilities: [{ name: 'count', input_schema: count.input ?? {} }],
      },
    })
    const stream = await directory.post('/agents/by-ws/count', {
      as: 'tokC',
      body: { to: 2 },
      headers: { accept: 'application/x-ndjson' },
    })
    expect(stream.text.trim().split('\n')).toEqual(['{"n":1}', '{"n":2}'])
    const whole = await directory.post('/agents/by-ws/count', { as: 'tokC', body: { to: 2 } })
    expect(whole.json).toEqual([{ n: 1 }, { n: 2 }])
  })
})
