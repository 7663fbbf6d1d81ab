import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ClientError, type InvokeOptions, invokeAgent, readProblem } from '../../src/index.js'
import { type AgentHost, always, codeOf, fakeRetry, sendJson, startAgentHost } from './support/agent-host.js'

let host: AgentHost
let options: InvokeOptions

beforeAll(async () => {
  host = await startAgentHost()
})
afterAll(() => host.close())
beforeEach(() => {
  host.handlers = {}
  host.seen.length = 0
  options = { fetch: host.fetch, allowPrivate: true, retry: fakeRetry().retry }
})

const call = () => host.calls[0]
const uri = (path: string, transport = 'agent+https'): string => `${transport}://${host.authority}${path}`

/** Serves a descriptor of the agent with more members. */
function publish(more: Record<string, unknown>): void {
  const descriptor = { name: 'planner', version: '3.1.4', description: 'Plans.', ...more }
  host.handlers['/planner/agent.json'] = (_seen, response) =>
    sendJson(response, 200, JSON.parse(JSON.stringify(descriptor)))
}

describe('a call over https', () => {
  it('AURI-8-01 returns the result of a synchronous call', async () => {
    host.handlers['/translate'] = (seen, response) => sendJson(response, 200, { said: seen.json.text })
    const reply = await invokeAgent(uri('/translate'), { text: 'Bonjour' }, options)
    expect(reply).toMatchObject({ output: { said: 'Bonjour' }, status: 200, contentType: 'application/json' })
    expect(call()).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } })
  })

  it('AURI-6.1-01 keeps authority, port, path and query of an agent+https URI', async () => {
    host.handlers['/p'] = always({ ok: true })
    await invokeAgent(uri('/p?q=1'), undefined, options)
    expect(call()).toMatchObject({ method: 'POST', url: '/p?q=1', headers: { host: host.authority } })
    expect(call()?.json).toEqual({ q: '1' })
  })

  it('AURI-3-01 AURI-3-02 needs neither descriptor nor resolution for an explicit binding', async () => {
    host.handlers['/p'] = always({ ok: true })
    const reply = await invokeAgent(uri('/p'), { a: 1 }, options)
    expect(reply.output).toEqual({ ok: true })
    expect(host.seen.map(({ url }) => url)).toEqual(['/p'])
  })

  it('AURI-4.1-04 sends complex structures as a JSON body and not in the query', async () => {
    host.handlers['/p'] = always(null)
    await invokeAgent(uri('/p'), { nested: { a: [1] } }, options)
    expect(call()).toMatchObject({ method: 'POST', url: '/p', json: { nested: { a: [1] } } })
  })

  it('AURI-4.1-05 never sends the fragment', async () => {
    host.handlers['/p'] = always(null)
    await invokeAgent(uri('/p?a=1#secret'), undefined, options)
    expect(call()?.url).toBe('/p?a=1')
    expect(JSON.stringify(host.seen)).not.toContain('secret')
  })

  it('gives the input precedence over the query, in body and URL', async () => {
    host.handlers['/p'] = always(null)
    await invokeAgent(uri('/p?city=Paris&days=2'), { city: 'Rio' }, options)
    expect(call()).toMatchObject({ url: '/p?days=2', json: { city: 'Rio', days: '2' } })
  })

  it('AIDIP-5.2-04 AURI-8.3.2-03 passes on other members and headers of a response', async () => {
    const body = { itinerary: [], confidence: 0.9, sourceAgent: 'x', taskTrace: [{ agent: 'y' }], usage: { tokens: 3 } }
    host.handlers['/p'] = always(body, 200, {
      'x-agent-version': '3.1.4',
      'x-output-valid': 'false',
      'x-request-id': 'r9',
    })
    const reply = await invokeAgent(uri('/p'), {}, options)
    expect(reply).toMatchObject({ output: body, version: '3.1.4', outputValid: false, requestId: 'r9' })
  })

  it('AIDIP-9-16 marks every output as untrusted and evaluates nothing in it', async () => {
    host.handlers['/p'] = always({ code: 'globalThis.wasRun = true', toJSON: 'x' })
    const reply = await invokeAgent(uri('/p'), {}, options)
    expect(reply.trusted).toBe(false)
    expect(reply.output).toEqual({ code: 'globalThis.wasRun = true', toJSON: 'x' })
    expect('wasRun' in globalThis).toBe(false)
  })

  it('returns bytes if the response is not JSON, and can send bytes', async () => {
    host.handlers['/image'] = (seen, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(`${seen.headers['content-type']}:${seen.text}`)
    const reply = await invokeAgent(uri('/image'), new TextEncoder().encode('raw'), {
      ...options,
      contentType: 'image/gif',
    })
    expect(reply.contentType).toBe('image/png')
    expect(new TextDecoder().decode(reply.output instanceof Uint8Array ? reply.output : undefined)).toBe(
      'image/gif:raw',
    )
  })

  it('sends a form as a form', async () => {
    host.handlers['/form'] = always(null)
    const form = new FormData()
    form.set('input', '{}')
    await invokeAgent(uri('/form'), form, options)
    expect(call()?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(call()?.text).toContain('name="input"')
  })
})

