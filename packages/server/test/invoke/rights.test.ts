import { describe, expect, it } from 'vitest'
import { startDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { echo, fixed } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp()
const { register, call } = setup
const INPUT = { text: 'hello' }

const grant = (members: object) =>
  setup.directory.post('/admin/grants', { as: 'admin', body: { subject: 'tokC', scopes: ['invoke'], ...members } })

describe('who may call', () => {
  it('AIDIP-5.2-08 AIDIP-9-03 nobody without credentials, and nobody without the scope', async () => {
    await register()
    const anonymous = await call(INPUT, { as: 'anon' })
    expectError(anonymous, { status: 401, code: 'unauthorized', says: /credentials/ })
    expect(anonymous.headers.get('www-authenticate')).toMatch(/^Bearer/)
    const key = await setup.directory.makeKey({ subject: 'reader', scopes: ['discover', 'publish'] })
    expectError(await call(INPUT, { key }), { status: 403, code: 'forbidden', says: /invoke scope/ })
    expect(setup.agent.calls).toEqual([])
  })

  it('AIDIP-9-05 AIDIP00-7-03 a restricted agent: its owner, and those who have a grant to call it', async () => {
    await register({ visibility: 'restricted', tags: ['hr'] })
    for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke'])
      expectError(await call(INPUT, { path }), { status: 403, code: 'forbidden' })
    await grant({ agent: 'x', scopes: ['discover'] })
    expectError(await call(INPUT), { status: 403 })
    expect(setup.agent.calls).toEqual([])
    expect((await call(INPUT, { as: 'tokA' })).status).toBe(200)
    expect((await call(INPUT, { as: 'admin' })).status).toBe(200)
    await grant({ agent: 'x' })
    expect((await call(INPUT)).status).toBe(200)
    expectError(await call(INPUT, { as: 'tokB' }), { status: 403 })
    await setup.directory.post('/admin/grants', {
      as: 'admin',
      body: { subject: 'tokB', tag: 'hr', scopes: ['invoke'] },
    })
    expect((await call(INPUT, { as: 'tokB' })).status).toBe(200)
  })

  it('AIDIP-9-05 C-70 a private agent: does not exist for other callers', async () => {
    await register({ visibility: 'private' })
    expectError(await call(INPUT), { status: 404, code: 'not_found' })
    await grant({ agent: 'x', scopes: ['discover'] })
    expectError(await call(INPUT), { status: 403, code: 'forbidden' })
    await grant({ agent: 'x' })
    expect((await call(INPUT)).status).toBe(200)
  })

  it('C-95 a grant ends when the agent gets a new owner', async () => {
    await register({ visibility: 'private' })
    await grant({ agent: 'x' })
    await setup.directory.delete('/agents/x', { as: 'tokA' })
    await setup.directory.post('/agents', { as: 'tokB', body: setup.agent.document({ visibility: 'private' }) })
    expectError(await call(INPUT), { status: 404 })
  })

  it('a credential that is limited to certain names: only those agents', async () => {
    await register()
    await register({ id: 'corp-x' })
    const key = await setup.directory.makeKey({ subject: 'corp', scopes: ['discover', 'invoke'], names: ['corp-*'] })
    expectError(await call(INPUT, { key }), { status: 403 })
    expect((await call(INPUT, { key, path: '/agents/corp-x/invoke' })).status).toBe(200)
  })

  it('an agent that the operator has marked unsafe: only administrators', async () => {
    // The mark outlives the registration, so no other test has this name.
    await register({ id: 'risky' })
    const path = '/agents/risky/invoke'
    await setup.directory.patch('/admin/agents/risky', { as: 'admin', body: { unsafe: true } })
    expectError(await call(INPUT, { path }), { status: 403, says: /unsafe/ })
    expectError(await call(INPUT, { path, as: 'tokA' }), { status: 403, says: /unsafe/ })
    expect((await call(INPUT, { path, as: 'admin' })).status).toBe(200)
  })

  it('PROF-7.4-02 an operation that is hidden from the public: its owner', async () => {
    const operation = { inputs: { text: 'string' }, outputs: {} }
    await register({
      operations: [
        { name: 'open', ...operation },
        { name: 'secret', private: true, ...operation },
      ],
    })
    const refused = await call(INPUT, { path: '/agents/x/secret' })
    expectError(refused, { status: 404 })
    expect(refused.json.message).not.toMatch(/"secret".*"secret"/)
    expectError(await call({ operation: 'secret', ...INPUT }), { status: 400, says: /must be one of "open"/ })
    expect((await call(INPUT, { path: '/agents/x/secret', as: 'tokA' })).status).toBe(200)
    await call(INPUT)
    expect(setup.agent.calls.map(({ json }) => json.operation)).toEqual(['secret', 'open'])
  })

  it('PROF-7.4-02 an agent whose address and operations are private can still be called', async () => {
    await register({ private: ['endpoint', 'inputs', 'outputs'] })
    expect(await call(INPUT)).toMatchObject({ status: 200, json: INPUT })
    setup.agent.reply = fixed({ text: 'made' }, 201, { location: '/things/1' })
    const made = await call(INPUT)
    expect([made.status, made.headers.has('location')]).toEqual([201, false])
    expect((await call(INPUT, { as: 'tokA' })).headers.has('location')).toBe(true)
    setup.agent.reply = echo
    // The schema is private too, so only the agent itself can check the input.
    expect((await call({})).status).toBe(200)
    expectError(await call({}, { as: 'tokA' }), { status: 400, member: '/text' })
  })
})

describe('the rate of calls', () => {
  it('AIDIP-9-12 AIDIP00-7-04 is limited for each client', async () => {
    const directory = await startDirectory({ rateLimits: { search: 1e6, register: 1e6, lookup: 1e6, invoke: 3 } })
    try {
      await directory.post('/agents', { as: 'tokA', body: setup.agent.document() })
      for (let i = 0; i < 3; i++)
        expect((await directory.post('/agents/x/invoke', { as: 'tokC', body: INPUT })).status).toBe(200)
      const refused = await directory.post('/v0/agents/x/invoke', { as: 'tokC', body: INPUT })
      expectError(refused, { status: 429, code: 'rate_limited' })
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
      expect((await directory.post('/agents/x/invoke', { as: 'tokB', body: INPUT })).status).toBe(200)
      expect(setup.agent.calls).toHaveLength(4)
    } finally {
      await directory.close()
    }
  })
})

describe('credentials', () => {
  const KEY = 'key-of-the-agent'
  const API_KEY = { authentication: { type: 'api_key' } }
  const BEARER = { authentication: { type: 'oauth2_bearer' } }
  const sent = () => setup.agent.calls.pop()?.headers ?? {}

  it('AIDIP-5.1-16 that the agent requires and the caller lacks end the call before it is sent', async () => {
    await register(API_KEY)
    await register({ id: 'y', ...BEARER })
    await register({ id: 'z', authentication: 'API Key' })
    for (const id of ['x', 'y', 'z']) {
      const answer = await call(INPUT, { path: `/agents/${id}/invoke` })
      expectError(answer, { status: 401, code: 'unauthorized', says: /requires (an API key|a bearer token)/ }, id)
      expect(answer.headers.has('www-authenticate')).toBe(true)
    }
    expect(setup.agent.calls).toEqual([])
  })

  it('C-96 AIDIP00-6-05 X-API-Key beside a bearer key is for the agent', async () => {
    await register(API_KEY)
    expect((await call(INPUT, { headers: { 'x-api-key': KEY } })).status).toBe(200)
    const headers = sent()
    expect([headers['x-api-key'], headers.authorization]).toEqual([KEY, undefined])
  })

  it('C-96 a caller who uses X-API-Key for the directory sends the agent’s as X-Agent-API-Key', async () => {
    await register(API_KEY)
    const ours = await setup.directory.makeKey({ subject: 'client', scopes: ['invoke'] })
    const ask = { as: 'anon' as const, headers: { 'x-api-key': ours, 'x-agent-api-key': KEY } }
    expect((await call(INPUT, ask)).status).toBe(200)
    expect(sent()['x-api-key']).toBe(KEY)
    expectError(await call(INPUT, { as: 'anon', headers: { 'x-api-key': ours } }), {
      status: 401,
      says: /requires an API key/,
    })
  })

  it('C-96 a bearer token for the agent is sent as X-Agent-Authorization', async () => {
    await register(BEARER)
    expect((await call(INPUT, { headers: { 'x-agent-authorization': 'Bearer theirs' } })).status).toBe(200)
    const headers = sent()
    expect(headers.authorization).toBe('Bearer theirs')
    expect(headers).not.toHaveProperty('x-agent-authorization')
  })

  it('C-96 for the directory never reach an agent', async () => {
    const ours = await setup.directory.makeKey({ subject: 'client', scopes: ['invoke'] })
    await register(API_KEY)
    await register({ id: 'y' })
    const reused = { headers: { 'x-api-key': ours }, key: ours }
    expectError(await call(INPUT, reused), { status: 400, member: 'X-API-Key' })
    const asToken = { headers: { 'x-agent-authorization': `Bearer ${ours}` }, key: ours, path: '/agents/y/invoke' }
    expectError(await call(INPUT, asToken), { status: 400, member: 'X-Agent-Authorization' })
    expect((await call(INPUT, { ...reused, path: '/agents/y/invoke' })).status).toBe(200)
    expect(JSON.stringify(setup.agent.calls)).not.toContain(ours)
  })

  it('AIDIP-9-06 AIDIP00-7-06 of the gateway are sent to the agent if the operator has set some', async () => {
    await register(BEARER)
    const body = { type: 'bearer', token: 'gateway-token' }
    const kept = await setup.directory.put('/admin/agents/x/credential', { as: 'admin', body })
    expect(kept.status, kept.text).toBeLessThan(300)
    for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke']) {
      expect((await call(INPUT, { path })).status, path).toBe(200)
      expect(sent().authorization, path).toBe('Bearer gateway-token')
    }
    setup.agent.reply = fixed({ error: { code: 'Unauthorized', message: 'who are you?' } }, 401)
    const refused = await call(INPUT)
    expectError(refused, { status: 502, code: 'agent_error', says: /credential of this directory/ })
  })

  it('C-97 of the caller that the agent rejects are reported as 401', async () => {
    await register(API_KEY)
    setup.agent.reply = fixed({ error: { code: 'Unauthorized', message: 'wrong key' } }, 401)
    const answer = await call(INPUT, { headers: { 'x-api-key': KEY } })
    expect(answer).toMatchObject({ status: 401, json: { error: { message: 'wrong key' } } })
  })
})

