import type { JsonValue } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { startDirectory } from '../support/directory.js'
import { fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { fixed, sendJson } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp({ gateway: { timeoutMs: 1000 } })
const { register, call } = setup
const INPUT = { text: 'hello' }

describe('a call that succeeds', () => {
  it('AIDIP-5.2-01 AIDIP00-6.2-01 returns the agent’s 200, or its 201 and Location', async () => {
    await register()
    expect((await call(INPUT)).status).toBe(200)
    setup.agent.reply = fixed({ text: 'made' }, 201, { location: '/things/1' })
    const { status, headers, json } = await call(INPUT)
    expect([status, json]).toEqual([201, { text: 'made' }])
    expect(headers.get('location')).toBe(new URL('/things/1', setup.agent.url).href)
  })

  it('AIDIP-5.2-02 AIDIP-5.3-03 returns one JSON document', async () => {
    await register()
    const { headers, text } = await call(INPUT)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('content-length')).toBe(String(text.length))
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.has('x-output-valid')).toBe(false)
  })

  it('AIDIP-5.2-04 AURI-8.3.2-03 keeps further members of the output', async () => {
    await register()
    const answer = {
      text: 'a',
      usage: { tokens: 3 },
      confidence: 0.9,
      sourceAgent: 'a',
      taskTrace: ['b'],
      timeTaken: 1,
    }
    setup.agent.reply = fixed(answer)
    expect(await call(INPUT)).toMatchObject({ status: 200, json: answer })
  })

  it('AIDIP00-6-04 matches the sample of the draft', async () => {
    const { agent, directory } = setup
    agent.reply = fixed({ translated_text: 'Bonjour, comment êtes-vous?' })
    const body = fixture('FX-T00', { endpoint: agent.url })
    expect((await directory.post('/v0/agents', { as: 'tokA', body })).status).toBe(201)
    const answer = await call(
      { text: 'Hello, how are you?', source_language: 'en', target_language: 'fr' },
      { path: '/agents/translator-001/invoke', headers: { 'x-api-key': 'k' } },
    )
    expect(answer).toMatchObject({ status: 200, json: { translated_text: 'Bonjour, comment êtes-vous?' } })
  })
})

describe('output that does not match its schema', () => {
  it('AIDIP-5.2-03 is passed on with a mark and an entry in the audit log', async () => {
    await register()
    setup.agent.reply = fixed({ wrong: 1 })
    const { status, headers, json } = await call(INPUT)
    expect([status, json, headers.get('x-output-valid')]).toEqual([200, { wrong: 1 }, 'false'])
    const audit = await setup.directory.get('/admin/audit?action=invoke&limit=1', { as: 'admin' })
    expect(audit.json.entries[0]).toMatchObject({
      agent: 'x',
      outcome: 'ok',
      detail: expect.stringContaining('output'),
    })
  })

  it('AIDIP-5.2-03 is rejected with policy.strictOutputs', async () => {
    const { policy } = (await import('../../src/config/settings.js')).DEFAULTS
    const strict = await startDirectory({ policy: { ...policy, strictOutputs: true } })
    try {
      setup.agent.reply = fixed({ wrong: 1 })
      await strict.post('/agents', { as: 'tokA', body: setup.agent.document() })
      const answer = await strict.post('/agents/x/invoke', { as: 'tokC', body: INPUT })
      expectError(answer, { status: 502, code: 'agent_error' })
    } finally {
      await strict.close()
    }
  })
})

