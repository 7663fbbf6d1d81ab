import { describe, expect, it } from 'vitest'
import { expectError } from '../support/errors.js'
import { setUp } from './setup.js'

const setup = setUp()
const { register, call } = setup

/** Two operations on one endpoint. */
const TWO = {
  operations: [
    { name: 'translate', inputs: { text: 'string', to: 'string?' }, outputs: {} },
    { name: 'summarize', inputs: { text: 'string' }, outputs: {} },
  ],
}

describe('the path of a call', () => {
  it.each(['/agents/x/invoke', '/agents/x/translate', '/agents/x/operations/translate', '/v0/agents/x/invoke'])(
    'AIDIP-5.1-02 is for POST only: %s',
    async (path) => {
      await register(TWO)
      for (const method of ['get', 'put', 'patch', 'delete'] as const) {
        const answer = await setup.directory[method](path, { as: 'tokC' })
        expectError(answer, { status: 405, code: 'method_not_allowed' }, method)
        expect(answer.headers.get('allow')).toBe('POST')
      }
      expect(setup.agent.calls).toEqual([])
    },
  )

  it('AIDIP-5.1-07 AIDIP00-6-06 may name the operation, without a member for it', async () => {
    await register(TWO)
    for (const path of ['/agents/x/summarize', '/v1/agents/x/summarize', '/v0/agents/x/summarize']) {
      expect((await call({ text: 'a' }, { path })).status).toBe(200)
      expect(setup.agent.calls.pop()?.json).toEqual({ operation: 'summarize', text: 'a' })
    }
  })

  it('AIDIP-5.3-09 AIDIP00-6.3-04 gives the same result as the member', async () => {
    await register(TWO)
    for (const base of ['', '/v0']) {
      const byName = await call({ operation: 'translate', text: 'a' }, { path: `${base}/agents/x/invoke` })
      const byPath = await call({ text: 'a' }, { path: `${base}/agents/x/translate` })
      expect([byName.status, byPath.status]).toEqual([200, 200])
      expect(byPath.json).toEqual(byName.json)
    }
    const [first, ...others] = setup.agent.calls.map(({ json }) => json)
    for (const other of others) expect(other).toEqual(first)
  })

  it('C-04 of an operation named like another route works, and so does the member', async () => {
    const names = ['invoke', 'feedback', 'agent.json', 'operations', 'versions']
    await register({ operations: names.map((name) => ({ name, inputs: { text: 'string' }, outputs: {} })) })
    for (const name of names) {
      await call({ text: 'a' }, { path: `/agents/x/operations/${name}` })
      await call({ operation: name, text: 'a' })
    }
    expect(setup.agent.calls.map(({ json }) => json.operation)).toEqual(names.flatMap((name) => [name, name]))
  })

  it('C-31 may contain percent-encoded slashes in ids and operations', async () => {
    await register({ id: 'urn:a/b', operations: [{ name: 'do/it', inputs: {}, outputs: {} }] })
    const answer = await call(
      { a: 1 },
      { path: `/agents/${encodeURIComponent('urn:a/b')}/${encodeURIComponent('do/it')}` },
    )
    expect([answer.status, answer.json]).toEqual([200, { a: 1 }])
  })

  it('selects the operation’s own endpoint if it has one, which does not receive the name', async () => {
    const own = new URL('/own?x=1', setup.agent.url).href
    await register({
      operations: [
        { name: 'far', endpoint: own, inputs: {}, outputs: {} },
        { name: 'near', endpoint: '/below', inputs: {}, outputs: {} },
      ],
    })
    await call({ a: 1 }, { path: '/agents/x/far' })
    await call({ a: 1 }, { path: '/agents/x/near' })
    expect(setup.agent.calls.map(({ path, json }) => [path, json])).toEqual([
      ['/own?x=1', { a: 1 }],
      ['/below', { a: 1 }],
    ])
  })
})

