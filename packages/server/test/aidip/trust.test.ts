import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { startDirectory, type TestCaller, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { idsOf, list, register, search, withoutRegistryMembers } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const mark = (id: string, body: JsonObject, as: TestCaller = 'admin') =>
  directory.patch(`/admin/agents/${id}`, { as, body })

// An owner who registers again gets the old marks back, so each test uses another agent.
describe('the operator’s marks', () => {
  it('AIDIP-9-13 show the registry’s certification next to the publisher’s claims', async () => {
    const document = aidipAgent({ id: 'x', certification: { verified: true, by: 'myself' } })
    await register(directory, document)
    const certification = { program: 'safety-2026', level: 2 }
    const body = { verification: 'verified', certification, quality_score: 4.5 }
    const marked = await mark('x', body)
    expect(marked.status).toBe(200)
    const read = await directory.get('/agents/x')
    expect(read.json).toEqual(marked.json)
    expect(read.json.verification).toMatchObject({ state: 'verified', certification, quality_score: 4.5 })
    expect(Date.parse(read.json.verification.at)).toBeGreaterThan(Date.now() - 60_000)
    expect(withoutRegistryMembers(read)).toEqual(document)
    expect(await search(directory, { filters: { verification: { quality_score: 4.5 } } })).toEqual(['x'])
  })

  it('AIDIP-9-13 survive an update and can be removed', async () => {
    await register(directory, aidipAgent({ id: 'y' }))
    await mark('y', { verification: 'verified', quality_score: 3 })
    const updated = await directory.put('/agents/y', { as: 'tokA', body: aidipAgent({ version: '2' }) })
    expect(updated.json.verification).toMatchObject({ state: 'verified', quality_score: 3 })
    const cleared = await mark('y', { verification: null, quality_score: null })
    expect(cleared.json.verification).toEqual({ state: 'self-asserted' })
  })

  it('AIDIP-9-13 can be set by administrators only, on existing agents, with valid values', async () => {
    await register(directory, aidipAgent({ id: 'z' }))
    const body = { verification: 'verified' }
    expect((await mark('z', body, 'anon')).status).toBe(401)
    for (const as of ['tokA', 'tokC'] as const) expect((await mark('z', body, as)).status).toBe(403)
    expect((await mark('nobody', body)).status).toBe(404)
    for (const wrong of [
      { quality_score: 6 },
      { verification: 'yes' },
      { unsafe: 'no' },
      { certification: [] },
      { x: 1 },
    ]) {
      expect((await mark('z', wrong)).status).toBe(400)
    }
    expect((await directory.get('/agents/z')).json.verification).toEqual({ state: 'self-asserted' })
  })

  it('C-21 override the publisher’s status', async () => {
    await register(directory, aidipAgent({ id: 'w', status: 'active' }))
    await mark('w', { status: 'suspended' })
    expect(await list(directory)).toEqual([])
    expect((await directory.get('/agents/w')).json.status).toBe('suspended')
    await directory.put('/agents/w', { as: 'tokA', body: aidipAgent({ status: 'active' }) })
    expect(await list(directory)).toEqual([])
    expect(await list(directory, 'status=suspended')).toEqual(['w'])
    await mark('w', { status: null })
    expect(await list(directory)).toEqual(['w'])
  })
})

describe('the audit log', () => {
  it('AIDIP-9-15 has entries for registration, update and removal with actor, time and outcome, without payload', async () => {
    const since = new Date(Date.now() - 1).toISOString()
    const headers = { 'x-request-id': 'trace-15' }
    const body = fixture('FX-T01')
    await directory.post('/agents', { as: 'tokA', body, headers })
    await directory.put('/agents/agent-12345', { as: 'tokA', body: { ...body, version: '2' } })
    await mark('agent-12345', { unsafe: false })
    await directory.delete('/agents/agent-12345', { as: 'tokA' })
    const { json, text } = await directory.get(`/admin/audit?agent=agent-12345&since=${since}`, { as: 'admin' })
    expect(json.entries.map(({ action }: { action: string }) => action)).toEqual([
      'remove',
      'mark',
      'update',
      'register',
    ])
    for (const entry of json.entries) {
      expect(entry).toMatchObject({ agent: 'agent-12345', outcome: 'ok', actor: expect.any(String) })
      expect(Math.abs(Date.parse(entry.at) - Date.now())).toBeLessThan(10_000)
    }
    expect(json.entries[3]).toMatchObject({ actor: 'tokA', format: 'aidip', request_id: 'trace-15' })
    expect(text).not.toMatch(/Chinese|api\.example\.com|translateText/)
  })

  it('AIDIP-9-15 is for administrators only', async () => {
    expect((await directory.get('/admin/audit')).status).toBe(401)
    expect((await directory.get('/admin/audit', { as: 'tokA' })).status).toBe(403)
  })
})

describe('rate limits', () => {
  it('AIDIP-9-11 return 429 with Retry-After to a client that searches too often; others are not affected', async () => {
    const limited = await startDirectory({ rateLimits: { ...DEFAULTS.rateLimits, search: 3, lookup: 5, register: 2 } })
    try {
      const options = { as: 'tokC', body: { query: 'x' } } as const
      const search = () => limited.post('/agents/search', options)
      for (let i = 0; i < 3; i++) expect((await search()).status).toBe(200)
      const refused = await search()
      expect(refused.status).toBe(429)
      expect(refused.json.error.code).toBe('RateLimited')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(refused.json.retry_after).toBe(Number(refused.headers.get('retry-after')))
      expect((await limited.post('/agents/search', { ...options, as: 'tokB' })).status).toBe(200)
      // Plain lists have their own, larger limit.
      const lists = await Promise.all(Array.from({ length: 6 }, () => limited.get('/agents', { as: 'tokC' })))
      expect(lists.filter(({ status }) => status === 200)).toHaveLength(5)
      const made = await Promise.all(
        Array.from({ length: 3 }, () => limited.post('/agents', { as: 'tokA', body: aidipAgent() })),
      )
      expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 429])
      expect(DEFAULTS.rateLimits.search).toBeLessThan(DEFAULTS.rateLimits.lookup)
    } finally {
      await limited.close()
    }
  })
})

