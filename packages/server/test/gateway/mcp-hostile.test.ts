import type { ServerResponse } from 'node:http'
import { eachPart, type JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bodyOf, callOf, createTestGateway, gather, sendJson, startHttpAgent } from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

type Answer = (request: JsonObject, response: ServerResponse) => void

const reply = ({ id }: JsonObject, result: unknown) => ({ jsonrpc: '2.0', id, result })
const welcome: Answer = (request, response) =>
  sendJson(response, reply(request, { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {} }), 200, {
    'mcp-session-id': 's1',
  })

/** A server with arbitrary responses. */
async function start({
  initialize = welcome,
  tool = () => {},
  other = () => {},
}: {
  initialize?: Answer
  tool?: Answer
  other?: (message: JsonObject) => void
}) {
  const methods: string[] = []
  const agent = await startHttpAgent(async (request, response) => {
    const body = JSON.parse((await bodyOf(request)) || '{}')
    methods.push(body.method)
    if (body.method === 'initialize') initialize(body, response)
    else if (body.method === 'tools/call') tool(body, response)
    else {
      if (body.method === undefined) other(body)
      response.writeHead(202).end()
    }
  })
  const gateway = createTestGateway({ maxBodyBytes: 100_000, maxPartBytes: 10_000 })
  open.push(gateway, agent)
  return { methods, gateway, endpoint: { protocol: 'mcp' as const, url: agent.url } }
}

function sendEvents(response: ServerResponse, ...events: unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end()
}

const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }
const tooMuch = (request: JsonObject) => reply(request, { content: [{ type: 'text', text: 'x'.repeat(200_000) }] })

describe('an MCP server that violates its protocol', () => {
  const cases: [string, Answer, string][] = [
    [
      'invalid JSON',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'bad_response',
    ],
    [
      'an HTML page',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'bad_response',
    ],
    ['202 without a body', (_, response) => response.writeHead(202).end(), 'bad_response'],
    ['the id of another request', (_, response) => sendJson(response, reply({ id: 'x' }, {})), 'bad_response'],
    ['a result that is not an object', (request, response) => sendJson(response, reply(request, [])), 'bad_response'],
    ['a result over the size limit', (request, response) => sendJson(response, tooMuch(request)), 'too_large'],
    ['an event over the size limit', (request, response) => sendEvents(response, tooMuch(request)), 'too_large'],
    ['a stream without a result', (_, response) => sendEvents(response, progress, progress), 'bad_response'],
    ['a redirect', (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(), 'bad_response'],
    ['no response', () => {}, 'timeout'],
  ]
  it.each(cases)('fails with an error after %s to a tool call', async (_, tool, code) => {
    const { gateway, endpoint } = await start({ tool })
    await expect(
      gateway.call(callOf(endpoint, { timeoutMs: code === 'timeout' ? 400 : 10_000 })),
    ).rejects.toMatchObject({
      name: 'GatewayError',
      code,
    })
  })

  it.each(cases)('fails with an error after %s to initialize', async (_, initialize, code) => {
    const { gateway, endpoint } = await start({ initialize })
    await expect(
      gateway.call(callOf(endpoint, { timeoutMs: code === 'timeout' ? 400 : 10_000 })),
    ).rejects.toMatchObject({
      name: 'GatewayError',
      code,
    })
  })

  it.each(['1999-01-01', undefined])('fails with an error for version %s', async (protocolVersion) => {
    const { gateway, endpoint, methods } = await start({
      initialize: (request, response) => sendJson(response, reply(request, { protocolVersion })),
    })
    expect(await gateway.call(callOf(endpoint))).toMatchObject({
      status: 502,
      value: { error: { code: 'UnsupportedVersion' } },
    })
    expect(methods).toEqual(['server/discover', 'initialize'])
  })

  it('fails with an error when its stream ends before the result', async () => {
    const { gateway, endpoint } = await start({ tool: (_, response) => sendEvents(response, progress) })
    const answer = await gateway.call(callOf(endpoint, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error('no stream')
    await expect(gather(eachPart(answer.batches))).rejects.toMatchObject({ code: 'bad_response' })
  })

  it('has its status kept when it rejects initialize, which the next call repeats', async () => {
    let isClosed = true
    const { gateway, endpoint } = await start({
      initialize: (request, response) => {
        if (isClosed) response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('stack trace')
        else welcome(request, response)
      },
      tool: (request, response) => sendJson(response, reply(request, { content: [{ type: 'text', text: 'ok' }] })),
    })
    const answer = await gateway.call(callOf(endpoint))
    expect(answer).toMatchObject({ kind: 'json', status: 401, value: { error: { code: 'AgentError' } } })
    expect(JSON.stringify(answer)).not.toContain('stack')
    isClosed = false
    expect(await gateway.call(callOf(endpoint))).toMatchObject({ status: 200, value: { text: 'ok' } })
  })

  it('is called only twice if it drops each session at once', async () => {
    const { gateway, endpoint, methods } = await start({ tool: (_, response) => response.writeHead(404).end() })
    expect(await gateway.call(callOf(endpoint))).toMatchObject({
      status: 404,
      value: { error: { code: 'AgentError' } },
    })
    expect(methods.filter((method) => method === 'tools/call')).toHaveLength(2)
  })

  it('receives replies to only a few of its requests', async () => {
    const pings = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
    let replies = 0
    const { gateway, endpoint } = await start({
      tool: async (request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        if (replies === 0) for (const ping of pings) response.write(`data: ${JSON.stringify(ping)}\n\n`)
        await vi.waitFor(() => expect(replies).toBeGreaterThanOrEqual(20))
        response.end(`data: ${JSON.stringify(reply(request, { content: [] }))}\n\n`)
      },
      other: () => {
        replies++
      },
    })
    // Enough further calls that more replies would have arrived by now, if there were any.
    for (let n = 0; n < 10; n++) expect(await gateway.call(callOf(endpoint))).toMatchObject({ status: 200, value: {} })
    expect(replies).toBe(20)
  })
})

describe('a call that MCP cannot carry', () => {
  it('is rejected before anything is sent: bytes, and HTTP+SSE', async () => {
    const { gateway, endpoint, methods } = await start({})
    const payload = { kind: 'bytes' as const, contentType: 'image/png', body: Buffer.from('x') }
    await expect(gateway.call(callOf(endpoint, { payload }))).rejects.toMatchObject({ code: 'not_invocable' })
    const old = { ...endpoint, source: { type: 'sse' } }
    await expect(gateway.call(callOf(old))).rejects.toMatchObject({ code: 'not_invocable' })
    expect(methods).toEqual([])
  })

  it('returns 400 if the input is not an object', async () => {
    const { gateway, endpoint, methods } = await start({})
    const answer = await gateway.call(callOf(endpoint, { payload: { kind: 'json', value: ['a'] } }))
    expect(answer).toMatchObject({ status: 400, value: { error: { code: 'InvalidInput' } } })
    expect(methods).toEqual([])
  })
})
