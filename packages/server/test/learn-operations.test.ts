import { type JsonObject, readRecord } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createLearnOperations } from '../src/services/calls/learn-operations.js'
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
  const learn = createLearnOperations({ fetch: gateway.fetch, now: () => at, newId: () => `id-${at}` })
  return {
    learn,
    pass: (ms: number) => {
      at += ms
    },
  }
}

async function startTools(options: McpAgentOptions) {
  const agent = await startMcpAgent(() => text('ok'), options)
  open.push(agent)
  return agent
}

const server = (url: string, more: JsonObject = {}) => ({
  record: readRecord(
    'mcp',
    { name: 'm', description: '', version: '1', remotes: [{ type: 'streamable-http', url }], ...more },
    'm',
  ),
})
const asked = (agent: { asked(): string[] }): number => agent.asked().filter((method) => method === 'tools/list').length

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

  it('are asked for once, and anew behind the back of a caller who comes later', async () => {
    const tools = [[tool('old')]]
    const agent = await startTools({ tools })
    const { learn, pass } = createLearner()
    const names = async () => (await learn(server(agent.url))).map(({ name }) => name)
    expect([await names(), await names()]).toEqual([['old'], ['old']])
    expect(asked(agent)).toBe(1)
    tools[0] = [tool('new')]
    pass(3_600_000)
    expect(await names()).toEqual(['old'])
    await expect.poll(names).toEqual(['new'])
    expect(asked(agent)).toBe(2)
  })

  it('are asked for with the credential, and what one is told another is not', async () => {
    const agent = await startTools({ tools: [[tool('a')]] })
    const { learn } = createLearner()
    await learn(server(agent.url), { headers: { authorization: 'Bearer a' } })
    await learn(server(agent.url), { headers: { authorization: 'Bearer b' } })
    expect(asked(agent)).toBe(2)
    const list = agent.seen.filter(({ body }) => body.method === 'tools/list')
    expect(list.map(({ headers }) => headers.authorization)).toEqual(['Bearer a', 'Bearer b'])
  })

  it('leave no session behind', async () => {
    const agent = await startTools({ tools: [[tool('a')]] })
    await createLearner().learn(server(agent.url))
    await expect.poll(() => agent.sessions.size).toBe(0)
    expect(agent.asked()).toContain('DELETE')
  })

  it('are those of the record where it describes their inputs: nobody is asked', async () => {
    const agent = await startTools({ tools: [[tool('a')]] })
    const operations = [{ name: 'x', inputs: { text: 'string' }, outputs: { text: 'string' } }]
    const told = await createLearner().learn(server(agent.url, { operations }))
    expect(told.map(({ name }) => name)).toEqual(['x'])
    expect(agent.seen).toEqual([])
  })

  it('add their schemas to those that a record only names, and are no more than those', async () => {
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
    const told = await createLearner().learn({ record: readRecord('directory', document, 'd') })
    expect(told.map(({ name, inputs }) => [name, inputs])).toEqual([
      ['a', { type: 'object', required: ['text'] }],
      ['p', { type: 'object' }],
    ])
  })

  it('lose a schema that would cost too much, or is none', async () => {
    const bad = [
      tool('pattern', { properties: { a: { type: 'string', pattern: '(?=a)b' } } }),
      tool('remote', { $ref: 'https://evil.example/schema' }),
      tool('wrong', { required: 'text' }),
      tool('good', { required: ['a'] }),
    ]
    const agent = await startTools({ tools: [bad] })
    const told = await createLearner().learn(server(agent.url))
    expect(told.map(({ name, inputs }) => [name, Object.keys(inputs)])).toEqual([
      ['pattern', ['type']],
      ['remote', ['type']],
      ['wrong', ['type']],
      ['good', ['type', 'required']],
    ])
  })

  it('are at most a thousand, and pages without end are not turned for ever', async () => {
    const page = Array.from({ length: 90 }, (_, n) => tool(`t${n}`))
    const agent = await startTools({ tools: Array(100).fill(page) })
    expect(await createLearner().learn(server(agent.url))).toHaveLength(1000)
    const empty = await startTools({ tools: Array(100).fill([]) })
    expect(await createLearner().learn(server(empty.url))).toEqual([])
    expect(asked(empty)).toBe(20)
  })

  it.each([
    ['refuses', 403],
    ['is broken', 500],
  ])('are those of the record where the server %s, and it is left alone for a while', async (_, status) => {
    let calls = 0
    const agent = await startHttpAgent((_request, response) => {
      calls++
      sendJson(response, {}, status)
    })
    open.push(agent)
    const { learn, pass } = createLearner()
    expect([await learn(server(agent.url)), await learn(server(agent.url))]).toEqual([[], []])
    expect(calls).toBe(1)
    pass(60_000)
    await learn(server(agent.url))
    expect(calls).toBe(2)
  })

  it('are those of the record where nobody is there', async () => {
    const agent = await startTools({})
    await agent.close()
    expect(await createLearner().learn(server(agent.url))).toEqual([])
  })
})

describe('operations of an A2A agent', () => {
  it('AD-A-01 are the skills of its own card where the record has none', async () => {
    const agent = await startA2aAgent((_, publish) => publish(AgentEvent.message(message([a2aText('ok')]))))
    open.push(agent)
    const document = { name: 'd', base: agent.url, protocols: ['a2a'], capabilities: [] }
    const told = await createLearner().learn({ record: readRecord('directory', document, 'd') })
    expect(told.map(({ name }) => name)).toEqual(['echo'])
  })

  it('are those of a registered card: nobody is asked', async () => {
    const agent = await startA2aAgent(() => {})
    open.push(agent)
    const record = readRecord('a2a', await agent.cardOf('1.0'), 'a')
    const before = agent.seen.length
    expect((await createLearner().learn({ record })).map(({ name }) => name)).toEqual(['echo'])
    expect(agent.seen).toHaveLength(before)
  })
})
