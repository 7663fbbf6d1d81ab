import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../src/config/settings.js'
import { startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'

/** Every route that changes agents, with a request that is valid if the caller has permission. */
const WRITES: [method: 'post' | 'put' | 'delete', path: string, body?: JsonObject][] = [
  ['post', '/agents', aidipAgent({ id: 'new' })],
  ['post', '/v0/agents', aidipAgent({ id: 'new' })],
  ['post', '/v1/agents', aidipAgent({ id: 'new' })],
  ['post', '/discover/agents', fixture('FX-D0', { id: 'new' })],
  ['post', '/ad/r?agent=new', fixture('FX-SUM')],
  ['put', '/agents/own', aidipAgent()],
  ['put', '/v0/agents/own', aidipAgent()],
  ['post', '/ad/r/1'],
  ['post', '/ad/r/1', { description: 'changed' }],
  ['delete', '/ad/r/1'],
  ['delete', '/agents/own'],
  ['delete', '/v1/agents/own'],
]
const ADMIN: [method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: JsonObject][] = [
  ['post', '/admin/keys', { subject: 'x', scopes: ['admin'] }],
  ['get', '/admin/keys'],
  ['delete', '/admin/keys/admin'],
  ['post', '/admin/grants', { subject: 'x', tag: 't', scopes: ['discover'] }],
  ['get', '/admin/grants'],
  ['delete', '/admin/grants/x'],
  ['patch', '/admin/agents/own', { unsafe: true }],
  ['get', '/admin/audit'],
  ['post', '/admin/import', aidipAgent({ id: 'new' })],
]
const DISCOVERY: [method: 'get' | 'post', path: string, body?: JsonObject][] = [
  ['get', '/agents'],
  ['get', '/v0/agents'],
  ['get', '/agents/public'],
  ['get', '/agents/own'],
  ['post', '/agents/search', {}],
  ['post', '/v0/agents/search', {}],
  ['post', '/discover', { query: 'x' }],
  ['get', '/discover/agents/own'],
  ['get', '/ad/l'],
  ['get', '/ad/r/1'],
  ['get', '/.well-known/agents.json'],
  ['get', '/agents/own/agent.json'],
  ['get', '/agents/own/agent-card.json'],
  ['get', '/agents/own/server.json'],
]

/** Only an agent that speaks MCP has a server.json. */
const bindings = [{ protocol: 'mcp', endpoint: 'https://mcp.example.net/' }]

let directory: TestDirectory
const send = (
  [method, path, body]: [method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: JsonObject],
  key?: string,
): Promise<TestResponse> => directory[method](path, { ...(key !== undefined && { key }), ...(body && { body }) })

describe('scopes', () => {
  beforeAll(async () => {
    directory = await startDirectory()
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'own', bindings }) })
  })
  afterAll(() => directory.close())

  it.each(WRITES)('AIDIP-9-03 %s %s needs credentials: 401 with WWW-Authenticate', async (...route) => {
    const answer = await send(route)
    expectError(answer, { status: 401, code: 'unauthorized' })
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="/)
  })

  it('AD-8.2-01 an agent that registers without credentials gets 401 with WWW-Authenticate', async () => {
    const answer = await directory.post('/ad/r?agent=new', { body: fixture('FX-SUM') })
    expectError(answer, { status: 401, code: 'unauthorized' })
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /)
  })

  it.each(WRITES)('%s %s needs the publish scope: other scopes get 403', async (...route) => {
    for (const scopes of [['discover'], ['invoke'], ['discover', 'invoke'], ['ct']]) {
      const key = await directory.makeKey({ subject: 'tokA', scopes })
      expectError(await send(route, key), { status: 403, code: 'forbidden' }, scopes.join())
    }
  })

  it.each(ADMIN)('%s %s needs the admin scope: 401 without credentials, 403 with any other scope', async (...route) => {
    expectError(await send(route), { status: 401, code: 'unauthorized' })
    const key = await directory.makeKey({
      subject: 'admin',
      scopes: ['publish', 'discover', 'invoke', 'ct'],
      names: ['*'],
    })
    expectError(await send(route, key), { status: 403, code: 'forbidden' })
  })

  it('AIDIP-9-03 public discovery needs no credentials', async () => {
    for (const route of DISCOVERY) expect((await send(route)).status, route.join()).toBe(200)
  })

  it('AIDIP-9-03 a wrong key is rejected even if none is needed', async () => {
    for (const route of DISCOVERY) {
      const answer = await send(route, 'sb_no-such-key')
      expectError(answer, { status: 401 }, route.join())
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
  })

  it('admin implies every scope', async () => {
    const key = await directory.makeKey({ subject: 'operator', scopes: ['admin'] })
    const created = await directory.post('/agents', { key, body: aidipAgent({ id: 'of-admin' }) })
    expect(created.status).toBe(201)
    expect((await directory.put('/agents/own', { key, body: aidipAgent({ version: '2' }) })).status).toBe(200)
    expect((await directory.delete('/agents/of-admin', { key })).status).toBe(204)
    expect((await directory.get('/admin/keys', { key })).status).toBe(200)
  })
})

