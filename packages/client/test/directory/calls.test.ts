import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type DirectoryCallOptions } from '../../src/index.js'
import {
  always,
  codeOf,
  collect,
  fakeRetry,
  type Handler,
  type Seen,
  sendJson,
  startPlainHost,
} from '../transports/support/agent-host.js'

/** A small real server that behaves like a gateway (C-57 to C-62), and one that is the agent behind it. */
let gateway: Awaited<ReturnType<typeof startPlainHost>>
let agent: Awaited<ReturnType<typeof startPlainHost>>
let documents: Record<string, JsonObject>
let onCall: Handler

beforeAll(async () => {
  const act: Handler = (seen, response) => onCall(seen, response)
  agent = await startPlainHost(act)
  gateway = await startPlainHost((seen, response) => {
    const [, , id = '', ...rest] = seen.url.split('?')[0]?.split('/') ?? []
    const document = documents[decodeURIComponent(id)]
    if (!document) return sendJson(response, 404, { error: { code: 'NotFound', message: 'no such agent' } })
    if (rest.length === 0) return sendJson(response, 200, document)
    act(seen, response)
  })
})
afterAll(async () => {
  await Promise.all([gateway.close(), agent.close()])
})
beforeEach(() => {
  documents = { translator: translator() }
  onCall = ({ json }, response) => sendJson(response, 200, { translated_text: `<${json.text}>` })
  gateway.seen.length = 0
  agent.seen.length = 0
})

const translator = (more: JsonObject = {}): JsonObject => ({
  id: 'translator',
  name: 'Translator',
  endpoint: `${agent.url}/translate`,
  operations: [{ name: 'translate', inputs: {}, outputs: {} }],
  status: 'active',
  ...more,
})
const client = () => createClient({ baseUrl: gateway.url, token: 'gateway-key', retry: fakeRetry().retry })
const input = { text: 'Hello', source_language: 'en', target_language: 'fr' }
const direct: DirectoryCallOptions = { mode: 'direct', httpLoopback: true }
const calls = (): Seen[] => gateway.seen.filter(({ method }) => method === 'POST')