describe('the fallback', () => {
  it('AURI-6.2-02 AURI-6.2-03 AURI-8.3.1-02 is a GET with the query if there is no payload', async () => {
    host.handlers['/a/b'] = (seen, response) => sendJson(response, 200, { method: seen.method })
    const reply = await invokeAgent(uri('/a/b?city=Rio', 'agent'), undefined, options)
    expect(reply.output).toEqual({ method: 'GET' })
    expect(call()).toMatchObject({ method: 'GET', url: '/a/b?city=Rio', text: '' })
  })

  it('AURI-6.2-03 is a POST if there is a payload', async () => {
    host.handlers['/a/b'] = always(null)
    await invokeAgent(uri('/a/b', 'agent'), { city: 'Rio' }, options)
    expect(call()).toMatchObject({ method: 'POST', url: '/a/b', json: { city: 'Rio' } })
  })

  it('AURI-6.2-04 is not used if the caller disables it', async () => {
    host.handlers['/a/b'] = always(null)
    expect(await codeOf(invokeAgent(uri('/a/b', 'agent'), {}, { ...options, allowFallback: false }))).toBe('not_found')
    expect(host.calls).toEqual([])
  })
})

describe('an agent with a descriptor', () => {
  it('AURI-8.3.1-01 resolves, reads the capability, calls it and returns its JSON', async () => {
    publish({
      capabilities: [{ name: 'gen-iti', input: { city: 'string', days: 'integer' }, output: { itinerary: 'array' } }],
    })
    host.handlers['/planner/gen-iti'] = (seen, response) =>
      sendJson(response, 200, { itinerary: [seen.json.city, seen.json.days] })
    const reply = await invokeAgent(uri('/planner/gen-iti?city=Rio&days=3', 'agent'), undefined, options)
    expect(reply.output).toEqual({ itinerary: ['Rio', 3] })
    expect(reply.outputValid).toBe(true)
    expect(call()).toMatchObject({ method: 'POST', url: '/planner/gen-iti', json: { city: 'Rio', days: 3 } })
  })

  it('validates the input against the capability before sending', async () => {
    publish({ capabilities: [{ name: 'gen-iti', input: { city: 'string' } }] })
    const refused = invokeAgent(uri('/planner/gen-iti', 'agent'), { town: 'Rio' }, options)
    await expect(refused).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('city') })
    expect(host.calls).toEqual([])
  })

  it('AIDIP-9-16 reports an output that does not match the descriptor', async () => {
    publish({ capabilities: [{ name: 'gen-iti', output: { itinerary: 'array' } }] })
    host.handlers['/planner/gen-iti'] = always({ itinerary: 'none' })
    expect(await invokeAgent(uri('/planner/gen-iti', 'agent'), {}, options)).toMatchObject({ outputValid: false })
  })

  it('AURI-7-12 uses the endpoint in the descriptor', async () => {
    publish({
      endpoint: `${host.origin}/elsewhere`,
      capabilities: [{ name: 'gen-iti' }, { name: 'own', endpoint: '/own/place' }],
    })
    host.handlers['/elsewhere/gen-iti'] = always('hint')
    host.handlers['/own/place'] = always('own')
    expect((await invokeAgent(uri('/planner/gen-iti', 'agent'), {}, options)).output).toBe('hint')
    expect((await invokeAgent(uri('/planner/own', 'agent'), {}, options)).output).toBe('own')
  })

  it('AURI-8.3.1-04 uses GET for flat, short input if the descriptor says so, and POST otherwise', async () => {
    publish({ capabilities: [{ name: 'find', method: 'GET' }] })
    host.handlers['/planner/find'] = always(null)
    const inputs = [{ city: 'São Paulo', days: 2 }, { nested: { a: 1 } }, { text: 'x'.repeat(3000) }]
    for (const input of inputs) await invokeAgent(uri('/planner/find', 'agent'), input, options)
    expect(host.calls.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST'])
    expect(call()?.url).toBe('/planner/find?city=S%C3%A3o%20Paulo&days=2')
  })

  it('AURI-7-20 requests a version by header, query, or the path for that version', async () => {
    publish({ capabilities: [{ name: 'gen-iti' }], supportedVersions: { '3.0.0': '/v3/' } })
    host.handlers['/v3/gen-iti'] = always('three')
    await invokeAgent(uri('/planner/gen-iti', 'agent'), {}, { ...options, version: '3.0.0' })
    await invokeAgent(uri('/planner/gen-iti?version=3.0.0', 'agent'), {}, options)
    await invokeAgent(uri('/planner/3.0.0/gen-iti', 'agent'), {}, options)
    expect(host.calls.map(({ url }) => url)).toEqual(['/v3/gen-iti', '/v3/gen-iti', '/v3/gen-iti'])
    expect(host.calls.map(({ headers }) => headers['x-agent-version'])).toEqual(['3.0.0', '3.0.0', undefined])
  })

  it('AURI-7-14 builds messages with the interaction model of the descriptor, and warns if it is unknown', async () => {
    publish({ capabilities: [{ name: 'gen-iti' }], interactionModel: 'contract-net' })
    host.handlers['/planner/gen-iti'] = (seen, response) =>
      sendJson(response, 200, { performative: 'inform', content: seen.json })
    const model = {
      toMessage: (content: unknown) => ({ performative: 'request', content: JSON.stringify(content) }),
      toOutput: (message: unknown) => JSON.stringify(message).length > 0,
    }
    const shaped = await invokeAgent(
      uri('/planner/gen-iti', 'agent'),
      { a: 1 },
      { ...options, models: { 'contract-net': model } },
    )
    expect(call()?.json).toEqual({ performative: 'request', content: '{"a":1}' })
    expect(shaped).toMatchObject({ output: true })
    expect(shaped.warnings.join()).not.toContain('contract-net')
    const raw = await invokeAgent(uri('/planner/gen-iti', 'agent'), { a: 1 }, options)
    expect(host.calls[1]?.json).toEqual({ a: 1 })
    expect(raw.warnings.join()).toContain('contract-net')
  })

  it('AURI-6.1-06 rejects an agent whose transports are all unsupported, without a fallback', async () => {
    publish({ transport: { mcp: `${host.origin}/mcp` }, capabilities: [{ name: 'gen-iti' }] })
    expect(await codeOf(invokeAgent(uri('/planner/gen-iti', 'agent'), {}, options))).toBe('unsupported_transport')
    for (const transport of ['agent+gopher', 'agent+http', 'agent+ws']) {
      expect(await codeOf(invokeAgent(uri('/p', transport), {}, options))).toBe('unsupported_transport')
    }
    expect(host.calls).toEqual([])
  })

  it('supports a protocol with its own messages if the caller provides the model', async () => {
    publish({ transport: { rpc: `${host.origin}/rpc` }, capabilities: [{ name: 'gen-iti' }] })
    host.handlers['/rpc'] = (seen, response) =>
      sendJson(response, 200, { jsonrpc: '2.0', id: 1, result: seen.json.params })
    const rpc = {
      toMessage: (params: unknown, { operation = '' }) => ({
        jsonrpc: '2.0',
        id: 1,
        method: operation,
        params: JSON.parse(JSON.stringify(params)),
      }),
      toOutput: (message: unknown) => JSON.parse(JSON.stringify(message)).result,
    }
    const reply = await invokeAgent(uri('/planner/gen-iti', 'agent'), { city: 'Rio' }, { ...options, models: { rpc } })
    expect(reply.output).toEqual({ city: 'Rio' })
    expect(call()).toMatchObject({ url: '/rpc', json: { method: 'gen-iti', params: { city: 'Rio' } } })
  })

  it('PROF-14-01 does not call an agent without a valid signature if one is required', async () => {
    publish({ capabilities: [{ name: 'gen-iti' }], signature: { protected: 'e30', signature: 'AAAA' } })
    const refused = await codeOf(
      invokeAgent(uri('/planner/gen-iti', 'agent'), {}, { ...options, requireSignature: true }),
    )
    expect(['unsigned', 'bad_signature']).toContain(refused)
    expect(host.calls).toEqual([])
  })
})

