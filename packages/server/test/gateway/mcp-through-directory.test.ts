import type { JsonObject } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { startMcpAgent } from './mcp-agent.js'
import { startStatelessMcpAgent } from './mcp-stateless-agent.js'

const tools = [
  {
    name: 'translate',
    description: 'Translates',
    inputSchema: {
      type: 'object' as const,
      properties: { text: { type: 'string' }, to: { enum: ['en', 'zh'] } },
      required: ['text', 'to'],
    },
  },
  { name: 'count', description: 'Counts', inputSchema: { type: 'object' as const } },
]
const [, count] = tools

let directory: TestDirectory
let agent: Awaited<ReturnType<typeof startMcpAgent>>

beforeAll(async () => {
  directory = await startDirectory()
  agent = await startMcpAgent(
    async ({ name, args, token }, extra) => {
      if (token !== undefined) {
        const params = { progressToken: token, progress: 1, total: 2 }
        await extra.sendNotification({ method: 'notifications/progress', params })
      }
      return { content: [], structuredContent: { name, args } }
    },
    { tools: [tools] },
  )
})
afterEach(() => directory.clear())
afterAll(async () => {
  await directory.close()
  await agent.close()
})

async function register(document: JsonObject): Promise<void> {
  const { text } = await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify({ id: 'm', ...document }) })
  expect(text).toContain('"m"')
}
const serverJson = () => ({
  name: 'example/m',
  description: 'tools',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url: agent.url }],
})

const invoke = (body: object, { path = '/agents/m/invoke', headers = {} } = {}) =>
  directory.post(path, { as: 'tokC', raw: JSON.stringify(body), headers })

describe('an agent registered with a server.json', () => {
  it('AIDIP00-6-02 AIDIP-5.1-06 has its tools as operations, named in the body', async () => {
    await register(serverJson())
    const answer = await invoke({ operation: 'translate', text: 'hi', to: 'zh' })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toEqual({ name: 'translate', args: { text: 'hi', to: 'zh' } })
  })

  it('AIDIP-5.1-07 has its tools as operations, named in the URL', async () => {
    await register(serverJson())
    const answer = await invoke({ n: 1 }, { path: '/agents/m/count' })
    expect(answer.json, answer.text).toEqual({ name: 'count', args: { n: 1 } })
  })

  it('AIDIP-5.1-10 has inputs validated against the schema of the tool before the tool is called', async () => {
    await register(serverJson())
    await invoke({ operation: 'count' })
    const before = agent.seen.length
    const answer = await invoke({ operation: 'translate', text: 'hi', to: 'fr' })
    expect(answer.status).toBe(400)
    expect(answer.json.error).toMatchObject({ code: 'InvalidInput', message: expect.stringContaining('/to') })
    expect(agent.seen).toHaveLength(before)
  })

  it('AIDIP-5.1-08 returns 400 for an unknown operation, with the names of the known ones', async () => {
    await register(serverJson())
    const answer = await invoke({ operation: 'sing' })
    expect(answer.status).toBe(400)
    expect(answer.json.error.message).toMatch(/translate.*count/)
  })

  it('AIDIP-5.3-01 streams, with progress', async () => {
    await register(serverJson())
    const answer = await invoke({ operation: 'count' }, { headers: { accept: 'text/event-stream' } })
    expect(answer.text).toContain('event: progress')
    expect(answer.text).toContain('data: {"name":"count","args":{}}')
  })

  it('AIDIP-5.3-04 accepts a batch', async () => {
    await register(serverJson())
    const answer = await invoke([{ n: 1 }, { n: 2 }], { path: '/agents/m/count' })
    expect(answer.json).toEqual([
      { name: 'count', args: { n: 1 } },
      { name: 'count', args: { n: 2 } },
    ])
  })
})

it('AIDIP00-6-02 an agent registered through the Agent Directory with protocol mcp is called over MCP', async () => {
  const body = { base: agent.url, protocols: ['mcp'], capabilities: [{ name: 'count', type: 'tool' }] }
  const registered = await directory.post('/ad/r?agent=m', { as: 'tokA', body })
  expect(registered.status, registered.text).toBe(201)
  const answer = await invoke({ n: 1 })
  expect(answer.json, answer.text).toEqual({ name: 'count', args: { n: 1 } })
})

it('a caller of the directory that disconnects cancels the tool call, also without a session', async () => {
  const [started, aborted] = [vi.fn(), vi.fn()]
  const stateless = await startStatelessMcpAgent(
    async (_, { mcpReq }) => {
      started()
      await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve))
      aborted()
      return { content: [] }
    },
    { tools: count ? [count] : [] },
  )
  try {
    await register({ ...serverJson(), remotes: [{ type: 'streamable-http', url: stateless.url }] })
    const key = await directory.makeKey({ subject: 'tokC', scopes: ['invoke', 'discover'] })
    const caller = new AbortController()
    const calling = fetch(`${directory.url}/agents/m/count`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
      signal: caller.signal,
    }).catch((error: Error) => error.name)
    await vi.waitFor(() => expect(started).toHaveBeenCalled(), 10_000)
    caller.abort()
    expect(await calling).toBe('AbortError')
    await vi.waitFor(() => expect(aborted).toHaveBeenCalled(), 10_000)
  } finally {
    await stateless.close()
  }
})
