import { type AgentRecord, type JsonObject, readRecord } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createLearnOperations } from '../src/services/calls/admission/learn-operations.js'
import { createReadOperations } from '../src/services/learning/read-operations.js'
import { AgentEvent, text as a2aText, message, startA2aAgent } from './gateway/a2a-agent.js'
import { createTestGateway, sendJson, startHttpAgent } from './gateway/agent.js'
import { type McpAgentOptions, startMcpAgent, text } from './gateway/mcp-agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

const tool = (name: string, inputSchema: JsonObject = {}) => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object' as const, ...inputSchema },
})

function createLearner() {
  let at = 0
  const gateway = createTestGateway()
  open.push(gateway)
  const read = createReadOperations({ fetch: gateway.fetch, newId: () => `id-${at}` })
  const learn = createLearnOperations({ read, monotonic: () => at })
  return {
    learn,
    advance: (ms: number) => {
      at += ms
    },
  }
}

async function startTools(options: McpAgentOptions) {
  const agent = await startMcpAgent(() => text('ok'), options)
  open.push(agent)
  return agent
}

const called = (published: AgentRecord) => ({ published, known: published.operations, isRestricted: false })
const server = (url: string, more: JsonObject = {}) =>
  called(
    readRecord(
      'mcp',
      { name: 'm', description: '', version: '1', remotes: [{ type: 'streamable-http', url }], ...more },
      'm',
    ),
  )
const listRequests = (agent: { methods(): string[] }): number =>
  agent.methods().filter((method) => method === 'tools/list').length

