import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { AgentEvent, data, message, startA2aAgent } from '../gateway/a2a-agent.js'
import { startMcpAgent } from '../gateway/mcp-agent.js'
import { fixed, startAgent, type TestAgent } from '../invoke/agent.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { startServer, temporaryFolder } from '../support/process.js'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.js'

const WAIT = { timeout: 30_000, interval: 50 }

/** A span of the caller, one trace for each test. */
const callerSpan = (trace: string, flags = '01') => {
  const traceId = trace.padStart(32, 'a')
  return {
    traceId,
    spanId: 'b'.repeat(16),
    headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-${flags}`, tracestate: 'vendor=1' },
  }
}

const traced = { http: 'http', mcp: 'tools', a2a: 'echo' }
const serverJson = (url: string): JsonObject => ({
  id: traced.mcp,
  name: 'example/tools',
  description: 'tools',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url }],
})

let receiver: OtlpReceiver
let agent: TestAgent
let mcp: Awaited<ReturnType<typeof startMcpAgent>>
let a2a: Awaited<ReturnType<typeof startA2aAgent>>
/** Sends its spans to the receiver. */
let directory: TestDirectory
/** Has no receiver. */
let untraced: TestDirectory
beforeAll(async () => {
  receiver = await startOtlpReceiver()
  agent = await startAgent()
  mcp = await startMcpAgent(() => ({ content: [], structuredContent: {} }), {
    tools: [[{ name: 'translate', inputSchema: { type: 'object' } }]],
  })
  a2a = await startA2aAgent(({ contextId }, publish) => publish(AgentEvent.message(message([data({})], contextId))))
  const otlp = { url: `${receiver.url}/v1/traces`, headers: { 'x-team': 'directory' }, serviceName: 'the-directory' }
  directory = await startDirectory({ telemetry: { otlp } })
  untraced = await startDirectory()
  for (const each of [directory, untraced]) {
    const document = agent.document({ id: traced.http, name: 'Echo' })
    expect((await each.post('/agents', { as: 'tokA', body: document })).status).toBe(201)
    await each.post('/admin/import', { as: 'admin', raw: JSON.stringify(serverJson(mcp.url)) })
  }
})
afterAll(async () => {
  await directory.close()
  await untraced.close()
  await agent.close()
  await mcp.close()
  await a2a.close()
  await receiver.close()
})

/** Waits for a span of a trace. */
const spanOf = (traceId: string, name: string): Promise<ReceivedSpan> =>
  vi.waitFor(() => {
    const span = receiver.spans.find((each) => each.traceId === traceId && each.name === name)
    if (!span) throw new Error(`no span ${name} in ${receiver.spans.map((each) => each.name).join(', ')}`)
    return span
  }, WAIT)

const call = (to: TestDirectory, id: string, body: JsonObject, headers: Record<string, string>) =>
  to.post(`/agents/${id}/invoke`, { as: 'tokC', body, headers })

describe('traces over OTLP', () => {
  it('has a span for a search and one for its request, below the span of the caller', async () => {
    const { traceId, spanId, headers } = callerSpan('1')
    await directory.post('/agents/search?top=3', { body: { query: 'zebracrossing' }, headers })
    const request = await spanOf(traceId, 'POST /agents/search')
    expect(request).toMatchObject({ parentSpanId: spanId, kind: 2, service: 'the-directory' })
    expect(request.schemaUrl).toBe('https://opentelemetry.io/schemas/1.41.0')
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/agents/search',
      'http.response.status_code': 200,
      'url.scheme': 'http',
    })
    const search = await spanOf(traceId, 'search agents')
    expect(search).toMatchObject({ parentSpanId: request.spanId, kind: 1 })
    const embedding = await spanOf(traceId, 'embed query')
    expect(embedding.parentSpanId).toBe(search.spanId)
    expect(receiver.headers()).toMatchObject({ 'x-team': 'directory', 'content-type': 'application/json' })
  })

  it('has a span invoke_agent for a call, which is the parent of what the agent does', async () => {
    const { traceId, headers } = callerSpan('2')
    expect((await call(directory, traced.http, { text: 'quokkainput' }, headers)).status).toBe(200)
    const span = await spanOf(traceId, 'invoke_agent Echo')
    const request = await spanOf(traceId, 'POST /agents/:id/invoke')
    expect(span).toMatchObject({ parentSpanId: request.spanId, kind: 3, status: 0 })
    const { port } = new URL(agent.url)
    expect(span.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': traced.http,
      'gen_ai.agent.name': 'Echo',
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'switchboard.protocol': 'http',
    })
    const seen = agent.calls.at(-1)?.headers
    expect(seen?.traceparent).toBe(`00-${traceId}-${span.spanId}-01`)
    expect(seen?.tracestate).toBe('vendor=1')
  })

  it('has a span execute_tool for a call of an MCP server, which gets it in _meta', async () => {
    const { traceId, headers } = callerSpan('3')
    expect((await call(directory, traced.mcp, { operation: 'translate' }, headers)).status).toBe(200)
    const span = await spanOf(traceId, 'execute_tool translate')
    expect(span.kind).toBe(3)
    expect(span.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'translate',
      'mcp.method.name': 'tools/call',
    })
    const { body } = mcp.seen.findLast((each) => each.body.method === 'tools/call') ?? {}
    expect(body?.params).toMatchObject({
      _meta: { traceparent: `00-${traceId}-${span.spanId}-01`, tracestate: 'vendor=1' },
    })
  })

  it('passes the span on to A2A agents as headers', async () => {
    const { traceId, headers } = callerSpan('a2a')
    const card = { ...(await a2a.cardOf('1.0')), id: traced.a2a }
    await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify(card) })
    expect((await call(directory, traced.a2a, { text: 'hello' }, headers)).status).toBe(200)
    const span = await spanOf(traceId, 'invoke_agent Echo')
    expect(span.attributes['switchboard.protocol']).toBe('a2a')
    expect(a2a.seen.at(-1)).toMatchObject({ traceparent: `00-${traceId}-${span.spanId}-01`, tracestate: 'vendor=1' })
  })

  it('marks the span of a call that fails', async () => {
    const { traceId, headers } = callerSpan('4')
    const { reply } = agent
    agent.reply = fixed({ error: 'no' }, 500)
    await call(directory, traced.http, { text: 'hello' }, headers)
    agent.reply = reply
    const span = await spanOf(traceId, 'invoke_agent Echo')
    expect(span).toMatchObject({ status: 2, attributes: { 'error.type': '500' } })
  })

  it('ends the span of a stream when the stream ends', async () => {
    const { traceId, headers } = callerSpan('5')
    const { reply } = agent
    const [delayMs, margin] = [300, 50]
    agent.reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      setTimeout(() => response.end('data: 2\n\n'), delayMs)
    }
    const answer = await call(directory, traced.http, { text: 'hello', stream: true }, headers)
    agent.reply = reply
    expect(answer.text).toContain('data: 2')
    const { startTimeUnixNano: start, endTimeUnixNano: end } = Object(await spanOf(traceId, 'invoke_agent Echo'))
    expect((Number(end) - Number(start)) / 1e6).toBeGreaterThan(delayMs - margin)
  })

  it('records nothing of a trace that the caller does not record, but passes it on', async () => {
    const { traceId, headers } = callerSpan('6', '00')
    await call(directory, traced.http, { text: 'hello' }, headers)
    expect(agent.calls.at(-1)?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
    const later = callerSpan('7')
    await directory.get('/agents', { headers: later.headers })
    await spanOf(later.traceId, 'GET /agents')
    expect(receiver.spans.filter((span) => span.traceId === traceId)).toEqual([])
  })

  it('begins a trace if the caller has none, or an invalid one', async () => {
    for (const headers of [{}, { traceparent: 'nonsense' }] as Record<string, string>[]) {
      const before = receiver.spans.length
      await call(directory, traced.http, { text: 'hello' }, headers)
      const [, traceId = ''] = String(agent.calls.at(-1)?.headers.traceparent).split('-')
      expect((await spanOf(traceId, 'POST /agents/:id/invoke')).parentSpanId ?? '').toBe('')
      expect(receiver.spans.length).toBeGreaterThan(before)
    }
  })

  it('contains no texts, paths or queries, and nothing about health checks', async () => {
    const { traceId, headers } = callerSpan('8')
    await directory.get('/health/ready', { headers })
    await directory.get('/metrics', { headers })
    await directory.get('/agents?q=narwhalquery', { headers })
    await spanOf(traceId, 'GET /agents')
    for (const text of ['zebracrossing', 'quokkainput', 'narwhalquery', 'tokC', 'Bearer'])
      expect(receiver.text()).not.toContain(text)
    expect(
      receiver.spans
        .filter((span) => span.traceId === traceId)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['GET /agents', 'embed query', 'search agents'])
  })
})

it('switchboard serve sends spans to OTEL_EXPORTER_OTLP_ENDPOINT, the last ones when it stops', async () => {
  const folder = temporaryFolder()
  const own = await startOtlpReceiver()
  const server = await startServer(['--data', folder.path], {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: own.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret' },
  })
  await fetch(`${server.url}/agents`)
  expect((await server.stop()).code).toBe(0)
  expect(own.spans).toMatchObject([{ name: 'GET /agents', service: 'switchboard' }])
  expect(own.headers()['x-key']).toBe('secret')
  await own.close()
  folder.remove()
})

describe('without a receiver', () => {
  it('passes the trace of the caller on to the agent unchanged, in _meta too', async () => {
    const { headers } = callerSpan('9')
    await call(untraced, traced.http, { text: 'hello' }, headers)
    expect(agent.calls.at(-1)?.headers).toMatchObject(headers)
    await call(untraced, traced.mcp, { operation: 'translate' }, headers)
    const seen = mcp.seen.findLast(({ body }) => body.method === 'tools/call')
    expect(seen?.body.params).toMatchObject({ _meta: headers })
  })

  it('adds nothing if the caller has no trace', async () => {
    await call(untraced, traced.http, { text: 'hello' }, {})
    expect(agent.calls.at(-1)?.headers.traceparent).toBeUndefined()
    await call(untraced, traced.mcp, { operation: 'translate' }, {})
    expect(mcp.seen.findLast(({ body }) => body.method === 'tools/call')?.body.params).not.toHaveProperty('_meta')
  })
})