describe('encryption', () => {
  it('AIDIP-9-02 C-73 a plaintext endpoint is rejected, except on this machine in development', async () => {
    const send = (endpoint: string) => directory.post('/agents', { as: 'tokA', body: aidipAgent({ endpoint }) })
    for (const endpoint of [
      'http://agents.example.net/x',
      'ws://agents.example.net',
      'http://10.0.0.1/',
      'file:///etc',
    ]) {
      const { status, json } = await send(endpoint)
      expect([endpoint, status]).toEqual([endpoint, 400])
      expect(json.error.message).toContain('/endpoint')
    }
    for (const endpoint of ['http://127.0.0.1:9000/x', 'http://localhost/x', 'http://[::1]:1/', 'https://a.example/']) {
      expect([endpoint, (await send(endpoint)).status]).toEqual([endpoint, 201])
    }
    const operation = { name: 'run', inputs: {}, outputs: {}, endpoint: 'http://agents.example.net/run' }
    const inside = await directory.post('/agents', { as: 'tokA', body: aidipAgent({ operations: [operation] }) })
    expect(inside.status).toBe(400)
    expect(inside.json.error.message).toContain('/operations/0/endpoint')
  })

  it('AIDIP-9-02 C-72 in production every plaintext endpoint and request is rejected', async () => {
    const production = await startDirectory({ behindProxy: true })
    try {
      const headers = { 'x-forwarded-proto': 'https' }
      const send = (endpoint: string) =>
        production.post('/agents', { as: 'admin', headers, body: aidipAgent({ endpoint }) })
      for (const endpoint of ['http://127.0.0.1:9000/x', 'http://localhost/x', 'http://agents.example.net/']) {
        expect([endpoint, (await send(endpoint)).status]).toEqual([endpoint, 400])
      }
      expect((await send('https://agents.example.net/')).status).toBe(201)
      expect((await production.get('/agents')).status).toBe(403)
      expect((await production.get('/agents', { headers })).status).toBe(200)
    } finally {
      await production.close()
    }
  })
})

describe('several directories', () => {
  it('AIDIP-4.1-02 acknowledged writes survive a restart unchanged', async () => {
    await register(directory, fixture('FX-T01'))
    await register(directory, aidipAgent({ id: 'hidden', visibility: 'private' }))
    await mark('agent-12345', { verification: 'verified' })
    const before = await directory.get('/agents/agent-12345')
    await directory.restart()
    const after = await directory.get('/agents/agent-12345')
    expect(after.status).toBe(200)
    expect(after.text).toBe(before.text)
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'))
    expect(await search(directory, { filters: { capabilities: ['translation'] } })).toEqual(['agent-12345'])
    expect(await list(directory)).toEqual(['agent-12345'])
    expect((await directory.put('/agents/agent-12345', { as: 'tokB', body: fixture('FX-T01') })).status).toBe(403)
  })

  it('AIDIP-4.1-03 AIDIP-4.1-04 each serves its own agents, and a document from one is accepted by the other', async () => {
    const second = await startDirectory({ anonymous: 'none' })
    try {
      await register(directory, fixture('FX-T01'))
      await register(directory, fixture('FX-T00'))
      await mark('agent-12345', { verification: 'verified' })
      expect(idsOf(await second.get('/agents', { as: 'tokC' }))).toEqual([])
      for (const id of ['agent-12345', 'translator-001']) {
        const exported = await directory.get(`/agents/${id}`)
        expect((await second.post('/agents', { as: 'tokB', raw: exported.text })).status).toBe(201)
        const copy = await second.get(`/agents/${id}`, { as: 'tokC' })
        expect(withoutRegistryMembers(copy)).toEqual(withoutRegistryMembers(exported))
        expect(copy.json.verification).toEqual({ state: 'self-asserted' })
      }
      await second.delete('/agents/agent-12345', { as: 'tokB' })
      expect((await directory.get('/agents/agent-12345')).status).toBe(200)
    } finally {
      await second.close()
    }
  })
})

describe('with the gateway switched off', () => {
  it('AIDIP-2-02 search works, and calls return an error object', async () => {
    await directory.restart({ gateway: { ...DEFAULTS.gateway, enabled: false } })
    try {
      await register(directory, aidipAgent({ id: 'x' }))
      expect(await search(directory, { query: 'test' })).toEqual(['x'])
      const { status, json } = await directory.post('/agents/x/invoke', { as: 'tokC', body: { text: 'hello' } })
      expect(status).toBe(501)
      expect(json.error).toMatchObject({ code: 'NotInvocable', message: expect.any(String) })
      expect((await directory.post('/agents/nope/invoke', { as: 'tokC', body: {} })).status).toBe(404)
    } finally {
      await directory.restart()
    }
  })
})
