import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { eachPart } from '@switchboard/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AgentCall, AgentResponse, Gateway } from '../../src/gateway/gateway.js'
import { bodyOf, callOf, createTestGateway, gather, startHttpAgent } from './agent.js'
import { type CallTool, type McpAgentOptions, startMcpAgent, text } from './mcp-agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

async function start(callTool: CallTool, options: McpAgentOptions = {}) {
  const agent = await startMcpAgent(callTool, options)
  const gateway: Gateway = createTestGateway()
  open.push(gateway, agent)
  return {
    agent,
    gateway,
    call: (changes: Partial<AgentCall> = {}) =>
      callOf({ protocol: 'mcp', url: agent.url }, { timeoutMs: 10_000, ...changes }),
  }
}

const json = (answer: AgentResponse) => (answer.kind === 'json' ? answer.value : answer.kind)
const parts = (answer: AgentResponse) =>
  answer.kind === 'stream'
    ? gather(eachPart(answer.batches))
    : Promise.reject(new Error(`no stream but ${answer.kind}`))

describe.each([
  ['events', { json: false, stateless: false }],
  ['JSON', { json: true, stateless: false }],
  ['events, without sessions', { json: false, stateless: true }],
])('an MCP server that responds with %s', (_, options) => {
  it('AIDIP00-6-02 receives the input as the arguments of the tool, and its structured content is the response', async () => {
    const { gateway, call } = await start(
      ({ name, args }) => ({ content: [], structuredContent: { name, args } }),
      options,
    )
    const input = { text: 'hello', deep: { n: [1, null] } }
    const answer = await gateway.call(call({ payload: { kind: 'json', value: input } }))
    expect(answer).toMatchObject({ kind: 'json', status: 200 })
    expect(json(answer)).toEqual({ name: 'echo', args: input })
  })

  it('has its content combined into one JSON value', async () => {
    const { gateway, call } = await start(
      () => ({
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
          { type: 'image', data: 'YWJj', mimeType: 'image/png' },
          { type: 'resource_link', uri: 'https://a.example/a.pdf', name: 'a.pdf' },
          { type: 'resource', resource: { uri: 'file:///a', text: 'abc' } },
        ],
      }),
      options,
    )
    expect(json(await gateway.call(call()))).toEqual({
      text: 'one\ntwo',
      files: [
        { mimeType: 'image/png', bytes: 'YWJj' },
        { name: 'a.pdf', uri: 'https://a.example/a.pdf' },
        { uri: 'file:///a', text: 'abc' },
      ],
    })
  })

  it('AIDIP-5.2-13 has the error of a tool reported with 500 and its message', async () => {
    const { gateway, call } = await start(() => ({ ...text('no paper'), isError: true }), options)
    expect(await gateway.call(call())).toMatchObject({
      status: 500,
      value: { error: { code: 'ToolError', message: 'no paper' } },
    })
  })

  it('has a protocol error reported with the status for its code', async () => {
    const { gateway, call } = await start(() => {
      throw Object.assign(new Error('which tool?'), { code: -32602 })
    }, options)
    expect(await gateway.call(call())).toMatchObject({ status: 400, value: { error: { code: 'InvalidInput' } } })
  })

  it('AIDIP-5.1-15 receives its own credential and the request id', async () => {
    const { agent, gateway, call } = await start(() => text('ok'), options)
    await gateway.call(call({ headers: { Authorization: 'Bearer for-the-agent', 'x-request-id': 'r1' } }))
    for (const { headers } of agent.seen) expect(headers).toMatchObject({ authorization: 'Bearer for-the-agent' })
    expect(agent.seen.at(-1)?.headers).toMatchObject({
      'x-request-id': 'r1',
      'mcp-protocol-version': '2025-11-25',
      accept: 'application/json, text/event-stream',
    })
  })
})