describe('headers', () => {
  it('AURI-8.1-01 carry session, task, version, request id, delegation and idempotency key', async () => {
    host.handlers['/p'] = always(null)
    await invokeAgent(
      uri('/p'),
      {},
      {
        ...options,
        sessionId: 's1',
        taskId: 't1',
        version: '2.0.0',
        requestId: 'r1',
        idempotencyKey: 'k1',
        delegationChain: async (hop) => `signed-for:${hop.url}`,
      },
    )
    expect(call()?.headers).toMatchObject({
      'x-session-id': 's1',
      'x-task-id': 't1',
      'x-agent-version': '2.0.0',
      'x-request-id': 'r1',
      'idempotency-key': 'k1',
      'x-delegation-chain': `signed-for:${host.origin}/p`,
    })
  })

  it('AURI-8.1-01 take session and task from the query, and conflicting values are rejected', async () => {
    host.handlers['/p'] = always(null)
    await invokeAgent(uri('/p?sessionId=s1&taskId=t1'), {}, options)
    expect(call()?.headers).toMatchObject({ 'x-session-id': 's1', 'x-task-id': 't1' })
    const disagreeing = invokeAgent(uri('/p?sessionId=s1'), {}, { ...options, sessionId: 's2' })
    expect(await codeOf(disagreeing)).toBe('invalid_argument')
  })

  it('AURI-7-17 negotiate with Accept; a 406 error lists the supported types', async () => {
    host.handlers['/p'] = (seen, response) =>
      seen.headers.accept === 'application/ld+json'
        ? sendJson(response, 200, { '@id': 'x' }, { 'content-type': 'application/ld+json' })
        : sendJson(response, 406, { title: 'Not Acceptable', status: 406, supported: ['application/json'] })
    const reply = await invokeAgent(uri('/p'), {}, { ...options, accept: 'application/ld+json' })
    expect(reply).toMatchObject({ contentType: 'application/ld+json', output: { '@id': 'x' } })
    const error = await invokeAgent(uri('/p'), {}, { ...options, accept: ['application/fipa-acl'] }).catch(
      (e: unknown) => e,
    )
    expect(error).toMatchObject({ code: 'not_acceptable', status: 406 })
    expect(readProblem(error instanceof ClientError ? error.details : undefined)?.supported).toEqual([
      'application/json',
    ])
  })

  it('AURI-8.3.1-03 get a credential from the provider after a 401, and the call is repeated once', async () => {
    host.handlers['/p'] = (seen, response) =>
      seen.headers.authorization === 'Bearer fresh'
        ? sendJson(response, 200, 'in')
        : sendJson(response, 401, { title: 'Unauthorized' }, { 'www-authenticate': 'Bearer realm="agents"' })
    const needs: unknown[] = []
    const provide = (token: string) => (need: unknown) => {
      needs.push(need)
      return { type: 'bearer', token } as const
    }
    const reply = await invokeAgent(uri('/p'), {}, { ...options, credentials: provide('fresh') })
    expect(reply.output).toBe('in')
    expect(needs).toEqual([expect.objectContaining({ challenge: 'Bearer realm="agents"', url: `${host.origin}/p` })])
    expect(await codeOf(invokeAgent(uri('/p'), {}, { ...options, credentials: provide('stale') }))).toBe('unauthorized')
    expect(host.calls).toHaveLength(4)
  })

  it('AIDIP-5.1-04 carry the credential that the descriptor names, or none', async () => {
    host.handlers['/planner/gen-iti'] = always(null)
    const credentials = { type: 'api_key', key: 'k' } as const
    const sent = async (authentication: object): Promise<unknown> => {
      host.seen.length = 0
      publish({ capabilities: [{ name: 'gen-iti' }], ...authentication })
      await invokeAgent(uri('/planner/gen-iti', 'agent'), {}, { ...options, credentials })
      return call()?.headers['x-api-key']
    }
    expect(await sent({ authentication: { schemes: ['ApiKey'] } })).toBe('k')
    expect(await sent({ authentication: { schemes: ['none'] } })).toBeUndefined()
    expect(await sent({})).toBeUndefined()
  })

  it('never carry the userinfo of the URI', async () => {
    host.handlers['/p'] = always(null)
    await invokeAgent(`agent+https://user:secret@${host.authority}/p`, {}, options)
    expect(call()?.headers.authorization).toBeUndefined()
    expect(JSON.stringify(host.seen)).not.toContain('secret')
  })
})

