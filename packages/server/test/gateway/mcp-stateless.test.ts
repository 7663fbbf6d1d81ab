import { inputRequired } from '@modelcontextprotocol/server'
import { eachPart, type JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AgentCall, AgentResponse } from '../../src/gateway/gateway.js'
import { sendOverFetch } from '../../src/gateway/http/send-over-fetch.js'
import { listTools } from '../../src/gateway/transports/mcp/list-tools.js'
import { bodyOf, callOf, createTestGateway, gather, sendJson, startHttpAgent } from './agent.js'
import { startMcpAgent, text } from './mcp-agent.js'
import { type CallStatelessTool, startStatelessMcpAgent } from './mcp-stateless-agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

async function start(callTool: CallStatelessTool, options: Parameters<typeof startStatelessMcpAgent>[1] = {}) {
  const agent = await startStatelessMcpAgent(callTool, options)
  const gateway = createTestGateway()
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
const input = (value: JsonObject) => ({ payload: { kind: 'json' as const, value } })

describe.each(['reject', 'stateless'] as const)('a server of MCP 2026-07-28, with earlier versions: %s', (legacy) => {
  it('is called without a handshake and without a session', async () => {
    const { agent, gateway, call } = await start(
      ({ name, arguments: args }) => ({ content: [], structuredContent: { name, args } }),
      { legacy },
    )
    for (const n of [1, 2]) {
      const answer = await gateway.call(call({ ...input({ n }), caller: `caller ${n}` }))
      expect(answer).toMatchObject({ kind: 'json', status: 200, value: { name: 'echo', args: { n } } })
    }
    expect(agent.methods()).toEqual(['server/discover', 'tools/call', 'tools/call'])
    expect(agent.seen.at(-1)?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    })
    expect(agent.seen.at(-1)?.headers).not.toHaveProperty('mcp-session-id')
  })

  it.each(['übersetze', ' echo', '=?base64?eA==?=', 'a b'])('has a tool named %j called', async (operation) => {
    const { gateway, call } = await start(({ name }) => text(name), { legacy })
    expect(json(await gateway.call(call({ operation })))).toEqual({ text: operation })
  })

  it('streams progress and log messages, then the result', async () => {
    const { gateway, call } = await start(
      async ({ _meta }, { mcpReq }) => {
        const progressToken = _meta?.progressToken ?? ''
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, total: 2, message: 'half' },
        })
        await mcpReq.log('info', 'hm')
        return { content: [], structuredContent: { done: true } }
      },
      { legacy },
    )
    expect(await parts(await gateway.call(call({ wantsStream: true })))).toEqual([
      { event: 'progress', data: { progress: 1, total: 2, message: 'half' } },
      { event: 'log', data: { level: 'info', data: 'hm' } },
      { data: { done: true } },
    ])
  })

  it.each(['goes away', 'leaves the stream', 'has no more time'])(
    'sees that the call is cancelled if its caller %s',
    async (how) => {
      let isStopped = false
      const { agent, gateway, call } = await start(
        async ({ _meta }, { mcpReq }) => {
          const progressToken = _meta?.progressToken
          if (progressToken !== undefined)
            await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
          await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve))
          isStopped = true
          return text('too late')
        },
        { legacy },
      )
      const caller = new AbortController()
      if (how === 'has no more time') {
        await expect(gateway.call(call({ timeoutMs: 1500 }))).rejects.toMatchObject({ code: 'timeout' })
      } else {
        const answer = await gateway.call(call({ wantsStream: true, signal: caller.signal }))
        if (answer.kind !== 'stream') throw new Error('no stream')
        const reading = answer.batches[Symbol.asyncIterator]()
        await reading.next()
        if (how === 'goes away') caller.abort()
        else await reading.return?.()
      }
      await vi.waitFor(() => expect(isStopped).toBe(true))
      expect(agent.methods()).not.toContain('notifications/cancelled')
    },
  )
})

describe('a result of MCP 2026-07-28', () => {
  it('is structured content with the files beside it', async () => {
    const link = { type: 'resource_link' as const, uri: 'https://a.example/a.pdf', name: 'a.pdf', size: 7 }
    const { gateway, call } = await start(() => ({ content: [link], structuredContent: { pages: 2 } }))
    expect(json(await gateway.call(call()))).toEqual({
      pages: 2,
      files: [{ name: 'a.pdf', uri: 'https://a.example/a.pdf', size: 7 }],
    })
  })

  it('that requires input is passed on with its questions, and the caller answers with the next call', async () => {
    const { gateway, call } = await start(({ arguments: args }, { mcpReq }) => {
      const { where } = mcpReq.inputResponses ?? {}
      const state = mcpReq.requestState()
      if (where) return { content: [], structuredContent: { args, where, state } }
      const requestedSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
      return inputRequired({
        inputRequests: { where: inputRequired.elicit({ message: 'Where?', requestedSchema }) },
        requestState: 'state-1',
      })
    })
    const asked = await gateway.call(call(input({ days: 3 })))
    expect(asked).toMatchObject({
      status: 200,
      value: {
        status: 'input-required',
        inputRequests: { where: { method: 'elicitation/create', params: { message: 'Where?' } } },
        requestState: 'state-1',
      },
    })
    const inputResponses = { where: { action: 'accept', content: { city: 'Rome' } } }
    const answered = await gateway.call(call(input({ days: 3, inputResponses, requestState: 'state-1' })))
    expect(json(answered)).toMatchObject({ args: { days: 3 }, where: inputResponses.where, state: 'state-1' })
  })

  it('that is an error has the status for its code', async () => {
    const { gateway, call } = await start(() => {
      throw Object.assign(new Error('which tool?'), { code: -32602 })
    })
    expect(await gateway.call(call())).toMatchObject({ status: 400, value: { error: { code: 'InvalidInput' } } })
  })
})

