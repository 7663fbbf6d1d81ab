import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { invokeAgent, streamAgent } from '../../src/index.js'
import { codeOf, collect, fakeRetry } from './support/agent-host.js'
import { type Homeserver, startHomeserver } from './support/homeserver.js'

// Uses a simulated homeserver over real HTTP; support/homeserver.ts says what it implements.
let server: Homeserver

beforeAll(async () => {
  server = await startHomeserver()
})
afterAll(() => server.close())
beforeEach(() => {
  server.failure = undefined
  server.onEvent = () => {}
  server.seen.length = 0
})

const settings = (more: object = {}) => ({
  matrix: { accessToken: server.token, homeserver: server.url, ...more },
  retry: fakeRetry().retry,
})

describe('calls through a Matrix room', () => {
  it('AURI-6.1-05 sends the envelope as an event in the room, and returns the event that responds to it', async () => {
    let received: object = {}
    server.onEvent = (content, send) => {
      received = content
      send({ id: 'another call', result: 'not for us' })
      send({ id: content.id ?? '', result: { plan: 'Rio' } })
    }
    const reply = await invokeAgent(
      'agent+matrix://hs.example/planner/plan?days=2',
      { city: 'Rio' },
      { ...settings(), sessionId: 's1', taskId: 't1' },
    )
    expect(reply).toMatchObject({ output: { plan: 'Rio' }, trusted: false, sessionId: 's1' })
    expect(received).toMatchObject({
      operation: 'plan',
      input: { city: 'Rio', days: '2' },
      stream: false,
      sessionId: 's1',
      taskId: 't1',
    })
    expect(server.seen.find(({ url }) => url.includes('/send/'))?.url).toContain(
      `/rooms/${encodeURIComponent(server.room)}/send/agent.request/`,
    )
  })

  it('AURI-6.1-05 is unsupported without an adapter, which needs an access token', async () => {
    expect(await codeOf(invokeAgent('agent+matrix://hs.example/planner', {}, {}))).toBe('unsupported_transport')
  })

  it('accepts a room id, and streams events in order', async () => {
    server.onEvent = ({ id = '', cancel }, send) => {
      if (cancel) return
      for (const n of [1, 2, 3]) send({ id, data: { n } })
      send({ id, done: true })
    }
    const uri = `agent+matrix://hs.example/${encodeURIComponent(server.room)}/count`
    expect((await collect(streamAgent(uri, {}, settings()))).map(({ data }) => data)).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 3 },
    ])
  })

  it('waits for later responses, over several sync requests', async () => {
    server.onEvent = ({ id = '' }, send) => {
      setTimeout(() => send({ id, data: 'early' }), 20)
      setTimeout(() => send({ id, data: 'late' }), 60)
      setTimeout(() => send({ id, done: true }), 90)
    }
    const parts = await collect(streamAgent('agent+matrix://hs.example/planner', {}, settings()))
    expect(parts.map(({ data }) => data)).toEqual(['early', 'late'])
  })

  it('accepts responses from the agent’s user only, if it is known', async () => {
    server.onEvent = ({ id = '' }, send) => {
      send({ id, result: 'forged' }, '@mallory:hs.example')
      send({ id, result: 'true' })
    }
    const reply = await invokeAgent(
      'agent+matrix://hs.example/planner',
      {},
      settings({ agentUser: '@agent:hs.example' }),
    )
    expect(reply.output).toBe('true')
  })

  it('reads structured errors from the content of events', async () => {
    server.onEvent = ({ id = '' }, send) =>
      send({
        id,
        error: { type: 'https://e.example/invalid-input', title: 'Invalid Input', status: 400, detail: 'no city' },
      })
    await expect(invokeAgent('agent+matrix://hs.example/planner', {}, settings())).rejects.toMatchObject({
      code: 'invalid_input',
      status: 400,
      message: 'no city',
    })
  })

  it('reports the homeserver’s own errors by code', async () => {
    expect(await codeOf(invokeAgent('agent+matrix://hs.example/planner', {}, settings({ accessToken: 'wrong' })))).toBe(
      'unauthorized',
    )
    expect(await codeOf(invokeAgent('agent+matrix://hs.example/nobody', {}, settings()))).toBe('not_found')
    server.failure = { status: 429, body: { errcode: 'M_LIMIT_EXCEEDED', error: 'slow down', retry_after_ms: 2000 } }
    const limited = invokeAgent('agent+matrix://hs.example/planner', {}, settings())
    await expect(limited).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 2 })
    server.failure = { status: 200, body: { nothing: true } }
    expect(await codeOf(invokeAgent('agent+matrix://hs.example/planner', {}, settings()))).toBe('bad_response')
    expect(await codeOf(invokeAgent('agent+matrix://hs.example', {}, settings()))).toBe('invalid_uri')
  })

  it('cancels the call on timeout', async () => {
    const cancelled = new Promise<unknown>((resolve) => {
      server.onEvent = ({ id, cancel }) => cancel && resolve(id)
    })
    // Long enough for the call to be sent: what was not sent needs no cancellation.
    expect(await codeOf(invokeAgent('agent+matrix://hs.example/planner', {}, { ...settings(), timeoutMs: 800 }))).toBe(
      'timeout',
    )
    expect(await cancelled).toMatch(/^[0-9a-f-]{36}$/)
  })
})
