import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createServer } from '../../src/app.js'
import { DEFAULTS } from '../../src/config/settings.js'
import { startAgent } from '../invoke/agent.js'
import { NO_POSTGRES, testDatabase } from '../postgres.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { startIssuer, type TestIssuer } from '../support/issuer.js'

let first: TestIssuer
let second: TestIssuer
beforeAll(async () => {
  first = await startIssuer('https://first.example')
  second = await startIssuer('https://second.example')
})
afterAll(async () => {
  await first.close()
  await second.close()
})

const database = await testDatabase()
afterAll(() => database?.drop())
const STORES: [string, { database?: string } | undefined][] = [
  ['SQLite', {}],
  [database ? 'PostgreSQL' : NO_POSTGRES, database && { database: database.url }],
]

describe.each(STORES)('subjects of two issuers, on %s', (_name, store) => {
  const test = it.skipIf(store === undefined)
  let directory: TestDirectory
  let [mine, theirs] = ['', '']
  beforeAll(async () => {
    const names = [{ names: ['corp-*'], subjects: ['https://first.example#alice'] }]
    directory = await startDirectory({
      ...store,
      secret: 'a-secret-of-this-test',
      issuers: [first.trust, second.trust],
      policy: { ...DEFAULTS.policy, names },
    })
    mine = await first.token({ scope: 'publish discover invoke' })
    theirs = await second.token({ scope: 'publish discover invoke' })
  })
  beforeEach(() => directory.clear())
  afterAll(() => directory.close())

  test('AD-8.2-04 own their agents separately', async () => {
    await directory.post('/agents', { key: mine, body: aidipAgent({ id: 'a' }) })
    expectError(await directory.put('/agents/a', { key: theirs, body: aidipAgent({ id: 'a' }) }), { status: 403 })
    expectError(await directory.delete('/agents/a', { key: theirs }), { status: 403 })
    expectError(await directory.post('/agents', { key: theirs, body: aidipAgent({ id: 'a' }) }), { status: 409 })
    const key = await directory.makeKey({ subject: 'alice', scopes: ['publish'] })
    expectError(await directory.delete('/agents/a', { key }), { status: 403 })
    expect((await directory.delete('/agents/a', { key: mine })).status).toBe(204)
  })

  test('see and call private agents separately, by their qualified name in a grant', async () => {
    await directory.post('/agents', { key: mine, body: aidipAgent({ id: 'p', visibility: 'private' }) })
    expect((await directory.get('/agents/p', { key: mine })).status).toBe(200)
    expect((await directory.get('/agents/p', { key: theirs })).status).toBe(404)
    const grant = (subject: string) =>
      directory.post('/admin/grants', { as: 'admin', body: { subject, agent: 'p', scopes: ['discover'] } })
    await grant('alice')
    expect((await directory.get('/agents/p', { key: theirs })).status).toBe(404)
    await grant('https://second.example#alice')
    expect((await directory.get('/agents/p', { key: theirs })).status).toBe(200)
  })

  test('AD-7.1-01 hold reserved names separately', async () => {
    const claim = (key: string) => directory.post('/agents', { key, body: aidipAgent({ id: 'corp-1' }) })
    expectError(await claim(theirs), { status: 403 })
    expectError(await claim(await directory.makeKey({ subject: 'alice', scopes: ['publish'] })), { status: 403 })
    expect((await claim(mine)).status).toBe(201)
  })

  test('rate agents separately', async () => {
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'r' }) })
    for (const key of [mine, theirs]) {
      expect((await directory.post('/agents/r/feedback', { key, body: { rating: 5 } })).status).toBeLessThan(300)
    }
    const own = await directory.post('/agents', { key: mine, body: aidipAgent({ id: 'own' }) })
    expect(own.status).toBe(201)
    expectError(await directory.post('/agents/own/feedback', { key: mine, body: { rating: 5 } }), { status: 403 })
    expect((await directory.post('/agents/own/feedback', { key: theirs, body: { rating: 1 } })).status).toBeLessThan(
      300,
    )
  })

  test('repeat and defer calls separately', async () => {
    const agent = await startAgent()
    try {
      await directory.post('/agents', { as: 'tokA', body: agent.document() })
      const call = (key: string, headers: Record<string, string>) =>
        directory.post('/agents/x/invoke', { key, body: { text: 'hello' }, headers })
      for (const key of [mine, theirs]) {
        const answer = await call(key, { 'idempotency-key': 'one' })
        expect([answer.status, answer.headers.has('idempotent-replayed')]).toEqual([200, false])
      }
      const deferred = await call(mine, { prefer: 'respond-async' })
      expect(deferred.status).toBe(202)
      const path = new URL(deferred.headers.get('location') ?? '', directory.url).pathname
      expect((await directory.get(path, { key: theirs })).status).toBe(404)
      expect((await directory.get(path, { key: mine })).status).toBe(200)
    } finally {
      await agent.close()
    }
  })

  test('are told apart in the audit log', async () => {
    await directory.post('/agents', { key: mine, body: aidipAgent({ id: 'audited' }) })
    const actions = async (subject: string) =>
      (await directory.get(`/admin/audit?agent=audited&subject=${encodeURIComponent(subject)}`, { as: 'admin' })).json
        .entries.length
    await expect.poll(() => actions('https://first.example#alice')).toBe(1)
    expect(await actions('https://second.example#alice')).toBe(0)
    expect(await actions('alice')).toBe(0)
  })

  test('are never the administrator, nor another name of the directory', async () => {
    await directory.post('/agents', { as: 'admin', body: aidipAgent({ id: 'of-admin' }) })
    for (const issuer of [first, second]) {
      for (const sub of ['admin', 'switchboard', 'anonymous', 'https://first.example#admin']) {
        const key = await issuer.token({ sub })
        expectError(await directory.delete('/agents/of-admin', { key }), { status: 403 }, sub)
        expectError(await directory.get('/admin/keys', { key }), { status: 403 }, sub)
      }
    }
  })
})