describe('the version of an MCP server', () => {
  it('is looked for once, for all callers', async () => {
    const agent = await startMcpAgent(() => text('ok'))
    const gateway = createTestGateway()
    open.push(gateway, agent)
    for (const caller of ['a', 'b'])
      expect(json(await gateway.call(callOf({ protocol: 'mcp', url: agent.url }, { caller })))).toEqual({ text: 'ok' })
    expect(agent.methods().filter((method) => method === 'server/discover')).toHaveLength(1)
    expect(agent.methods().filter((method) => method === 'initialize')).toHaveLength(2)
  })

  it('is looked for again when the server no longer speaks it', async () => {
    let answer = 'modern'
    const modern = await startStatelessMcpAgent(() => text('modern'))
    const earlier = await startMcpAgent(() => text('earlier'), { stateless: true })
    const front = await startHttpAgent(async (request, response) => {
      const body = await bodyOf(request)
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
      const kept = headers.filter(([name]) => !['host', 'connection', 'content-length'].includes(name))
      const { url } = answer === 'modern' ? modern : earlier
      const from = await fetch(url, { method: 'POST', headers: kept, body })
      const type = from.headers.get('content-type')
      response.writeHead(from.status, type === null ? {} : { 'content-type': type }).end(await from.text())
    })
    const gateway = createTestGateway()
    open.push(gateway, front, modern, earlier)
    const call = () => gateway.call(callOf({ protocol: 'mcp', url: front.url }))
    expect(json(await call())).toEqual({ text: 'modern' })
    answer = 'earlier'
    expect(json(await call())).toEqual({ text: 'earlier' })
  })

  it.each([
    ['names its versions', -32022, { supported: ['2031-01-01', '2030-01-01'], requested: '2026-07-28' }],
    ['names them as servers did before 2026', -32602, { supported: ['2031-01-01', '2030-01-01'] }],
  ])('that is not ours yields 502 with the versions of both, if it %s', async (_, code, data) => {
    const agent = await startHttpAgent(async (request, response) => {
      const { id } = JSON.parse(await bodyOf(request))
      sendJson(response, { jsonrpc: '2.0', id, error: { code, message: 'no', data } }, 400)
    })
    const gateway = createTestGateway()
    open.push(gateway, agent)
    const message = expect.stringMatching(/speaks MCP 2031-01-01, 2030-01-01; .* 2026-07-28, 2025-11-25/)
    expect(await gateway.call(callOf({ protocol: 'mcp', url: agent.url }))).toMatchObject({
      status: 502,
      value: { error: { code: 'UnsupportedVersion', message } },
    })
  })

  it('that is agreed on by a handshake and not ours yields 502 too', async () => {
    const agent = await startHttpAgent(async (request, response) => {
      const { id, method } = JSON.parse(await bodyOf(request))
      const result = { protocolVersion: '2023-01-01', capabilities: {}, serverInfo: { name: 'x', version: '1' } }
      if (method === 'initialize') sendJson(response, { jsonrpc: '2.0', id, result })
      else sendJson(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } })
    })
    const gateway = createTestGateway()
    open.push(gateway, agent)
    expect(await gateway.call(callOf({ protocol: 'mcp', url: agent.url }))).toMatchObject({
      status: 502,
      value: { error: { message: expect.stringContaining('speaks MCP 2023-01-01; ') } },
    })
  })
})

it('the tools of a server of MCP 2026-07-28 are listed', async () => {
  const inputSchema = { type: 'object' as const, properties: { n: { type: 'number' } } }
  const agent = await startStatelessMcpAgent(() => text('ok'), { tools: [{ name: 'count', inputSchema }] })
  open.push(agent)
  const deps = { sendRequest: sendOverFetch(fetch), newId: () => 'i' }
  const operations = await listTools(deps, { url: agent.url, headers: {} }, AbortSignal.timeout(5000))
  expect(operations).toEqual([{ name: 'count', inputs: inputSchema, outputs: { type: 'object' } }])
})