describe('a stream of an MCP server', () => {
  it('has progress and log messages as named events, then the result', async () => {
    const { gateway, call } = await start(async ({ token }, extra) => {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: token ?? '', progress: 1, total: 2, message: 'half' },
      })
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'hm' } })
      return { content: [], structuredContent: { done: true } }
    })
    expect(await parts(await gateway.call(call({ wantsStream: true })))).toEqual([
      { event: 'progress', data: { progress: 1, total: 2, message: 'half' } },
      { event: 'log', data: { level: 'info', data: 'hm' } },
      { data: { done: true } },
    ])
  })

  it('can end with an error', async () => {
    const { gateway, call } = await start(async ({ token }, extra) => {
      const params = { progressToken: token ?? '', progress: 1 }
      await extra.sendNotification({ method: 'notifications/progress', params })
      return { ...text('no paper'), isError: true }
    })
    expect((await parts(await gateway.call(call({ wantsStream: true })))).at(-1)).toEqual({
      event: 'error',
      data: { error: { code: 'ToolError', message: 'no paper' } },
    })
  })

  it('AIDIP-5.3-02 becomes a single response if the result comes first', async () => {
    const { gateway, call } = await start(() => text('whole'))
    expect(json(await gateway.call(call({ wantsStream: true })))).toEqual({ text: 'whole' })
  })

  it('has pings of the server answered and its other requests rejected', async () => {
    const { gateway, call } = await start(async (_, extra) => {
      const pong = await extra.sendRequest({ method: 'ping' }, ResultSchema)
      const roots = await extra
        .sendRequest({ method: 'roots/list' }, ResultSchema)
        .catch((error: Error) => error.message)
      return { content: [], structuredContent: { pong, roots } }
    })
    expect(json(await gateway.call(call()))).toEqual({ pong: {}, roots: expect.stringContaining('-32601') })
  })
})

describe('a caller of an MCP server', () => {
  it.each(['goes away', 'leaves the stream', 'has no more time'])('that %s cancels the tool call', async (how) => {
    const stopped: unknown[] = []
    const { gateway, call } = await start(async ({ token }, extra) => {
      if (token !== undefined) {
        const params = { progressToken: token, progress: 1 }
        await extra.sendNotification({ method: 'notifications/progress', params })
      }
      await new Promise((resolve) => extra.signal.addEventListener('abort', resolve))
      stopped.push(extra.signal.reason)
      return text('too late')
    })
    const caller = new AbortController()
    if (how === 'has no more time') {
      await expect(gateway.call(call({ timeoutMs: 300 }))).rejects.toMatchObject({ code: 'timeout' })
    } else {
      const answer = await gateway.call(call({ wantsStream: true, signal: caller.signal }))
      if (answer.kind !== 'stream') throw new Error('no stream')
      const reading = answer.batches[Symbol.asyncIterator]()
      await reading.next()
      if (how === 'goes away') caller.abort()
      else await reading.return?.()
    }
    await vi.waitFor(() => expect(stopped).toHaveLength(1))
  })
})

describe('sessions with an MCP server', () => {
  const initializations = (agent: { methods(): string[] }): number =>
    agent.methods().filter((method) => method === 'initialize').length

  it('are opened once for many calls with one credential, also concurrent ones', async () => {
    const { agent, gateway, call } = await start(() => text('ok'))
    const one = call({ headers: { authorization: 'Bearer a' } })
    await Promise.all([gateway.call(one), gateway.call(one), gateway.call(one)])
    await gateway.call({ ...one, headers: { ...one.headers, 'x-request-id': 'r9' } })
    expect(initializations(agent)).toBe(1)
  })

  it('AURI-8.1-02 are not shared between credentials or sessions of the caller', async () => {
    const { agent, gateway, call } = await start((_, { sessionId }) => text(sessionId ?? ''))
    const ids = []
    for (const headers of [{ authorization: 'Bearer a' }, { authorization: 'Bearer b' }, { 'x-session-id': 's1' }]) {
      ids.push(json(await gateway.call(call({ headers }))))
    }
    expect(new Set(ids.map((id) => JSON.stringify(id))).size).toBe(3)
    expect(initializations(agent)).toBe(3)
  })

  it.each([404, 400] as const)(
    'are opened again when the server has lost them and responds with %i',
    async (unknown) => {
      const { agent, gateway, call } = await start(() => text('ok'), { unknown })
      await gateway.call(call())
      agent.sessions.clear()
      expect(json(await gateway.call(call()))).toEqual({ text: 'ok' })
      expect(initializations(agent)).toBe(2)
    },
  )
})

describe('a server built with McpServer', () => {
  it('has an unknown tool reported as an error of the caller', async () => {
    const agent = await startHttpAgent(async (request, response) => {
      const server = new McpServer({ name: 'm', version: '1' })
      server.registerTool('known', { description: 'does nothing' }, () => text('ok'))
      const transport = new StreamableHTTPServerTransport({})
      await server.connect(transport)
      await transport.handleRequest(request, response, JSON.parse(await bodyOf(request)))
    })
    const gateway = createTestGateway()
    open.push(gateway, agent)
    const call = (operation: string) => gateway.call(callOf({ protocol: 'mcp', url: agent.url }, { operation }))
    expect(json(await call('known'))).toEqual({ text: 'ok' })
    expect(await call('unknown')).toMatchObject({
      status: 400,
      value: { error: { code: 'InvalidInput', message: 'Tool unknown not found' } },
    })
  })
})