describe('the audit log', () => {
  it('AIDIP-9-15 AIDIP00-7-05 AURI-10-12 has an entry for each call, without input and output', async () => {
    await register({ visibility: 'restricted' })
    await grant({ agent: 'x' })
    const headers = { 'x-request-id': 'audited-call' }
    const secret = 'what-was-said'
    await call({ text: secret }, { headers })
    await call({ text: 5, secret }, { headers })
    await call({ text: secret }, { headers, as: 'tokB' })
    const { json, text } = await setup.directory.get('/admin/audit?action=invoke&agent=x&limit=3', { as: 'admin' })
    expect(text).not.toContain(secret)
    expect(json.entries).toEqual([
      expect.objectContaining({
        actor: 'tokB',
        outcome: 'refused',
        detail: expect.stringMatching(/^forbidden: .*no grant/),
        request_id: 'audited-call',
      }),
      expect.objectContaining({ actor: 'tokC', outcome: 'refused', detail: 'invalid_request' }),
      expect.objectContaining({ actor: 'tokC', outcome: 'ok', agent: 'x', at: expect.any(String) }),
    ])
  })
})

describe('a directory without a gateway', () => {
  it('AIDIP00-2-01 serves search but no calls: 501, and 404 for an unknown agent', async () => {
    const directory = await startDirectory({ gateway: { enabled: false } })
    try {
      await directory.post('/agents', { as: 'tokA', body: setup.agent.document() })
      expectError(await directory.post('/agents/x/invoke', { as: 'tokC', body: INPUT }), {
        status: 501,
        code: 'not_invocable',
      })
      expectError(await directory.post('/agents/none/invoke', { as: 'tokC', body: INPUT }), { status: 404 })
      expect(setup.agent.calls).toEqual([])
      const found = await directory.post('/agents/search', { body: {} })
      expect(found.json).toMatchObject([{ id: 'x' }])
      await directory.restart({ gateway: { enabled: true } })
      expect((await directory.post('/agents/search', { body: {} })).json).toEqual(found.json)
      expect((await directory.post('/agents/x/invoke', { as: 'tokC', body: INPUT })).status).toBe(200)
      expect(setup.agent.calls).toHaveLength(1)
    } finally {
      await directory.close()
    }
  })
})
