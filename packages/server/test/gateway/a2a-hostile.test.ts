import type { IncomingMessage, ServerResponse } from 'node:http'
import { eachPart, type JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../src/gateway/gateway.js'
import type { GatewayOptions } from '../../src/gateway/gateway-options.js'
import { bodyOf, callOf, createTestGateway, gather, sendJson, startHttpAgent } from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

type Answer = (request: JsonObject, response: ServerResponse, incoming: IncomingMessage) => void

/** An agent with arbitrary responses to a JSON-RPC request. */
async function start(answer: Answer, options: Partial<GatewayOptions> = {}) {
  const agent = await startHttpAgent(async (request, response) => {
    const body = await bodyOf(request)
    answer(body === '' ? {} : JSON.parse(body), response, request)
  })
  const gateway = createTestGateway({ maxBodyBytes: 100_000, maxPartBytes: 10_000, ...options })
  open.push(gateway, agent)
  return { agent, gateway, endpoint: endpointAt(agent.url) }
}

const endpointAt = (url: string): Endpoint => ({ protocol: 'a2a', url, source: { transport: 'JSONRPC' } })
const reply = ({ id }: JsonObject, result: unknown) => ({ jsonrpc: '2.0', id, result })
const messageWith = (parts: unknown) => ({ kind: 'message', role: 'agent', messageId: 'm', parts })

function sendEvents(response: ServerResponse, ...events: unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end()
}

describe('an A2A agent that violates its protocol', () => {
  const cases: [string, Answer, string][] = [
    [
      'invalid JSON',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'),
      'bad_response',
    ],
    [
      'an HTML page',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'bad_response',
    ],
    ['JSON that is not JSON-RPC', (_, response) => sendJson(response, { hello: 1 }), 'bad_response'],
    [
      'the id of another request',
      (_, response) => sendJson(response, reply({ id: 'x' }, messageWith([]))),
      'bad_response',
    ],
    [
      'neither result nor error',
      ({ id }, response) => sendJson(response, { jsonrpc: '2.0', id: id ?? 0 }),
      'bad_response',
    ],
    ['a result that is not an object', (request, response) => sendJson(response, reply(request, 7)), 'bad_response'],
    [
      'a task without a state',
      (request, response) => sendJson(response, reply(request, { kind: 'task', id: 't' })),
      'bad_response',
    ],
    [
      'deeply nested JSON',
      (request, response) => sendJson(response, reply(request, messageWith(nested(100)))),
      'bad_response',
    ],
    [
      'a result over the size limit',
      (request, response) => sendJson(response, reply(request, messageWith([{ text: 'x'.repeat(200_000) }]))),
      'too_large',
    ],
    [
      'a redirect',
      (_, response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
      'bad_response',
    ],
    [
      'a stream that was not requested',
      (request, response) => sendEvents(response, reply(request, messageWith([]))),
      'bad_response',
    ],
    ['an empty stream', (_, response) => sendEvents(response), 'bad_response'],
    ['no response', () => {}, 'timeout'],
  ]
  it.each(cases)('fails with an error after %s', async (_, answer, code) => {
    const { gateway, endpoint } = await start(answer)
    await expect(
      gateway.call(callOf(endpoint, { timeoutMs: code === 'timeout' ? 300 : 10_000 })),
    ).rejects.toMatchObject({
      name: 'GatewayError',
      code,
    })
  })

  it('fails with an error after invalid UTF-8', async () => {
    const { gateway, endpoint } = await start((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.from([0x22, 0xff, 0x22])),
    )
    await expect(gateway.call(callOf(endpoint))).rejects.toMatchObject({ code: 'bad_response' })
  })

  const streams: [string, (request: JsonObject) => unknown[], string][] = [
    ['ends before the task does', (request) => [working(request)], 'bad_response'],
    [
      'has the id of another request',
      (request) => [working(request), reply({ id: 'x' }, messageWith([]))],
      'bad_response',
    ],
    [
      'has an event over the size limit',
      (request) => [working(request), reply(request, messageWith([{ text: 'x'.repeat(20_000) }]))],
      'too_large',
    ],
  ]
  it.each(streams)('fails with an error when its stream %s', async (_, events, code) => {
    const { gateway, endpoint } = await start((request, response) => sendEvents(response, ...events(request)))
    const answer = await gateway.call(callOf(endpoint, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error('no stream')
    await expect(gather(eachPart(answer.batches))).rejects.toMatchObject({ code })
  })

  it('times out when its stream stalls', async () => {
    const { gateway, endpoint } = await start(
      (request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(working(request))}\n\n`)
      },
      { silenceMs: 200 },
    )
    const answer = await gateway.call(callOf(endpoint, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error('no stream')
    await expect(gather(eachPart(answer.batches))).rejects.toMatchObject({ code: 'timeout' })
  })

  it('AIDIP-5.2-11 keeps its error status, and an error body in an unknown form is not forwarded', async () => {
    const { gateway, endpoint } = await start((_, response) =>
      response
        .writeHead(503, { 'content-type': 'text/html', 'retry-after': '7', 'x-powered-by': 'me' })
        .end('stack trace'),
    )
    const answer = await gateway.call(callOf(endpoint))
    expect(answer).toMatchObject({ status: 503, value: { error: { code: 'AgentError' } } })
    expect(JSON.stringify(answer)).not.toContain('stack trace')
    expect(answer.headers).toEqual({ 'retry-after': '7' })
  })

  it.each([
    [-32602, 400, 'InvalidInput'],
    [-32601, 501, 'UnsupportedOperation'],
    [-32005, 415, 'UnsupportedMediaType'],
    [-32603, 500, 'AgentError'],
    [-1, 500, 'AgentError'],
  ])('has its error %i reported with status %i', async (number, status, code) => {
    const { gateway, endpoint } = await start(({ id }, response) =>
      sendJson(response, {
        jsonrpc: '2.0',
        id: id ?? null,
        error: { code: number, message: `${'long '.repeat(1000)}` },
      }),
    )
    const answer = await gateway.call(callOf(endpoint))
    expect(answer).toMatchObject({ status, value: { error: { code } } })
    expect(JSON.stringify(answer).length).toBeLessThan(3000)
  })

  it('cannot inject anything into our headers', async () => {
    const { gateway, endpoint } = await start((request, response) =>
      sendJson(response, reply(request, { ...messageWith([]), contextId: `a\r\nset-cookie: x=${'y'.repeat(1000)}` })),
    )
    const { headers } = await gateway.call(callOf(endpoint))
    expect(headers['x-session-id']).toMatch(/^[\x21-\x7e]{1,200}$/)
    expect(Object.keys(headers)).toEqual(['x-session-id'])
  })
})

describe('an A2A agent registered without version and binding', () => {
  const card = (url: string) => ({
    name: 'A',
    description: 'a',
    version: '1',
    capabilities: {},
    skills: [],
    supportedInterfaces: [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
  })

  it('AD-A-01 is called as its own card says, which is fetched once and without its credential', async () => {
    const requests: string[] = []
    const { agent, gateway } = await start((_, response, { url, headers }) => {
      requests.push(`${url} ${headers.authorization}`)
      if (url === '/team/.well-known/agent-card.json') sendJson(response, card(`${agent.url}v1`))
      else sendJson(response, { message: { role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } })
    })
    const call = callOf({ protocol: 'a2a', url: `${agent.url}team` }, { headers: { authorization: 'Bearer t' } })
    expect(await gateway.call(call)).toMatchObject({ status: 200, value: { text: 'hi' } })
    await gateway.call(call)
    expect(requests).toEqual([
      '/team/.well-known/agent-card.json undefined',
      '/v1/message:send Bearer t',
      '/v1/message:send Bearer t',
    ])
  })

  it('does not have its credential sent to another host that its card names', async () => {
    const received: unknown[] = []
    const otherHost = await startHttpAgent((request, response) => {
      received.push(request.headers.authorization)
      sendJson(response, {})
    })
    open.push(otherHost)
    const { agent, gateway } = await start((request, response, { method }) => {
      if (method === 'GET') sendJson(response, card(otherHost.url))
      else sendJson(response, reply(request, messageWith([{ text: 'mine' }])))
    })
    const call = callOf({ protocol: 'a2a', url: agent.url }, { headers: { authorization: 'Bearer t' } })
    expect(await gateway.call(call)).toMatchObject({ value: { text: 'mine' } })
    expect(received).toEqual([])
  })

  it.each([
    ['no card', (response: ServerResponse) => response.writeHead(404).end()],
    [
      'an HTML page as its card',
      (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    ],
    [
      'a card that violates the schema',
      (response: ServerResponse, url: string) => sendJson(response, { ...card(url), skills: 'all' }),
    ],
  ])('is called with 0.3 over JSON-RPC if it has %s', async (_, sendCard) => {
    const methods: unknown[] = []
    const { agent, gateway } = await start((request, response, { method }) => {
      methods.push(request.method ?? method)
      if (method === 'GET') sendCard(response, agent.url)
      else sendJson(response, reply(request, messageWith([{ text: 'old' }])))
    })
    const answer = await gateway.call(callOf({ protocol: 'a2a', url: `${agent.url}a` }))
    expect(answer).toMatchObject({ value: { text: 'old' } })
    expect(methods).toEqual(['GET', 'GET', 'message/send'])
  })
})

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth))
}

const working = (request: JsonObject) =>
  reply(request, { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'working' } })