describe('calls through the gateway', () => {
  it('AIDIP-5.1-01 AIDIP-10-03 AIDIP00-6-04 POSTs the input to the path of the agent', async () => {
    const reply = await client().invoke({ id: 'translator' }, input)
    expect(reply.output).toEqual({ translated_text: '<Hello>' })
    expect(calls()[0]).toMatchObject({ method: 'POST', url: '/agents/translator/invoke', json: input })
    expect(agent.seen).toEqual([])
  })

  it('AIDIP-5.1-03 AIDIP00-6-01 sends application/json, or the content type of bytes', async () => {
    await client().invoke('translator', input)
    onCall = always(null)
    await client().invoke('translator', new Uint8Array([1, 2]), { contentType: 'image/png' })
    expect(calls().map(({ headers }) => headers['content-type'])).toEqual(['application/json', 'image/png'])
  })

  it('AIDIP-5.1-15 AIDIP00-6-05 sends the given ids, which do not change the result', async () => {
    const plain = await client().invoke('translator', input)
    const traced = await client().invoke('translator', input, {
      requestId: 'r1',
      sessionId: 's1',
      taskId: 't1',
      version: '1.0.0',
      idempotencyKey: 'k1',
      delegationChain: 'a,b',
    })
    expect(traced.output).toEqual(plain.output)
    expect(calls()[1]?.headers).toMatchObject({
      'x-request-id': 'r1',
      'x-session-id': 's1',
      'x-task-id': 't1',
      'x-agent-version': '1.0.0',
      'idempotency-key': 'k1',
      'x-delegation-chain': 'a,b',
    })
  })

  it('names the operation in the path, even if it has the name of another route', async () => {
    await client().invoke('translator', input, { operation: 'detect language' })
    await client().invoke('translator', input, { operation: 'feedback' })
    expect(calls().map(({ url }) => url)).toEqual([
      '/agents/translator/detect%20language',
      '/agents/translator/operations/feedback',
    ])
  })

  it('keeps the credentials for gateway and agent separate', async () => {
    await client().invoke('translator', input, { credentials: { type: 'api_key', key: 'agent-key' } })
    await client().invoke('translator', input, { credentials: { type: 'bearer', token: 'agent-token' } })
    const [first, second] = calls()
    expect(first?.headers).toMatchObject({ authorization: 'Bearer gateway-key', 'x-api-key': 'agent-key' })
    expect(second?.headers).toMatchObject({
      authorization: 'Bearer gateway-key',
      'x-agent-authorization': 'Bearer agent-token',
    })
  })

  it('does not present the key of the agent as one for the directory if it has none for that', async () => {
    const { invoke } = createClient({ baseUrl: gateway.url })
    await invoke('translator', input, { credentials: { type: 'api_key', key: 'agent-key' } })
    expect(calls()[0]?.headers).toMatchObject({ 'x-agent-api-key': 'agent-key' })
    expect(calls()[0]?.headers).not.toHaveProperty('x-api-key')
  })

  it('returns a batch unchanged, including failures of single items', async () => {
    const mixed = [{ ok: 1 }, { error: { code: 'InvalidInput', message: 'no text' } }]
    onCall = always(mixed, 207)
    expect(await client().invoke('translator', [input, {}])).toMatchObject({ status: 207, output: mixed })
  })

  it('streams events', async () => {
    onCall = (_seen, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('data: {"text":"a"}\n\ndata: {"text":"b"}\n\n')
    expect(await collect(client().stream('translator', input))).toEqual([
      { data: { text: 'a' } },
      { data: { text: 'b' } },
    ])
    expect(calls()[0]?.headers.accept).toMatch(/^text\/event-stream/)
  })

  it('waits for a deferred response with the same credential', async () => {
    documents.tasks = {}
    onCall = ({ method }, response) =>
      method === 'POST'
        ? sendJson(
            response,
            202,
            { taskId: 't1', status: 'pending', pollInterval: 1 },
            { location: '/agents/tasks/t1' },
          )
        : sendJson(response, 200, { taskId: 't1', status: 'completed', result: 'late' })
    const statuses: unknown[] = []
    const onTask = (task: unknown) => statuses.push(Object(task).status)
    expect((await client().invoke('translator', input, { respondAsync: true, onTask })).output).toBe('late')
    expect(statuses).toEqual(['pending', 'completed'])
    expect(gateway.seen.at(-1)).toMatchObject({
      url: '/agents/tasks/t1',
      headers: { authorization: 'Bearer gateway-key' },
    })
  })

  it('AIDIP-5.3-07 retries a call only with an idempotency key', async () => {
    onCall = (_seen, response) => response.destroy()
    expect(await codeOf(client().invoke('translator', input))).toBe('unreachable')
    expect(calls()).toHaveLength(1)
    expect(await codeOf(client().invoke('translator', input, { idempotencyKey: 'k' }))).toBe('unreachable')
    expect(calls()).toHaveLength(4)
  })

  it('AIDIP-9-10 does not call an uncertified agent if the policy requires certification', async () => {
    expect(await codeOf(client().invoke('translator', input, { requireCertified: true }))).toBe('permission_denied')
    documents.translator = translator({ certification: { verified: true }, quality_score: 5 })
    expect(await codeOf(client().invoke('translator', input, { requireCertified: true }))).toBe('permission_denied')
    expect(await codeOf(client().invoke('translator', input, { minQuality: 4 }))).toBe('permission_denied')
    expect(calls()).toEqual([])
    documents.translator = translator({ verification: { state: 'verified', quality_score: 4.5 } })
    expect((await client().invoke('translator', input, { requireCertified: true, minQuality: 4 })).status).toBe(200)
  })
})

describe('direct calls', () => {
  it('AIDIP00-3-02 reach the agent’s host instead of the gateway, with the same result', async () => {
    const through = await client().invoke('translator', input)
    const own = await client().invoke('translator', input, direct)
    expect(own.output).toEqual(through.output)
    expect(agent.seen).toMatchObject([{ method: 'POST', url: '/translate', json: input }])
    expect(calls()).toHaveLength(1)
    expect(agent.seen[0]?.headers.authorization).toBeUndefined()
  })

  it('AIDIP-5.1-04 send the credential that the metadata requires', async () => {
    const sent = async (authentication: JsonValue, credential: DirectoryCallOptions['credentials']) => {
      agent.seen.length = 0
      documents.translator = translator({ authentication })
      await client().invoke('translator', input, { ...direct, ...(credential && { credentials: credential }) })
      const { authorization, 'x-api-key': key } = agent.seen[0]?.headers ?? {}
      return { authorization, key }
    }
    const [bearer, key] = [
      { type: 'bearer', token: 't' },
      { type: 'api_key', key: 'k' },
    ] as const
    expect(await sent({ type: 'oauth2_bearer' }, bearer)).toEqual({ authorization: 'Bearer t', key: undefined })
    expect(await sent({ type: 'api_key' }, key)).toEqual({ authorization: undefined, key: 'k' })
    expect(await sent('API Key', key)).toEqual({ authorization: undefined, key: 'k' })
    await expect(sent({ type: 'api_key' }, bearer)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('AIDIP-3.1-15 send none if the metadata has no authentication or "none"', async () => {
    for (const more of [{}, { authentication: { type: 'none' } }]) {
      documents.translator = translator(more)
      await client().invoke('translator', input, { ...direct, credentials: { type: 'api_key', key: 'k' } })
    }
    expect(agent.seen.map(({ headers }) => [headers.authorization, headers['x-api-key']])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ])
  })

  it('name the operation by its own endpoint, or in the body', async () => {
    const operations = [
      { name: 'translate', inputs: {}, outputs: {} },
      { name: 'detect', inputs: {}, outputs: {}, endpoint: `${agent.url}/detect` },
    ]
    documents.translator = translator({ operations })
    await client().invoke('translator', input, { ...direct, operation: 'translate' })
    await client().invoke('translator', input, { ...direct, operation: 'detect' })
    expect(agent.seen).toMatchObject([
      { url: '/translate', json: { ...input, operation: 'translate' } },
      { url: '/detect', json: input },
    ])
    await expect(client().invoke('translator', input, { ...direct, operation: 'x' })).rejects.toMatchObject({
      code: 'capability_not_found',
      message: expect.stringContaining('translate, detect'),
    })
  })

  it('PROF-4.6-06 do not connect to bindings that the policy does not allow', async () => {
    documents.translator = translator({
      endpoint: 'ftp://files.example/agent',
      bindings: [{ protocol: 'ftp', endpoint: `${agent.url}/ftp` }],
    })
    expect(await codeOf(client().invoke('translator', input, { ...direct, protocols: ['https'] }))).toBe(
      'unsupported_transport',
    )
    documents.translator = translator({ bindings: [{ protocol: 'grpc', endpoint: `${agent.url}/grpc` }] })
    expect(await codeOf(client().invoke('translator', input, { ...direct, protocols: ['https'] }))).toBe(
      'unsupported_transport',
    )
    expect(agent.seen).toEqual([])
  })

  it('PROF-14-06 read the metadata again before each call, and do not call revoked agents', async () => {
    const found = { id: 'translator' }
    await client().invoke(found, input, direct)
    for (const more of [{ status: 'suspended' }, { verification: { unsafe: true } }]) {
      documents.translator = translator(more)
      expect(await codeOf(client().invoke(found, input, direct))).toBe('permission_denied')
    }
    documents = {}
    expect(await codeOf(client().invoke(found, input, direct))).toBe('not_found')
    expect(agent.seen).toHaveLength(1)
  })

  it('connect to public addresses with TLS only, unless the caller allows more', async () => {
    expect(await codeOf(client().invoke('translator', input, { mode: 'direct' }))).toBe('insecure')
    documents.translator = translator({ endpoint: 'https://10.0.0.1/agent' })
    expect(await codeOf(client().invoke('translator', input, { mode: 'direct' }))).toBe('blocked_address')
  })
})
