import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js'
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
    call: (changes: Partial<AgentCall> = {}) => callOf({ protocol: 'mcp', url: agent.url }, changes),
  }
}

const json = (answer: AgentResponse) => (answer.kind === 'json' ? answer.value : answer.kind)
const parts = (answer: AgentResponse) =>
  answer.kind === 'stream' ? gather(answer.parts) : Promise.reject(new Error(`no stream but ${answer.kind}`))

describe.each([
  ['events', { json: false, stateless: false }],
  ['JSON', { json: true, stateless: false }],
  ['events, without sessions', { json: false, stateless: true }],
])('an MCP server that answers in %s', (_, options) => {
  it('AIDIP00-6-02 gets the input as the arguments of the tool, and its structured content is the answer', async () => {
    const { gateway, call } = await start(
      ({ name, args }) => ({ content: [], structuredContent: { name, args } }),
      options,
    )
    const input = { text: 'hello', deep: { n: [1, null] } }
    const answer = await gateway.call(call({ payload: { kind: 'json', value: input } }))
    expect(answer).toMatchObject({ kind: 'json', status: 200 })
    expect(json(answer)).toEqual({ name: 'echo', args: input })
  })

  it('answers content in the form of a plain agent', async () => {
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

  it('AIDIP-5.2-13 answers the error of a tool with 500 and what it says', async () => {
    const { gateway, call } = await start(() => ({ ...text('no paper'), isError: true }), options)
    expect(await gateway.call(call())).toMatchObject({
      status: 500,
      value: { error: { code: 'ToolError', message: 'no paper' } },
    })
  })

  it('answers an error of the protocol with the status of its code', async () => {
    const { gateway, call } = await start(() => {
      throw Object.assign(new Error('which tool?'), { code: -32602 })
    }, options)
    expect(await gateway.call(call())).toMatchObject({ status: 400, value: { error: { code: 'InvalidInput' } } })
  })

  it('AIDIP-5.1-15 is shown the credential that was meant for it, and the request id', async () => {
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
  it('has progress and log by name, then the result', async () => {
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

  it('tells an error at its end', async () => {
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

  it('AIDIP-5.3-02 is none if the result comes first: it is answered whole', async () => {
    const { gateway, call } = await start(() => text('whole'))
    expect(json(await gateway.call(call({ wantsStream: true })))).toEqual({ text: 'whole' })
  })

  it('answers what the server asks meanwhile: it is alive, and offers nothing', async () => {
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
  it.each(['goes away', 'leaves the stream', 'has no more time'])('who %s has the tool told to stop', async (how) => {
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
      const reading = answer.parts[Symbol.asyncIterator]()
      await reading.next()
      if (how === 'goes away') caller.abort()
      else await reading.return?.()
    }
    await vi.waitFor(() => expect(stopped).toHaveLength(1))
  })
})

describe('sessions with an MCP server', () => {
  const initializations = (agent: { asked(): string[] }): number =>
    agent.asked().filter((method) => method === 'initialize').length

  it('are opened once for many calls of one credential, at the same time too', async () => {
    const { agent, gateway, call } = await start(() => text('ok'))
    const one = call({ headers: { authorization: 'Bearer a' } })
    await Promise.all([gateway.call(one), gateway.call(one), gateway.call(one)])
    await gateway.call({ ...one, headers: { ...one.headers, 'x-request-id': 'r9' } })
    expect(initializations(agent)).toBe(1)
  })

  it('AURI-8.1-02 are not shared by credentials, nor by sessions of the caller', async () => {
    const { agent, gateway, call } = await start((_, { sessionId }) => text(sessionId ?? ''))
    const ids = []
    for (const headers of [{ authorization: 'Bearer a' }, { authorization: 'Bearer b' }, { 'x-session-id': 's1' }]) {
      ids.push(json(await gateway.call(call({ headers }))))
    }
    expect(new Set(ids.map((id) => JSON.stringify(id))).size).toBe(3)
    expect(initializations(agent)).toBe(3)
  })

  it.each([404, 400] as const)('are opened anew when the server has forgotten them and says %i', async (unknown) => {
    const { agent, gateway, call } = await start(() => text('ok'), { unknown })
    await gateway.call(call())
    agent.sessions.clear()
    expect(json(await gateway.call(call()))).toEqual({ text: 'ok' })
    expect(initializations(agent)).toBe(2)
  })
})

describe('a server made with McpServer', () => {
  it('has its refusal of an unknown tool told as the caller’s fault', async () => {
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
