import type { JsonObject } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startMcpAgent } from '../gateway/mcp-agent.js'
import { fixed, startAgent, type TestAgent } from '../invoke/agent.js'
import { setUp } from '../invoke/setup.js'
import { expectError } from '../support/errors.js'

const SECRET = 'the-operators-secret'
const setup = setUp()
const { register, call } = setup
let other: TestAgent
beforeAll(async () => {
  other = await startAgent()
})
afterEach(() => {
  other.calls.length = 0
})
afterAll(() => other.close())

const keep = async (body: JsonObject = { type: 'bearer', token: SECRET }): Promise<void> => {
  const answer = await setup.directory.put('/admin/agents/x/credential', { as: 'admin', body })
  expect(answer.status, answer.text).toBe(200)
}
const move = async (changes: JsonObject): Promise<void> => {
  const answer = await setup.directory.put('/agents/x', { as: 'tokA', body: setup.agent.document(changes) })
  expect(answer.status, answer.text).toBe(200)
}

describe('a credential that the operator has set for an agent', () => {
  it.each([
    ['the agent', {}, () => ({ endpoint: other.url })],
    ['an operation', {}, () => ({ operations: [{ name: 'invoke', inputs: {}, outputs: {}, endpoint: other.url }] })],
    [
      'a version',
      { path: '/agents/x/versions/1.0/invoke' },
      () => ({ version: '2.0', supportedVersions: { '1.0': other.url } }),
    ],
  ])('is not sent to a new address when the owner moves %s', async (_, ask, changes) => {
    await register()
    await keep()
    expect((await call({ text: 'a' })).status).toBe(200)
    expect(setup.agent.calls.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`)
    await move(changes())
    expectError(await call({ text: 'a' }, ask), { status: 502, says: 'has moved' })
    expect(other.calls).toEqual([])
    // A caller with its own credential does not need the operator's.
    const own = { ...ask, headers: { 'x-agent-authorization': 'Bearer mine' } }
    expect((await call({ text: 'a' }, own)).status).toBe(200)
    expect(other.calls.at(-1)?.headers.authorization).toBe('Bearer mine')
    await keep()
    expect((await call({ text: 'a' }, ask)).status).toBe(200)
    expect(other.calls.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`)
  })

  it('is still sent to the old address if that is one of several endpoints', async () => {
    await register()
    await keep()
    const bindings = [
      { protocol: 'https', endpoint: other.url, priority: 1 },
      { protocol: 'https', endpoint: setup.agent.url, priority: 2 },
    ]
    await move({ bindings })
    expect((await call({ text: 'a' })).status).toBe(200)
    expect(setup.agent.calls).toHaveLength(1)
    expect(other.calls).toEqual([])
  })

  it('is not sent to another server when its tools are listed', async () => {
    const moved = await startMcpAgent(() => ({ content: [] }), { tools: [[]] })
    const server = (url: string): string =>
      JSON.stringify({
        id: 'x',
        name: 'example/x',
        description: 'tools',
        version: '1.0.0',
        remotes: [{ type: 'streamable-http', url }],
      })
    const load = (url: string) => setup.directory.post('/admin/import', { as: 'admin', raw: server(url) })
    try {
      await load(setup.agent.url)
      await keep()
      await load(moved.url)
      expectError(await call({ text: 'a' }), { status: 502, says: 'has moved' })
      expect(moved.methods()).toContain('tools/list')
      expect(JSON.stringify(moved.seen)).not.toContain(SECRET)
    } finally {
      await moved.close()
    }
  })

  it('is not stored with a deferred call: once removed, it is not sent', async () => {
    await register()
    await keep({ type: 'api_key', key: SECRET, header: 'X-Corp-Token' })
    setup.agent.reply = fixed({ error: { code: 'Busy', message: 'later' } }, 503, { 'retry-after': '1' })
    expect((await call({ text: 'a' }, { headers: { prefer: 'respond-async' } })).status).toBe(202)
    await expect.poll(() => setup.agent.calls.length).toBe(1)
    expect(setup.agent.calls[0]?.headers['x-corp-token']).toBe(SECRET)
    await setup.directory.delete('/admin/agents/x/credential', { as: 'admin' })
    await expect.poll(() => setup.agent.calls.length, { timeout: 5000 }).toBeGreaterThan(1)
    expect(setup.agent.calls.at(-1)?.headers).not.toHaveProperty('x-corp-token')
  })
})

describe('the session of an MCP server', () => {
  it('belongs to one caller', async () => {
    const server = await startMcpAgent(() => ({ content: [], structuredContent: {} }), {
      tools: [[{ name: 'echo', inputSchema: { type: 'object' } }]],
    })
    try {
      const remotes = [{ type: 'streamable-http', url: server.url }]
      const raw = JSON.stringify({ id: 'x', name: 'example/x', description: 'tools', version: '1.0.0', remotes })
      await setup.directory.post('/admin/import', { as: 'admin', raw })
      for (const as of ['tokA', 'tokC', 'tokA'] as const) expect((await call({}, { as })).status).toBe(200)
      const sessions = server.seen.filter(({ body }) => body.method === 'tools/call')
      const [first, second, third] = sessions.map(({ headers }) => headers['mcp-session-id'])
      expect(first).toEqual(expect.any(String))
      expect(second).not.toBe(first)
      expect(third).toBe(first)
    } finally {
      await server.close()
    }
  })
})