describe('operations of an MCP server', () => {
  it('are its tools with their schemas, from all pages', async () => {
    const schema = { properties: { text: { type: 'string' } }, required: ['text'] }
    const agent = await startTools({ tools: [[tool('a', schema)], [tool('b')]] })
    const { learn } = createLearner()
    expect(await learn(server(agent.url))).toEqual([
      { name: 'a', description: 'does a', inputs: { type: 'object', ...schema }, outputs: { type: 'object' } },
      { name: 'b', description: 'does b', inputs: { type: 'object' }, outputs: { type: 'object' } },
    ])
  })

  it('are fetched once, and later refreshed in the background', async () => {
    const tools = [[tool('old')]]
    const agent = await startTools({ tools })
    const { learn, advance } = createLearner()
    const names = async () => (await learn(server(agent.url))).map(({ name }) => name)
    expect([await names(), await names()]).toEqual([['old'], ['old']])
    expect(listRequests(agent)).toBe(1)
    tools[0] = [tool('new')]
    advance(3_600_000)
    expect(await names()).toEqual(['old'])
    await expect.poll(names).toEqual(['new'])
    expect(listRequests(agent)).toBe(2)
  })

  it('are fetched with the credential and cached for each credential separately', async () => {
    const agent = await startTools({ tools: [[tool('a')]] })
    const { learn } = createLearner()
    await learn(server(agent.url), { headers: { authorization: 'Bearer a' } })
    await learn(server(agent.url), { headers: { authorization: 'Bearer b' } })
    expect(listRequests(agent)).toBe(2)
    const list = agent.seen.filter(({ body }) => body.method === 'tools/list')
    expect(list.map(({ headers }) => headers.authorization)).toEqual(['Bearer a', 'Bearer b'])
  })

  it('are reported as outdated in the views if strangers get other ones', async () => {
    const agent = await startTools({ tools: [[tool('new')]] })
    const outdated: string[] = []
    const gateway = createTestGateway()
    open.push(gateway)
    const read = createReadOperations({ fetch: gateway.fetch, newId: () => 'id' })
    const learn = createLearnOperations({ read, monotonic: () => 0, onOutdated: (id) => outdated.push(id) })
    const { published } = server(agent.url)
    const known = [{ name: 'old', inputs: {}, outputs: {} }]
    await learn({ published, known, isRestricted: false }, { headers: { authorization: 'Bearer a' } })
    await learn({ published, known, isRestricted: true })
    expect(outdated).toEqual([])
    await learn({ published, known, isRestricted: false })
    expect(outdated).toEqual(['m'])
  })

  it('leave no session open', async () => {
    const agent = await startTools({ tools: [[tool('a')]] })
    await createLearner().learn(server(agent.url))
    await expect.poll(() => agent.sessions.size).toBe(0)
    expect(agent.methods()).toContain('DELETE')
  })

  it('come from the record if it describes their inputs: no request is sent', async () => {
    const agent = await startTools({ tools: [[tool('a')]] })
    const operations = [{ name: 'x', inputs: { text: 'string' }, outputs: { text: 'string' } }]
    const learned = await createLearner().learn(server(agent.url, { operations }))
    expect(learned.map(({ name }) => name)).toEqual(['x'])
    expect(agent.seen).toEqual([])
  })

  it('add schemas to the operations that a record only names, without those that are no tools, but no further operations', async () => {
    const schema = { required: ['text'] }
    const agent = await startTools({ tools: [[tool('a', schema), tool('unlisted')]] })
    const document = {
      name: 'd',
      base: agent.url,
      protocols: ['mcp'],
      capabilities: [
        { name: 'a', type: 'tool' },
        { name: 'p', type: 'prompt' },
      ],
    }
    const learned = await createLearner().learn(called(readRecord('directory', document, 'd')))
    expect(learned.map(({ name, inputs }) => [name, inputs])).toEqual([['a', { type: 'object', required: ['text'] }]])
  })

  it('have no schema if it is invalid or too expensive to check', async () => {
    const bad = [
      tool('pattern', { properties: { a: { type: 'string', pattern: '(?=a)b' } } }),
      tool('remote', { $ref: 'https://evil.example/schema' }),
      tool('wrong', { required: 'text' }),
      tool('good', { required: ['a'] }),
    ]
    const agent = await startTools({ tools: [bad] })
    const learned = await createLearner().learn(server(agent.url))
    expect(learned.map(({ name, inputs }) => [name, Object.keys(inputs)])).toEqual([
      ['pattern', ['type']],
      ['remote', ['type']],
      ['wrong', ['type']],
      ['good', ['type', 'required']],
    ])
  })

  it('are limited to a thousand, and to a maximum number of pages', async () => {
    const page = Array.from({ length: 90 }, (_, n) => tool(`t${n}`))
    const agent = await startTools({ tools: Array(100).fill(page) })
    expect(await createLearner().learn(server(agent.url))).toHaveLength(1000)
    const empty = await startTools({ tools: Array(100).fill([]) })
    expect(await createLearner().learn(server(empty.url))).toEqual([])
    expect(listRequests(empty)).toBe(20)
  })

  it.each([
    ['rejects the request', 403],
    ['fails', 500],
  ])('come from the record if the server %s, and the request is not repeated for a while', async (_, status) => {
    let calls = 0
    const agent = await startHttpAgent((_request, response) => {
      calls++
      sendJson(response, {}, status)
    })
    open.push(agent)
    const { learn, advance } = createLearner()
    expect(await learn(server(agent.url))).toEqual([])
    // A server that fails may speak the other era of MCP, so it may be asked twice.
    const first = calls
    expect([1, 2]).toContain(first)
    expect(await learn(server(agent.url))).toEqual([])
    expect(calls).toBe(first)
    advance(60_000)
    await learn(server(agent.url))
    expect(calls).toBe(2 * first)
  })

  it('come from the record if the server is not reachable', async () => {
    const agent = await startTools({})
    await agent.close()
    expect(await createLearner().learn(server(agent.url))).toEqual([])
  })
})

describe('operations of an A2A agent', () => {
  it('AD-A-01 are the skills of its card if the record has none', async () => {
    const agent = await startA2aAgent((_, publish) => publish(AgentEvent.message(message([a2aText('ok')]))))
    open.push(agent)
    const document = { name: 'd', base: agent.url, protocols: ['a2a'], capabilities: [] }
    const learned = await createLearner().learn(called(readRecord('directory', document, 'd')))
    expect(learned.map(({ name }) => name)).toEqual(['echo'])
  })

  it('come from the card if one is registered: no request is sent', async () => {
    const agent = await startA2aAgent(() => {})
    open.push(agent)
    const record = readRecord('a2a', await agent.cardOf('1.0'), 'a')
    const before = agent.seen.length
    expect((await createLearner().learn(called(record))).map(({ name }) => name)).toEqual(['echo'])
    expect(agent.seen).toHaveLength(before)
  })
})