describe('the operation', () => {
  it('AIDIP-5.1-06 AIDIP00-6-06 may be named by a member, which is not counted as input', async () => {
    const closed = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false }
    await register({
      operations: [
        { name: 'translateText', inputs: closed, outputs: {} },
        { name: 'other', inputs: {}, outputs: {} },
      ],
    })
    expect((await call({ operation: 'translateText', text: 'a' })).status).toBe(200)
    expect(setup.agent.calls[0]?.json).toEqual({ operation: 'translateText', text: 'a' })
  })

  it('AIDIP-5.1-08 must be named if there are several', async () => {
    await register(TWO)
    expectError(await call({ text: 'a' }), { status: 400, member: '/operation', says: /"translate", "summarize"/ })
    expectError(await call({ operation: 'nope', text: 'a' }), {
      status: 400,
      member: '/operation',
      says: /translate/,
    })
    expectError(await call({ operation: 7, text: 'a' }), { status: 400, member: '/operation' })
    expectError(await call({ text: 'a' }, { path: '/agents/x/nope' }), { status: 404, says: /translate/ })
    expect(setup.agent.calls).toEqual([])
  })

  it('C-58 must be the same in all places', async () => {
    await register(TWO)
    const path = '/agents/x/translate'
    expectError(await call({ operation: 'summarize', text: 'a' }, { path }), { status: 400, member: '/operation' })
    expect(setup.agent.calls).toEqual([])
    expect((await call({ operation: 'translate', text: 'a' }, { path })).status).toBe(200)
  })

  it('C-58 need not be named if there is only one, and a member of that name stays in its input', async () => {
    await register({ inputs: { operation: 'string', text: 'string' } })
    await call({ operation: 'multiply', text: 'a' })
    expect(setup.agent.calls.pop()?.json).toEqual({ operation: 'multiply', text: 'a' })
    await register2({ inputs: { text: 'string' } })
    await call({ operation: 'invoke', text: 'a' }, { path: '/agents/y/invoke' })
    expect(setup.agent.calls.pop()?.json).toEqual({ text: 'a' })
    const wrong = await call({ operation: 'multiply', text: 'a' }, { path: '/agents/y/invoke' })
    expectError(wrong, { status: 400, member: '/operation' })
  })

  it('C-08 of an agent of the Agent Directory comes from its capabilities, or accepts any object', async () => {
    const { directory, agent } = setup
    const schema = { type: 'object', required: ['text'] }
    const capabilities = [{ name: 'summarize', type: 'tool', input_schema: schema }]
    const ask = { as: 'tokA' as const, body: { base: agent.url, capabilities } }
    expect((await directory.post('/ad/r?agent=adx', ask)).status).toBe(201)
    expect((await call({ text: 'a' }, { path: '/agents/adx/summarize' })).status).toBe(200)
    expectError(await call({}, { path: '/agents/adx/invoke' }), { status: 400, member: '/text' })
    await directory.post('/ad/r?agent=ady', { as: 'tokA', body: { base: agent.url } })
    expect((await call({ any: ['thing'] }, { path: '/agents/ady/invoke' })).json).toEqual({ any: ['thing'] })
    expectError(await call('text', { path: '/agents/ady/invoke' }), { status: 400 })
  })
})

const register2 = (changes: Parameters<typeof register>[0]): Promise<void> => register({ id: 'y', ...changes })

describe('the input', () => {
  it('AIDIP-5.1-05 AIDIP00-6-03 reaches the agent if it matches the schema, whatever the member of the schema is called', async () => {
    const inputs = { text: 'string', source_language: 'string', target_language: 'string' }
    const body = { text: 'Hello, how are you?', source_language: 'en', target_language: 'fr' }
    await register({ inputs })
    const { inputs: _, ...without } = setup.agent.document({ id: 'y', input_schema: inputs, output_schema: {} })
    expect((await setup.directory.post('/agents', { as: 'tokA', body: without })).status).toBe(201)
    for (const path of ['/agents/x/invoke', '/agents/y/invoke', '/v0/agents/y/invoke']) {
      expect((await call(body, { path })).status).toBe(200)
      expect(setup.agent.calls.pop()).toMatchObject({ method: 'POST', path: '/agent', json: body })
      expectError(await call({ ...body, text: 5 }, { path }), { status: 400, member: '/text' })
    }
    expect(setup.agent.calls).toEqual([])
  })

  it('AIDIP-5.1-09 keeps the names of members that the agent declares', async () => {
    await register({ inputs: { type: 'object', properties: { 'Δ-input': { type: 'number' } }, required: ['Δ-input'] } })
    const body = { 'Δ-input': 1, ' ': { '': [null, true, 1e21, 'ü\u2028'] } }
    expect((await call(body)).json).toEqual(body)
    expect(setup.agent.calls[0]?.json).toEqual(body)
  })

  it('AIDIP-5.1-10 is rejected before it reaches the agent if it does not match', async () => {
    await register({ inputs: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] } })
    expectError(await call({}), { status: 400, code: 'invalid_request', member: '/n' })
    expectError(await call({ n: 0 }), { status: 400, member: '/n' })
    expectError(await call({ n: 'one' }), { status: 400, member: '/n' })
    expectError(await call('text'), { status: 400, says: /^the input must be/ })
    expect(setup.agent.calls).toEqual([])
  })

  it('may be omitted if nothing is required', async () => {
    await register({ inputs: {} })
    const answer = await setup.directory.post('/agents/x/invoke', { as: 'tokC' })
    expect([answer.status, answer.json]).toEqual([200, {}])
  })
})

describe('headers', () => {
  it('AIDIP-5.1-15 AIDIP00-6-05 for correlation are forwarded and returned, and change nothing', async () => {
    await register()
    const headers = { 'x-request-id': 'r1', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    const plain = await call({ text: 'a' })
    const tagged = await call({ text: 'a' }, { headers })
    expect([tagged.status, tagged.text]).toEqual([plain.status, plain.text])
    expect(tagged.headers.get('x-request-id')).toBe('r1')
    expect(setup.agent.calls[1]?.headers).toMatchObject(headers)
    expect(setup.agent.calls[0]?.headers['x-request-id']).toBe(plain.headers.get('x-request-id'))
  })

  it('of the connection, cookies and the like are not forwarded', async () => {
    await register()
    const headers = { cookie: 'a=b', 'x-forwarded-for': '10.0.0.1', 'x-secret': 's', origin: 'https://a.example' }
    await call({ text: 'a' }, { headers })
    const sent = setup.agent.calls[0]?.headers ?? {}
    for (const name of ['cookie', 'x-forwarded-for', 'x-secret', 'origin', 'authorization'])
      expect(sent).not.toHaveProperty(name)
  })
})