describe('an invalid request', () => {
  it('AIDIP-5.2-05 AIDIP00-6.2-03 gets 400', async () => {
    await register()
    for (const raw of ['{', '{"text":"a",}', '{"text":"a","text":"b"}', '', '\ufeff']) {
      expectError(await call(null, { raw }), { status: 400, code: 'invalid_request' }, raw)
    }
    expect(setup.agent.calls).toEqual([])
  })

  it('AIDIP-5.2-06 gets the error object, which names the member', async () => {
    await register({ inputs: { text: 'string', target_language: 'string' } })
    for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke']) {
      const { status, json } = await call(INPUT, { path })
      expect(status).toBe(400)
      expect(json.error).toMatchObject({ code: 'InvalidInput', message: expect.stringContaining('target_language') })
    }
  })

  it('AIDIP00-6.2-02 gets an error object with code and message, whatever the client error', async () => {
    await register({ inputs: { text: 'string' } })
    await register({ id: 'restricted', visibility: 'restricted' })
    const reader = await setup.directory.makeKey({ subject: 'reader', scopes: ['discover'] })
    const key = { 'idempotency-key': 'k' }
    await call(INPUT, { headers: key })
    const requests: [status: number, body: JsonValue, options: Parameters<typeof call>[1] & object][] = [
      [400, { text: 5 }, {}],
      [400, null, { raw: '{' }],
      [401, INPUT, { key: 'unknown' }],
      [401, INPUT, { as: 'anon', path: '/agents/restricted/invoke' }],
      [403, INPUT, { key: reader }],
      [404, INPUT, { path: '/agents/none/invoke' }],
      [404, INPUT, { path: '/agents/x/no-such-operation' }],
      [406, INPUT, { headers: { accept: 'image/png' } }],
      [422, { text: 'other' }, { headers: key }],
      [413, { text: 'x'.repeat(11 * 1024 * 1024) }, {}],
    ]
    for (const base of ['', '/v0']) {
      for (const [status, body, { path = '/agents/x/invoke', ...options }] of requests) {
        const answer = await call(body, { ...options, path: base + path })
        const why = `${status} ${base}${path} → ${answer.status} ${answer.text.slice(0, 300)}`
        expect(answer.status, why).toBe(status)
        expect(answer.json.error, why).toMatchObject({
          code: expect.stringMatching(/^[A-Z]\w+$/),
          message: expect.stringMatching(/\w/),
        })
      }
    }
  })

  it('AIDIP-5.2-09 AIDIP00-6.2-03 for an unknown agent gets 404', async () => {
    for (const path of ['/agents/none/invoke', '/agents/none/op', '/v0/agents/none/invoke']) {
      const answer = await call(INPUT, { path })
      expectError(answer, { status: 404, code: 'not_found' }, path)
      expect(answer.json.error.code).toBe('NotFound')
    }
  })

  it('AURI-8.1-06 AURI-8.1-07 for an unsupported media type gets 406 with the supported types', async () => {
    await register()
    for (const accept of ['application/fipa-acl', 'image/png', 'application/json;q=0, text/html']) {
      const answer = await call(INPUT, { headers: { accept } })
      expectError(answer, { status: 406, code: 'not_acceptable' }, accept)
      expect(answer.json.supported).toEqual(['application/json', 'text/event-stream', 'application/x-ndjson'])
    }
    expect(setup.agent.calls).toEqual([])
    for (const accept of ['*/*', 'application/*', 'text/html, application/json;q=0.1'])
      expect((await call(INPUT, { headers: { accept } })).status, accept).toBe(200)
  })
})

