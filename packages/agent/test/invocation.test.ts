import { request } from 'node:http'
import { readKeySet } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { AgentError, type AgentErrorCode } from '../src/index.js'
import { closeAll, count, echo, makeAgent, makeKey, post, send, startAgent, until } from './support/agents.js'
import { verifyResponse } from './support/http-signature.js'

afterEach(closeAll)

describe('a call over HTTP', () => {
  it('AIDIP-5.2-01 AIDIP-5.2-02 AIDIP00-6.2-01 returns 200 and the output', async () => {
    const { url } = await startAgent()
    const response = await post(`${url}/echo`, { text: 'hi' })
    expect(response.status).toBe(200)
    expect(response.json).toEqual({ text: 'hi' })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('AIDIP-5.2-01 returns 201 and a Location if it created a resource', async () => {
    const { url } = await startAgent({
      capabilities: [
        {
          name: 'make',
          handler(_input, context) {
            context.created('https://a.example/things/1')
            return { id: 1 }
          },
        },
      ],
    })
    const response = await post(`${url}/make`, {})
    expect([response.status, response.headers.get('location')]).toEqual([201, 'https://a.example/things/1'])
  })

  it('names the capability in the path or the body, or not at all if there is only one', async () => {
    const one = await startAgent()
    expect((await post(`${one.url}/`, { text: 'a' })).json).toEqual({ text: 'a' })
    expect((await post(`${one.url}/invoke`, { operation: 'echo', text: 'a' })).json).toEqual({ text: 'a' })
    const two = await startAgent({ capabilities: [echo, { ...echo, name: 'parrot' }] })
    expect((await post(two.url, { operation: 'parrot', text: 'b' })).json).toEqual({ text: 'b' })
    expect((await post(two.url, { text: 'b' })).json.detail).toBe('/operation is required: one of "echo", "parrot"')
    expect((await post(`${two.url}/echo`, { operation: 'parrot', text: 'b' })).status).toBe(400)
  })

  it('leaves reserved members in the input if its schema declares them', async () => {
    const named = {
      name: 'named',
      input: { operation: 'string', stream: 'string' },
      handler: (input: object) => ({ ...input }),
    }
    const { url } = await startAgent({ capabilities: [named] })
    const input = { operation: 'open', stream: 'river' }
    expect((await post(`${url}/named`, input)).json).toEqual(input)
  })

  it('may be a GET only for safe capabilities', async () => {
    const add = {
      name: 'add',
      input: { a: 'number', b: 'number' },
      handler: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
    }
    const { url } = await startAgent({ capabilities: [{ ...add, safe: true }, echo] })
    expect((await send(`${url}/add?a=1&b=2.5`)).json).toEqual({ sum: 3.5 })
    const refused = await send(`${url}/echo?text=a`)
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await send(`${url}/echo`, { method: 'PUT', body: '{}' })).status).toBe(405)
  })

  it('AIDIP-5.2-04 AURI-8-10 AURI-8.3.2-03 may add metadata to the output', async () => {
    const sure = {
      ...echo,
      confidenceEstimation: true,
      handler({ text }: { text: string }, context: { report(metadata: object): void }) {
        context.report({ confidence: 0.9, sourceAgent: 'agent://oracle.example' })
        return { text }
      },
    }
    const { url } = await startAgent({ capabilities: [sure] })
    expect((await post(`${url}/echo`, { text: 'a' })).json).toEqual({
      text: 'a',
      metadata: {
        status: 'completed',
        confidence: 0.9,
        sourceAgent: 'agent://oracle.example',
        timeTaken: expect.any(Number),
      },
    })
  })

  it('keeps its request id', async () => {
    const { url } = await startAgent()
    const response = await post(`${url}/nothing`, {}, { 'x-request-id': 'r-1' })
    expect(response.headers.get('x-request-id')).toBe('r-1')
    expect(response.json.correlation_id).toBe('r-1')
    const other = await post(`${url}/echo`, { text: 'a' }, { 'x-request-id': 'not an id' })
    expect(other.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
  })

  it('marks an output that does not match its schema, or rejects it in strict mode', async () => {
    const wrong = { ...echo, handler: () => ({ text: 5 }) }
    const lenient = await startAgent({ capabilities: [wrong] })
    const marked = await post(`${lenient.url}/echo`, { text: 'a' })
    expect([marked.status, marked.headers.get('x-output-valid')]).toEqual([200, 'false'])
    const strict = await startAgent({ capabilities: [wrong], checkOutput: 'strict' })
    expect((await post(`${strict.url}/echo`, { text: 'a' })).status).toBe(500)
    const off = await startAgent({ capabilities: [wrong], checkOutput: 'off' })
    expect((await post(`${off.url}/echo`, { text: 'a' })).headers.has('x-output-valid')).toBe(false)
  })

  it('AIDIP-9-08 has a signed response if configured, and the signature covers the body', async () => {
    const { url } = await startAgent({ key: makeKey(), signResponses: true })
    const { json: keySet } = await send(`${url}/.well-known/jwks.json`)
    const response = await post(`${url}/echo`, { text: 'a' })
    const [key] = readKeySet(keySet)
    expect(verifyResponse(response, key?.jwk)).toBe(true)
    expect(verifyResponse({ ...response, text: '{"text":"b"}' }, key?.jwk)).toBe(false)
  })

  it('works without a server', async () => {
    const agent = makeAgent()
    const body = JSON.stringify({ text: 'a' })
    const headers = { 'content-type': 'application/json' }
    const place = { basePath: '/agents/tester' }
    const response = await agent.fetch(
      new Request('https://h.example/agents/tester/echo', { method: 'POST', body, headers }),
      place,
    )
    expect(await response.json()).toEqual({ text: 'a' })
    const card = await agent.fetch(new Request('https://h.example/agents/tester/agent.json'), place)
    expect(await card.json()).toMatchObject({ url: 'https://h.example/agents/tester/a2a' })
  })

  it('AURI-8.1-06 AURI-8.1-07 returns 406 with the supported types', async () => {
    const { url } = await startAgent()
    const response = await post(`${url}/echo`, { text: 'a' }, { accept: 'application/fipa-acl' })
    expect(response.status).toBe(406)
    expect(response.json.supported).toContain('application/json')
  })

  it('offers the additional JSON media types of a capability', async () => {
    const { url } = await startAgent({ capabilities: [{ ...echo, outputFormats: ['application/ld+json'] }] })
    const response = await post(`${url}/echo`, { text: 'a' }, { accept: 'application/ld+json' })
    expect(response.headers.get('content-type')).toBe('application/ld+json')
  })

  it('reports its health', async () => {
    const { url } = await startAgent()
    expect((await send(`${url}/health`)).json).toEqual({ status: 'ok', name: 'tester', version: '2.1.0' })
  })
})

describe('a failed call', () => {
  it('AURI-9-02 returns problem details', async () => {
    const { url } = await startAgent()
    const response = await post(`${url}/gen-iti`, {})
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(response.json).toMatchObject({
      type: expect.stringMatching(/capability-not-found$/),
      title: 'Capability Not Found',
      status: 404,
      detail: "The requested capability 'gen-iti' was not found.",
      instance: '/gen-iti',
      error: { code: 'CapabilityNotFound' },
      code: 'not_found',
    })
  })

  it('names every wrong member', async () => {
    const { url } = await startAgent({ capabilities: [{ ...echo, input: { text: 'string', to: 'string' } }] })
    const response = await post(`${url}/echo`, { text: 1 })
    expect(response.status).toBe(400)
    expect(response.json.error.details.map(({ member }: { member: string }) => member).sort()).toEqual(['/text', '/to'])
  })

  it.each<[AgentErrorCode, number, string]>([
    ['capability_not_found', 404, 'CapabilityNotFound'],
    ['invalid_input', 400, 'InvalidInput'],
    ['ambiguous_response', 422, 'AmbiguousResponse'],
    ['timeout', 504, 'Timeout'],
    ['permission_denied', 403, 'PermissionDenied'],
    ['conflict', 409, 'Conflict'],
    ['unavailable', 503, 'Unavailable'],
  ])('AURI-9-01 AURI-9-08 returns the error %s of its handler', async (code, status, name) => {
    const failing = {
      ...echo,
      handler(): never {
        throw new AgentError(code, 'for a reason')
      },
    }
    const { url } = await startAgent({ capabilities: [failing] })
    const response = await post(`${url}/echo`, { text: 'a' })
    expect([response.status, response.json.error]).toEqual([status, { code: name, message: 'for a reason' }])
  })

  it('AURI-9-01 does not reveal internal errors', async () => {
    const seen: unknown[] = []
    const broken = { ...echo, handler: () => Promise.reject(new Error('password is 123')) }
    const { url } = await startAgent({ capabilities: [broken], onError: (error) => seen.push(error) })
    const response = await post(`${url}/echo`, { text: 'a' })
    expect([response.status, response.json.detail]).toEqual([500, 'the agent failed'])
    expect(seen).toEqual([expect.objectContaining({ message: 'password is 123' })])
  })

  it('rejects bodies that are too large, of another type, or not JSON', async () => {
    const { url } = await startAgent({ maxBodyBytes: 1000 })
    expect((await post(`${url}/echo`, { text: 'a'.repeat(2000) })).status).toBe(413)
    const raw = (type: string, body: string) =>
      send(`${url}/echo`, { method: 'POST', headers: { 'content-type': type }, body })
    expect((await raw('text/plain', 'a')).status).toBe(415)
    expect((await raw('application/json', '{"text":"a","text":"b"}')).status).toBe(400)
    expect((await raw('application/json', '{"text":')).json.detail).toMatch(/not valid JSON/)
  })

  it('counts the bytes of a body without Content-Length', async () => {
    const { url } = await startAgent({ maxBodyBytes: 1000 })
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${url}/echo`, { method: 'POST', headers: { 'content-type': 'application/json' } })
      sent.on('response', (response) => resolve(response.statusCode)).on('error', reject)
      for (let i = 0; i < 50; i++) sent.write('x'.repeat(100))
      sent.end()
    })
    expect(status).toBe(413)
  })

  it('times out a slow handler, and aborts its signal', async () => {
    let isTold = false
    const slow = {
      ...echo,
      timeoutMs: 20,
      handler: (_: object, { signal }: { signal: AbortSignal }) =>
        new Promise<never>(() => {
          signal.addEventListener('abort', () => {
            isTold = true
          })
        }),
    }
    const { url } = await startAgent({ capabilities: [slow] })
    expect((await post(`${url}/echo`, { text: 'a' })).status).toBe(504)
    expect(isTold).toBe(true)
  })

  it('AIDIP-9-12 limits the rate of calls per caller', async () => {
    const { url } = await startAgent({ rateLimit: { calls: 2, seconds: 60 } })
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await post(`${url}/echo`, { text: 'a' })).status)
    expect(statuses).toEqual([200, 200, 429])
    const { headers, json } = await post(`${url}/echo`, { text: 'a' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(json.retry_after).toBe(Number(headers.get('retry-after')))
  })

  it('AIDIP-9-12 identifies callers behind a proxy by the address that the proxy appends', async () => {
    const agent = makeAgent({ publicUrl: 'https://tester.example', rateLimit: { calls: 1, seconds: 60 } })
    const { address = '' } = await agent.listen({ behindProxy: true })
    const from = async (forwarded: string) =>
      (await post(`${address}/echo`, { text: 'a' }, { 'x-forwarded-for': forwarded })).status
    expect(await from('198.51.100.1')).toBe(200)
    expect(await from('198.51.100.2')).toBe(200)
    expect(await from('203.0.113.9, 198.51.100.1')).toBe(429)
  })

  it('limits the number of concurrent handlers', async () => {
    const resolvers: ((value: string) => void)[] = []
    const waiting = { ...echo, handler: () => new Promise<string>((resolve) => resolvers.push(resolve)) }
    const { url } = await startAgent({ capabilities: [waiting], maxCalls: 1 })
    const first = post(`${url}/echo`, { text: 'a' })
    await until(
      () => resolvers.length,
      (length) => length === 1,
    )
    expect((await post(`${url}/echo`, { text: 'b' })).status).toBe(503)
    resolvers[0]?.('a')
    expect((await first).status).toBe(200)
  })

  it('rejects requests for other hosts on loopback', async () => {
    const { url } = await startAgent()
    const status = await new Promise((resolve, reject) => {
      request(`${url}/agent.json`, { headers: { host: 'evil.example' } })
        .on('response', (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })
    expect(status).toBe(421)
  })

  it('does not run simple requests of web pages from other origins', async () => {
    let calls = 0
    const { url } = await startAgent({ capabilities: [{ name: 'wipe', handler: () => ++calls }] })
    const callWith = (origin: string) => send(`${url}/wipe`, { method: 'POST', headers: { origin } })
    expect((await callWith('https://evil.example')).status).toBe(403)
    expect((await callWith('null')).status).toBe(403)
    expect(calls).toBe(0)
    expect((await callWith(url)).status).toBe(200)
  })

  it('allows web pages of the configured origins only', async () => {
    const { url } = await startAgent({ origins: ['https://page.example'] })
    const callWith = (origin: string) =>
      send(`${url}/echo`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } })
    expect((await callWith('https://page.example')).headers.get('access-control-allow-origin')).toBe(
      'https://page.example',
    )
    expect((await callWith('https://evil.example')).headers.has('access-control-allow-origin')).toBe(false)
  })
})

describe('versions', () => {
  const old = { ...echo, handler: ({ text }: { text: string }) => ({ text: `old ${text}` }) }
  const start = () => startAgent({ olderVersions: { '1.0.0': [old] } })

  it('AURI-7-20 are requested by header, query or path', async () => {
    const { url } = await start()
    const responses = [
      await post(`${url}/echo`, { text: 'a' }, { 'x-agent-version': '1.0.0' }),
      await post(`${url}/echo?version=1.0.0`, { text: 'a' }),
      await post(`${url}/v1.0.0/echo`, { text: 'a' }),
      await post(`${url}/v1.0.0/`, { text: 'a' }),
    ]
    for (const response of responses) {
      expect(response.json).toEqual({ text: 'old a' })
      expect(response.headers.get('x-agent-version')).toBe('1.0.0')
    }
  })

  it('AURI-7-21 default to the latest', async () => {
    const { url } = await start()
    const response = await post(`${url}/echo`, { text: 'a' })
    expect([response.json.text, response.headers.get('x-agent-version')]).toEqual(['a', '2.1.0'])
  })

  it('are rejected if they are unknown or contradictory', async () => {
    const { url } = await start()
    const unknown = await post(`${url}/echo`, { text: 'a' }, { 'x-agent-version': '9.0.0' })
    expect([unknown.status, unknown.json.versions]).toEqual([404, ['2.1.0', '1.0.0']])
    expect((await post(`${url}/v1.0.0/echo`, { text: 'a' }, { 'x-agent-version': '2.1.0' })).status).toBe(400)
  })
})

describe('sessions', () => {
  const remember = {
    name: 'remember',
    input: { text: 'string' },
    memoryEnabled: true,
    handler({ text }: { text: string }, { session }: { session?: { data: Map<string, unknown> } }) {
      const before = [session?.data.get('said') ?? []].flat().map(String)
      session?.data.set('said', [...before, text])
      return { before }
    },
  }

  it('AURI-8.1-02 AURI-8.1.1-01 share state between calls of one caller with the same id, and nobody else', async () => {
    const { url } = await startAgent({ capabilities: [remember] })
    const say = async (text: string, id: string) =>
      (await post(`${url}/remember`, { text }, { 'x-session-id': id })).json.before
    expect(await say('a', 's1')).toEqual([])
    expect(await say('b', 's1')).toEqual(['a'])
    expect(await say('c', 's2')).toEqual([])
    expect((await post(`${url}/remember?sessionId=s1`, { text: 'd' })).json.before).toEqual(['a', 'b'])
  })

  it('AURI-8.1-05 are read from the body if there is no header', async () => {
    const { url } = await startAgent({ capabilities: [remember] })
    await post(`${url}/remember`, { text: 'a' }, { 'x-session-id': 's1' })
    expect((await post(`${url}/remember`, { text: 'b', sessionId: 's1' })).json.before).toEqual(['a'])
    const two = await post(`${url}/remember`, { text: 'b', sessionId: 's1' }, { 'x-session-id': 's2' })
    expect(two.status).toBe(400)
  })

  it('are started by capabilities with memory', async () => {
    const { url } = await startAgent({ capabilities: [remember] })
    const id = (await post(`${url}/remember`, { text: 'a' })).headers.get('x-session-id') ?? ''
    expect((await post(`${url}/remember`, { text: 'b' }, { 'x-session-id': id })).json.before).toEqual(['a'])
  })

  it('expire without calls', async () => {
    let time = Date.now()
    const { url } = await startAgent({
      capabilities: [remember],
      sessions: { lifetime: 60 },
      runtime: { monotonic: () => time },
    })
    await post(`${url}/remember`, { text: 'a' }, { 'x-session-id': 's1' })
    time += 61_000
    expect((await post(`${url}/remember`, { text: 'b' }, { 'x-session-id': 's1' })).json.before).toEqual([])
  })
})

describe('an Idempotency-Key', () => {
  const counting = () => {
    let calls = 0
    return { ...echo, input: {}, output: {}, handler: () => ({ calls: ++calls }) }
  }

  it('makes repeated calls run once', async () => {
    const { url } = await startAgent({ capabilities: [counting()] })
    const callWith = (key: string, body = {}) => post(`${url}/echo`, body, { 'idempotency-key': key })
    expect((await callWith('k')).json).toEqual({ calls: 1 })
    const again = await callWith('k')
    expect([again.json, again.headers.get('idempotent-replayed')]).toEqual([{ calls: 1 }, 'true'])
    expect((await callWith('other')).json).toEqual({ calls: 2 })
    expect((await callWith('k', { other: true })).status).toBe(422)
  })

  it('can be used again after a failure, but not while the call is in progress', async () => {
    const resolvers: ((value: string) => void)[] = []
    const waiting = { ...echo, output: {}, handler: () => new Promise<string>((resolve) => resolvers.push(resolve)) }
    const { url } = await startAgent({ capabilities: [waiting] })
    const callWith = (text: unknown) => post(`${url}/echo`, { text: String(text) }, { 'idempotency-key': 'k' })
    expect((await post(`${url}/echo`, {}, { 'idempotency-key': 'k' })).status).toBe(400)
    const first = callWith('a')
    await until(
      () => resolvers.length,
      (length) => length === 1,
    )
    expect((await callWith('a')).status).toBe(409)
    resolvers[0]?.('done')
    expect((await first).json).toBe('done')
  })
})

describe('a generator', () => {
  it('is collected for callers that do not stream', async () => {
    const whole = {
      ...count,
      name: 'whole',
      async *handler() {
        yield 'a'
        yield 'b'
        return 'ab'
      },
    }
    const { url } = await startAgent({ capabilities: [count, whole] })
    expect((await post(`${url}/count`, { to: 2 })).json).toEqual([{ n: 1 }, { n: 2 }])
    expect((await post(`${url}/whole`, { to: 2 })).json).toBe('ab')
  })
})