describe('errors', () => {
  const failWith = async (body: Parameters<typeof always>[0], status: number): Promise<ClientError> => {
    host.handlers['/p'] = always(body, status, { 'x-request-id': 'r7' })
    const error = await invokeAgent(uri('/p'), {}, options).catch((e: unknown) => e)
    if (error instanceof ClientError) return error
    throw error
  }

  it('AURI-9-03 reads the draft’s 404 example as a missing capability', async () => {
    const error = await failWith(
      {
        type: 'https://example.com/errors/capability-not-found',
        title: 'Capability Not Found',
        status: 404,
        detail: "The requested capability 'gen-iti' was not found.",
        instance: '/planner/gen-iti',
      },
      404,
    )
    expect(error).toMatchObject({ code: 'capability_not_found', status: 404, requestId: 'r7' })
    expect(readProblem(error.details)).toMatchObject({ category: 'CapabilityNotFound', instance: '/planner/gen-iti' })
    expect(error.message).toBe("The requested capability 'gen-iti' was not found.")
  })

  it('AURI-9-07 reads JSON-RPC, REST and GraphQL errors the same way', async () => {
    const shapes = [
      { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no such thing', data: {} } },
      { error: { code: 'CapabilityNotFound', message: 'no such thing' } },
      { errors: [{ message: 'no such thing', extensions: { code: 'CAPABILITY_NOT_FOUND' } }] },
    ]
    for (const shape of shapes) {
      expect(await failWith(shape, 404)).toMatchObject({
        code: 'capability_not_found',
        status: 404,
        message: 'no such thing',
      })
    }
  })

  it.each([
    ['CapabilityNotFound', 404, 'capability_not_found'],
    ['InvalidInput', 400, 'invalid_input'],
    ['AmbiguousResponse', 422, 'remote_error'],
    ['Timeout', 504, 'timeout'],
    ['PermissionDenied', 403, 'permission_denied'],
  ])('AURI-9-08 recognizes the category %s', async (category, status, code) => {
    const error = await failWith({ error: { code: category, message: 'so' } }, status)
    expect(error.code).toBe(code)
    expect(readProblem(error.details)?.category).toBe(category)
  })

  it.each([
    [400, 'invalid_input'],
    [401, 'unauthorized'],
    [403, 'permission_denied'],
    [404, 'not_found'],
    [409, 'conflict'],
    [413, 'too_large'],
    [415, 'invalid_input'],
    [500, 'remote_error'],
    [502, 'remote_error'],
    [503, 'unavailable'],
  ])('maps status %i to a code if the body is not JSON', async (status, code) => {
    host.handlers['/p'] = (_seen, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>no</h1>')
    expect(await codeOf(invokeAgent(uri('/p'), {}, options))).toBe(code)
  })

  it('reports a redirect instead of following it', async () => {
    host.handlers['/p'] = (_seen, response) => response.writeHead(307, { location: `${host.origin}/q` }).end()
    host.handlers['/q'] = always('reached')
    expect(await codeOf(invokeAgent(uri('/p'), {}, options))).toBe('bad_redirect')
    expect(host.calls.map(({ url }) => url)).toEqual(['/p'])
  })

  it('rejects responses that are too large, not JSON, or truncated', async () => {
    host.handlers['/large'] = always('x'.repeat(5000))
    host.handlers['/broken'] = (_seen, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')
    host.handlers['/twice'] = (_seen, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1,"a":2}')
    host.handlers['/cut'] = (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"a":', () => response.destroy())
    }
    expect(await codeOf(invokeAgent(uri('/large'), {}, { ...options, maxBytes: 1000 }))).toBe('too_large')
    expect(await codeOf(invokeAgent(uri('/broken'), {}, options))).toBe('bad_response')
    expect(await codeOf(invokeAgent(uri('/twice'), {}, options))).toBe('bad_response')
    expect(await codeOf(invokeAgent(uri('/cut'), {}, options))).toBe('unreachable')
  })

  it('fails with a code on timeout and abort', async () => {
    host.handlers['/hang'] = () => {}
    host.handlers['/drip'] = (_seen, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).write('{')
    expect(await codeOf(invokeAgent(uri('/hang'), {}, { ...options, timeoutMs: 50 }))).toBe('timeout')
    expect(await codeOf(invokeAgent(uri('/drip'), {}, { ...options, timeoutMs: 50 }))).toBe('timeout')
    const controller = new AbortController()
    const work = invokeAgent(uri('/hang'), {}, { ...options, signal: controller.signal })
    controller.abort('enough')
    await expect(work).rejects.toMatchObject({ code: 'aborted', cause: 'enough' })
  })
})

describe('retries', () => {
  it('AURI-9-09 wait as long as a 429 says', async () => {
    const { waits, retry } = fakeRetry()
    let requests = 0
    host.handlers['/p'] = (_seen, response) =>
      ++requests === 1
        ? sendJson(response, 429, { title: 'Too Many' }, { 'retry-after': '7' })
        : sendJson(response, 200, 'now')
    expect((await invokeAgent(uri('/p'), {}, { ...options, retry })).output).toBe('now')
    expect(waits).toEqual([7000])
  })

  it('AURI-9-09 do not wait for hours: the error says when to retry', async () => {
    const { waits, retry } = fakeRetry()
    host.handlers['/p'] = always({ title: 'Too Many' }, 429, { 'retry-after': '3600' })
    await expect(invokeAgent(uri('/p'), {}, { ...options, retry })).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfter: 3600,
    })
    expect(waits).toEqual([])
  })

  it('AIDIP-5.3-07 do not repeat a call that may have run, unless it has an idempotency key', async () => {
    host.handlers['/p'] = (_seen, response) => response.destroy()
    expect(await codeOf(invokeAgent(uri('/p'), {}, options))).toBe('unreachable')
    expect(host.calls).toHaveLength(1)
    host.seen.length = 0
    expect(await codeOf(invokeAgent(uri('/p'), {}, { ...options, idempotencyKey: 'k' }))).toBe('unreachable')
    expect(host.calls.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k', 'k'])
  })

  it('do not repeat a call that may have run after a 502', async () => {
    host.handlers['/p'] = always({ error: { code: 'AgentError', message: 'down' } }, 502)
    expect(await codeOf(invokeAgent(uri('/p'), {}, options))).toBe('remote_error')
    expect(host.calls).toHaveLength(1)
  })
})