describe('an agent that fails', () => {
  it('AIDIP-5.2-10 AIDIP00-6.2-03 causes 502 if its response is invalid or missing', async () => {
    await register()
    setup.agent.reply = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a"')
    expectError(await call(INPUT), { status: 502, code: 'agent_error' })
    setup.agent.reply = (_, response) => response.destroy()
    expectError(await call(INPUT), { status: 502, code: 'agent_error' })
    await register({ id: 'y', endpoint: 'http://127.0.0.1:1/agent' })
    expectError(await call(INPUT, { path: '/agents/y/invoke' }), { status: 502, code: 'agent_error' })
  })

  it('AIDIP-5.2-10 causes 504 if it takes too long', async () => {
    await register()
    setup.agent.reply = () => {}
    const answer = await call(INPUT)
    expectError(answer, { status: 504, code: 'timeout' })
    expect(answer.json.error.code).toBe('Timeout')
  })

  it('AIDIP-5.2-11 C-97 keeps its status, but its internals are hidden', async () => {
    await register()
    const stack = 'Error: no\n    at run (/srv/secret.js:1:2)'
    for (const body of [{ stack }, { error: { code: 'E', message: stack } }, { error: stack }, 'secret', null]) {
      for (const status of [500, 502, 507]) {
        setup.agent.reply = fixed(body, status)
        const answer = await call(INPUT)
        expectError(answer, { status, code: 'agent_error' })
        expect(answer.json.error.code).toBe('AgentError')
        expect(answer.text).not.toMatch(/secret|127\.0\.0\.1:(?!\d+\/problems)/)
      }
    }
    setup.agent.reply = (_, response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<b>secret</b>')
    expectError(await call(INPUT), { status: 500, code: 'agent_error' })
  })

  it('C-97 has its own error passed on if that is an error object', async () => {
    await register()
    const error = { code: 'OutOfWords', message: 'no words left', details: [{ member: '/text' }] }
    setup.agent.reply = fixed({ error }, 409)
    const refused = await call(INPUT)
    expect(refused).toMatchObject({ status: 409, json: { error, message: 'no words left' } })
    setup.agent.reply = fixed({ error, stack: 'x' }, 500)
    const failed = await call(INPUT)
    expect(failed).toMatchObject({ status: 500, json: { error: { code: 'OutOfWords', message: 'no words left' } } })
    expect(failed.json).not.toHaveProperty('stack')
  })

  it.each([
    [400, 'InvalidInput'],
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
    [418, 'AgentError'],
    [429, 'RateLimited'],
  ])('AIDIP-5.2-07 C-97 that returns %i causes an error with the code %s', async (status, code) => {
    await register()
    setup.agent.reply = fixed({ detail: 'none of ours' }, status)
    const answer = await call(INPUT)
    expect(answer).toMatchObject({ status, json: { error: { code, message: expect.stringMatching(/agent/) } } })
    expect(answer.text).not.toContain('none of ours')
  })

  it('AIDIP-5.2-12 causes 503 and Retry-After if it is overloaded, offline or inactive', async () => {
    await register()
    setup.agent.reply = fixed(null, 503, { 'retry-after': '7' })
    const busy = await call(INPUT)
    expectError(busy, { status: 503, code: 'unavailable' })
    expect([busy.headers.get('retry-after'), busy.json.retry_after]).toEqual(['7', 7])
    setup.agent.reply = fixed(null, 503)
    expect((await call(INPUT)).headers.get('retry-after')).toMatch(/^\d+$/)
    setup.agent.calls.length = 0
    for (const status of ['inactive', 'suspended', 'offline']) {
      await register({ id: status, status })
      const resting = await call(INPUT, { path: `/agents/${status}/invoke` })
      expectError(resting, { status: 503, says: status })
      expect(resting.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    expect(setup.agent.calls).toEqual([])
  })

  it('AIDIP-5.2-12 causes 503 and Retry-After at its limit of concurrent calls, until one ends', async () => {
    const directory = await startDirectory({ gateway: { maxCallsPerAgent: 1 } })
    try {
      await directory.post('/agents', { as: 'tokA', body: setup.agent.document() })
      const invoke = () => directory.post('/agents/x/invoke', { as: 'tokC', body: INPUT })
      const held = new Promise<() => void>((resolve) => {
        setup.agent.reply = (_, response) => resolve(() => sendJson(response, INPUT))
      })
      const first = invoke()
      const finish = await held
      const refused = await invoke()
      expectError(refused, { status: 503, code: 'unavailable' })
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      expect(setup.agent.calls).toHaveLength(1)
      finish()
      expect((await first).status).toBe(200)
      setup.agent.reply = fixed(INPUT)
      expect((await invoke()).status).toBe(200)
    } finally {
      await directory.close()
    }
  })

  it('AIDIP-5.2-12 causes 503 and Retry-After while its circuit breaker is open, and is not called', async () => {
    await register({ id: 'failing' })
    const invoke = () => call(INPUT, { path: '/agents/failing/invoke' })
    setup.agent.reply = (_, response) => response.destroy()
    for (let i = 0; i < 5; i++) expectError(await invoke(), { status: 502 })
    setup.agent.calls.length = 0
    const refused = await invoke()
    expectError(refused, { status: 503, code: 'unavailable' })
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(setup.agent.calls).toEqual([])
  })

  it('AIDIP-5.2-13 is not reported as a success just because its status is 200', async () => {
    await register({ id: 'x', outputs: { text: 'string?' } })
    setup.agent.reply = fixed({ error: { code: 'SubCallFailed', message: 'the translator did not answer' } })
    const answer = await call(INPUT)
    expect(answer).toMatchObject({ status: 502, json: { error: { code: 'SubCallFailed' } } })
    await register({ id: 'y', outputs: { error: 'object' } })
    expect((await call(INPUT, { path: '/agents/y/invoke' })).status).toBe(200)
  })

  it('C-67 that streams although no stream was requested has its parts joined', async () => {
    await register()
    setup.agent.reply = (_, response) =>
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end('{"text":"a"}\n{"text":"b"}\n')
    const { status, json, headers } = await call(INPUT)
    expect([status, json, headers.get('x-output-valid')]).toEqual([200, [{ text: 'a' }, { text: 'b' }], 'false'])
    setup.agent.reply = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"text":"a"}\n\n')
    expect(await call(INPUT)).toMatchObject({ status: 200, json: { text: 'a' } })
  })
})

describe('an agent that cannot be called', () => {
  it('AIDIP00-6-02 C-44 causes 501, with the address and protocols that the caller can use instead', async () => {
    const body = {
      base: 'grpc://agents.example.com:443',
      protocols: ['grpc'],
      capabilities: [{ name: 'a', type: 'tool' }],
    }
    await setup.directory.post('/ad/r?agent=g', { as: 'tokA', body })
    const answer = await call({}, { path: '/agents/g/invoke' })
    expectError(answer, { status: 501, code: 'not_invocable' })
    expect(answer.json).toMatchObject({
      error: { code: 'NotInvocable' },
      base: 'grpc://agents.example.com:443',
      protocols: ['grpc'],
    })
  })

  it('causes 508 if its endpoint leads back to the directory', async () => {
    const { directory } = setup
    for (const endpoint of ['/agents/x/invoke', `${directory.url}/agents/y/invoke`]) {
      await register({ id: 'loop', endpoint })
      const answer = await call(INPUT, { path: '/agents/loop/invoke' })
      expectError(answer, { status: 508, code: 'loop_detected' }, endpoint)
      await directory.delete('/agents/loop', { as: 'admin' })
    }
  })

  it('C-73 causes 502, and is not called, if its address is blocked', async () => {
    await register({ id: 'metadata', endpoint: 'https://169.254.169.254/latest' })
    const answer = await call(INPUT, { path: '/agents/metadata/invoke' })
    expectError(answer, { status: 502, code: 'agent_error' })
    expect(answer.text).not.toContain('169.254')
  })
})

describe('a caller who disconnects', () => {
  let closed: Promise<void> | undefined
  afterEach(() => {
    closed = undefined
  })

  it('cancels the agent’s work', async () => {
    await register()
    const controller = new AbortController()
    const reached = new Promise<void>((resolve) => {
      setup.agent.reply = (_, response, request) => {
        closed = new Promise((done) => request.socket.once('close', () => done()))
        resolve()
        response.on('close', () => {})
      }
    })
    const asked = fetch(`${setup.directory.url}/agents/x/invoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${setup.directory.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(INPUT),
      signal: controller.signal,
    }).catch(() => undefined)
    await reached
    controller.abort()
    await asked
    await closed
    setup.agent.reply = (_, response) => sendJson(response, { text: 'again' })
    expect((await call(INPUT)).json).toEqual({ text: 'again' })
  })
})