describe('without public discovery', () => {
  beforeAll(async () => {
    directory = await startDirectory({ anonymous: 'none' })
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'own', bindings }) })
  })
  afterAll(() => directory.close())

  it.each(DISCOVERY)('%s %s needs the discover scope', async (...route) => {
    expectError(await send(route), { status: 401, code: 'unauthorized' })
    const publisher = await directory.makeKey({ subject: 'p', scopes: ['publish', 'invoke'] })
    expectError(await send(route, publisher), { status: 403, code: 'forbidden' })
    const client = await directory.makeKey({ subject: 'c', scopes: ['discover'] })
    expect((await send(route, client)).status).toBe(200)
    expect((await send(route, directory.adminKey)).status).toBe(200)
  })
})

describe('keys', () => {
  beforeAll(async () => {
    directory = await startDirectory()
  })
  beforeEach(() => directory.clear())
  afterAll(() => directory.close())

  const create = (body: JsonObject): Promise<TestResponse> => directory.post('/admin/keys', { as: 'admin', body })

  it('are shown once and then listed without their secret', async () => {
    const { status, json, headers } = await create({
      subject: 'alice',
      scopes: ['publish'],
      names: ['a-*'],
      expires_in: 60,
    })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(json).toMatchObject({ subject: 'alice', scopes: ['publish'], names: ['a-*'] })
    expect(json.key.length).toBeGreaterThanOrEqual(24)
    expect(Date.parse(json.expires_at) - Date.now()).toBeGreaterThan(55_000)
    const listed = await directory.get('/admin/keys', { as: 'admin' })
    expect(listed.text).not.toContain(json.key)
    expect(listed.text).not.toContain('hash')
    const { key: _secret, ...shown } = json
    expect(listed.json.keys).toContainEqual(shown)
  })

  it('are accepted as bearer tokens and as X-API-Key', async () => {
    const { json } = await create({ subject: 'alice', scopes: ['publish'] })
    const asBearer = await directory.post('/agents', {
      body: aidipAgent({ id: 'b' }),
      headers: { authorization: `bearer ${json.key}` },
    })
    expect(asBearer.status).toBe(201)
    const asKey = await directory.post('/agents', { body: aidipAgent({ id: 'k' }), headers: { 'x-api-key': json.key } })
    expect(asKey.status).toBe(201)
  })

  it('stop working immediately when revoked', async () => {
    const { json } = await create({ subject: 'alice', scopes: ['publish'] })
    expect((await directory.get('/agents', { key: json.key })).status).toBe(200)
    expect((await directory.delete(`/admin/keys/${json.id}`, { as: 'admin' })).status).toBe(204)
    expectError(await directory.get('/agents', { key: json.key }), { status: 401 })
    expectError(await directory.delete(`/admin/keys/${json.id}`, { as: 'admin' }), { status: 404 })
    expect((await directory.get('/admin/keys', { as: 'admin' })).text).not.toContain(json.id)
  })

  it('stop working when they expire', async () => {
    const { json } = await create({ subject: 'alice', scopes: ['publish'], expires_in: 1 })
    expect((await directory.get('/agents', { key: json.key })).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 1050))
    const answer = await directory.get('/agents', { key: json.key })
    expectError(answer, { status: 401, code: 'unauthorized' })
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  it('survive a restart, and so does their revocation', async () => {
    const kept = await create({ subject: 'alice', scopes: ['publish'] })
    const gone = await create({ subject: 'alice', scopes: ['publish'] })
    await directory.delete(`/admin/keys/${gone.json.id}`, { as: 'admin' })
    await directory.restart()
    expect((await directory.get('/agents', { key: kept.json.key })).status).toBe(200)
    expect((await directory.get('/agents', { key: gone.json.key })).status).toBe(401)
  })

  it('with unknown scopes are rejected, and the error names the scope', async () => {
    expectError(await create({ subject: 'x', scopes: ['publish', 'root'] }), {
      status: 400,
      member: '/scopes',
      says: /"root"/,
    })
  })

  it('of the same subject are interchangeable, those of another subject are not', async () => {
    const [one, two, other] = await Promise.all(
      ['alice', 'alice', 'bob'].map((subject) => directory.makeKey({ subject, scopes: ['publish'] })),
    )
    await directory.post('/agents', { key: one ?? '', body: aidipAgent({ id: 'shared' }) })
    expect((await directory.put('/agents/shared', { key: two ?? '', body: aidipAgent({ version: '2' }) })).status).toBe(
      200,
    )
    expectError(await directory.put('/agents/shared', { key: other ?? '', body: aidipAgent() }), { status: 403 })
  })

  it('limited to names cannot change other agents, even of the same subject', async () => {
    const wide = await directory.makeKey({ subject: 'alice', scopes: ['publish'] })
    const narrow = await directory.makeKey({ subject: 'alice', scopes: ['publish'], names: ['corp-*', 'exact'] })
    for (const id of ['corp-1', 'exact']) {
      expect((await directory.post('/agents', { key: narrow, body: aidipAgent({ id }) })).status).toBe(201)
    }
    for (const id of ['corp', 'exactly', 'Corp-1']) {
      expectError(await directory.post('/agents', { key: narrow, body: aidipAgent({ id }) }), { status: 403 }, id)
      expectError(
        await directory.post(`/ad/r?agent=${id}`, { key: narrow, body: fixture('FX-SUM') }),
        { status: 403 },
        id,
      )
    }
    expectError(await directory.post('/agents', { key: narrow, body: aidipAgent() }), { status: 403 }, 'an assigned id')
    await directory.post('/agents', { key: wide, body: aidipAgent({ id: 'other' }) })
    const { href } = (await directory.get('/ad/l?agent=other')).json.agents[0]
    expectError(await directory.put('/agents/other', { key: narrow, body: aidipAgent() }), { status: 403 })
    expectError(await directory.post('/agents', { key: narrow, body: aidipAgent({ id: 'other' }) }), { status: 403 })
    expectError(await directory.post(href, { key: narrow, body: { description: 'x' } }), { status: 403 })
    expectError(await directory.post(href, { key: narrow }), { status: 403 })
    expectError(await directory.delete(href, { key: narrow }), { status: 403 })
    expectError(await directory.delete('/agents/other', { key: narrow }), { status: 403 })
    expect((await directory.delete('/agents/corp-1', { key: narrow })).status).toBe(204)
  })
})

describe('registering on behalf of others', () => {
  beforeAll(async () => {
    directory = await startDirectory({
      policy: {
        ...DEFAULTS.policy,
        names: [{ names: ['corp-*', 'corp'], subjects: ['tokA'] }],
        owners: [{ names: ['plant-*'], subject: 'tokB' }],
        capabilities: [
          { name: 'financial-analysis', scope: 'fin' },
          { type: 'prompt', subjects: ['tokA'] },
        ],
      },
    })
  })
  beforeEach(() => directory.clear())
  afterAll(() => directory.close())

  const capability = (name: string, type: string): JsonObject => fixture('FX-SUM', { capabilities: [{ name, type }] })

  it('AIDIP-4.1-01 an administrator registers for a publisher, who becomes the owner', async () => {
    const owned: [string, JsonObject][] = [
      ['/agents?owner=tokA', aidipAgent({ id: 'x' })],
      ['/discover/agents?owner=tokA', fixture('FX-D0', { id: 'x' })],
      ['/ad/r?agent=x&owner=tokA', fixture('FX-SUM')],
    ]
    for (const [path, body] of owned) {
      expectError(await directory.post(path, { as: 'tokB', body }), { status: 403 }, path)
      expect((await directory.post(path, { as: 'admin', body })).status, path).toBe(201)
      expectError(await directory.delete('/agents/x', { as: 'tokB' }), { status: 403 }, path)
      expect((await directory.delete('/agents/x', { as: 'tokA' })).status, path).toBe(204)
    }
  })

  it('AD-7.1-01 a reserved name can be registered only by the subjects it is reserved for', async () => {
    for (const name of ['corp-x', 'corp']) {
      const body = fixture('FX-SUM')
      expectError(await directory.post(`/ad/r?agent=${name}`, { as: 'tokB', body }), {
        status: 403,
        says: /reserved/,
      })
      expectError(await directory.post('/agents', { as: 'tokB', body: aidipAgent({ id: name }) }), { status: 403 })
      const metadata = fixture('FX-D0', { id: name })
      expectError(await directory.post('/discover/agents', { as: 'tokB', body: metadata }), { status: 403 })
      expect((await directory.post(`/ad/r?agent=${name}`, { as: 'tokA', body })).status).toBe(201)
    }
    expect((await directory.post('/ad/r?agent=corporate', { as: 'tokB', body: fixture('FX-SUM') })).status).toBe(201)
  })

  it('AD-7.3-01 a capability reserved for a scope needs that scope', async () => {
    const body = capability('financial-analysis', 'tool')
    const refused = await directory.post('/ad/r?agent=fin', { as: 'tokA', body })
    expectError(refused, { status: 403, code: 'forbidden', says: /financial-analysis/ })
    const agent = aidipAgent({ capabilities: ['financial-analysis'] })
    expectError(await directory.post('/agents', { as: 'tokA', body: agent }), { status: 403 })
    const key = await directory.makeKey({ subject: 'tokA', scopes: ['publish', 'fin'] })
    expect((await directory.post('/ad/r?agent=fin', { key, body })).status).toBe(201)
  })

  it('AD-7.3-01 a type of capability can be reserved for subjects', async () => {
    const body = capability('anything', 'prompt')
    expectError(await directory.post('/ad/r?agent=p', { as: 'tokB', body }), { status: 403 })
    expect((await directory.post('/ad/r?agent=p', { as: 'tokA', body })).status).toBe(201)
    const { href } = (await directory.get('/ad/l?agent=p')).json.agents[0]
    await directory.delete(href, { as: 'tokA' })
    await directory.post('/ad/r?agent=p', { as: 'tokB', body: capability('anything', 'tool') })
    const own = (await directory.get('/ad/l?agent=p')).json.agents[0].href
    const update = { capabilities: [{ name: 'anything', type: 'prompt' }] }
    expectError(await directory.post(own, { as: 'tokB', body: update }), { status: 403 })
  })

  it('AD-8.3-01 only the owner or a commissioning tool for that name can change or remove an agent', async () => {
    const ct = await directory.makeKey({ subject: 'tool', scopes: ['ct'], names: ['robot-*'] })
    const elsewhere = await directory.makeKey({ subject: 'tool', scopes: ['ct'], names: ['other-*'] })
    const registered = await directory.post('/ad/r?agent=robot-1', { as: 'tokA', body: fixture('FX-SUM') })
    const href = registered.headers.get('location') ?? ''
    for (const stranger of [{ as: 'tokB' as const }, { as: 'tokC' as const }, { key: elsewhere }]) {
      expectError(await directory.delete(href, stranger), { status: 403 })
      expectError(await directory.post(href, stranger), { status: 403 })
      expectError(await directory.post(href, { ...stranger, body: { description: 'x' } }), { status: 403 })
    }
    expect((await directory.post(href, { key: ct, body: { description: 'by the tool' } })).status).toBe(204)
    expect((await directory.post(href, { as: 'tokA' })).status).toBe(204)
    expect((await directory.delete(href, { key: ct })).status).toBe(204)
  })

  it('C-43 an agent registered by a tool belongs to the mapped subject, or to the tool if none is mapped', async () => {
    const ct = await directory.makeKey({ subject: 'tool', scopes: ['ct'], names: ['plant-*', 'loose-*'] })
    for (const name of ['plant-7', 'loose-7']) {
      expect((await directory.post(`/ad/r?agent=${name}`, { key: ct, body: fixture('FX-SUM') })).status).toBe(201)
    }
    expect((await directory.put('/agents/plant-7', { as: 'tokB', body: aidipAgent() })).status).toBe(200)
    expectError(await directory.put('/agents/loose-7', { as: 'tokB', body: aidipAgent() }), { status: 403 })
    expect((await directory.put('/agents/loose-7', { key: ct, body: aidipAgent() })).status).toBe(200)
    const publisher = await directory.makeKey({ subject: 'tool', scopes: ['publish'] })
    expect((await directory.delete('/agents/loose-7', { key: publisher })).status).toBe(204)
    expectError(await directory.delete('/agents/plant-7', { key: publisher }), { status: 403 })
    expectError(await directory.post('/ad/r?agent=elsewhere', { key: ct, body: fixture('FX-SUM') }), { status: 403 })
  })

  it('AD-8.2-04 the owner is the subject of the credential, whatever the document says', async () => {
    const body = fixture('FX-SUM', { owner: 'tokB', subject: 'tokB', publisher: 'tokB', vendor: 'tokB' })
    await directory.post('/ad/r?agent=mine', { as: 'tokA', body })
    expectError(await directory.delete('/agents/mine', { as: 'tokB' }), { status: 403 })
    expect((await directory.delete('/agents/mine', { as: 'tokA' })).status).toBe(204)
  })
})