describe('a rate limit', () => {
  it('is not shared by subjects of different issuers', async () => {
    const rateLimits = { search: 1e6, register: 1, lookup: 1e6, invoke: 1e6 }
    const directory = await startDirectory({ issuers: [first.trust, second.trust], rateLimits })
    const register = async (issuer: TestIssuer, id: string) =>
      (await directory.post('/agents', { key: await issuer.token(), body: aidipAgent({ id }) })).status
    expect([await register(first, 'a'), await register(first, 'b')]).toEqual([201, 429])
    expect(await register(second, 'b')).toBe(201)
    await directory.close()
  })
})

describe('the subjects of a single issuer', () => {
  let directory: TestDirectory
  beforeAll(async () => {
    directory = await startDirectory({ issuers: [first.trust] })
  })
  afterAll(() => directory.close())

  it('AD-8.2-04 are its `sub` as it is, in grants and keys too', async () => {
    await directory.post('/agents', { key: await first.token(), body: aidipAgent({ id: 'a' }) })
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'p', visibility: 'private' }) })
    const grant = { subject: 'alice', agent: 'p', scopes: ['discover'] }
    await directory.post('/admin/grants', { as: 'admin', body: grant })
    expect((await directory.get('/agents/p', { key: await first.token() })).status).toBe(200)
    const key = await directory.makeKey({ subject: 'alice', scopes: ['publish'] })
    expect((await directory.put('/agents/a', { key, body: aidipAgent({ id: 'a', version: '2' }) })).status).toBe(200)
  })

  it('do not include the administrator', async () => {
    await directory.post('/agents', { as: 'admin', body: aidipAgent({ id: 'of-admin' }) })
    expectError(await directory.delete('/agents/of-admin', { key: await first.token({ sub: 'admin' }) }), {
      status: 403,
    })
  })

  it('stay its own if another issuer is added, or takes its place', async () => {
    for (const issuers of [[second.trust, first.trust], [second.trust]]) {
      await directory.restart({ issuers })
      expectError(await directory.delete('/agents/a', { key: await second.token() }), { status: 403 })
    }
    await directory.restart({ issuers: [second.trust, first.trust] })
    const renewed = await directory.put('/agents/a', {
      key: await first.token(),
      body: aidipAgent({ id: 'a', version: '3' }),
    })
    expect(renewed.status).toBe(200)
  })

  it('go to another issuer only if the operator says so', async () => {
    await directory.restart({ issuers: [first.trust, { ...second.trust, subjects: 'plain' }] })
    expectError(await directory.delete('/agents/a', { key: await first.token() }), { status: 403 })
    await directory.restart({ issuers: [first.trust, second.trust] })
    expect((await directory.delete('/agents/a', { key: await second.token() })).status).toBe(204)
  })
})

describe('issuers that would share subjects', () => {
  it.each([
    [
      'two plain issuers',
      [{ subjects: 'plain' }, { subjects: 'plain' }],
      /only one issuer can have "subjects": "plain"/,
    ],
    [
      'one trust domain twice',
      [{ trustDomains: ['td'] }, { trustDomains: ['td'] }],
      /trust domain "td" is listed twice/,
    ],
    ['one issuer twice', [{}, { issuer: 'https://first.example' }], /"https:\/\/first.example" is listed twice/],
    ['an issuer with a fragment', [{ issuer: 'https://first.example#x' }, {}], /without "#"/],
  ] as const)('are refused: %s', async (_what, [one, two], reason) => {
    const issuers = [
      { ...first.trust, ...one },
      { ...second.trust, ...two },
    ]
    await expect(createServer({ port: 0, issuers })).rejects.toThrow(reason)
  })
})
