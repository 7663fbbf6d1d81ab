import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { candidates, HR, MINIMAL, profileAgent, publish } from './publish.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const

describe('registering', () => {
  it('PROF-3-01 PROF-4.9-01 PROF-3.1-05 accepts the draft’s example and returns it unchanged', async () => {
    const { headers, json } = await publish(directory, fixture('FX-HR'))
    expect(headers.get('location')).toBe(`/discover/agents/${HR}`)
    expect(json).toMatchObject(fixture('FX-HR'))
    const { verification, freshness, ...document } = (await directory.get(`/discover/agents/${HR}`)).json
    expect(document).toEqual(fixture('FX-HR'))
    expect(verification).toEqual({ state: 'self-asserted' })
    expect(freshness).toMatchObject({ metadata_updated_at: '2026-05-08T00:00:00Z' })
  })

  it('PROF-13.1-01 PROF-3.1-01 PROF-3.1-05 accepts the minimal object, and nothing less', async () => {
    const { headers } = await publish(directory, fixture('FX-D0'))
    expect(headers.get('x-switchboard-warnings')).toMatch(/tags/)
    const { json } = await directory.get(`/discover/agents/${MINIMAL}`)
    expect(json).toMatchObject(fixture('FX-D0'))
    for (const member of ['id', 'name', 'description', 'bindings']) {
      const { [member]: _left, ...rest } = profileAgent()
      const answer = await directory.post('/discover/agents', { ...tokA, body: rest })
      expectError(answer, { status: 400, code: 'invalid_request', member: `/${member}` })
    }
    const empty = await directory.post('/discover/agents', { ...tokA, body: profileAgent({ bindings: [] }) })
    expectError(empty, { status: 400, member: '/bindings' })
  })

  it('PROF-4-01 accepts one object, not a list', async () => {
    for (const body of [[fixture('FX-D0')], 'text', null, 5]) {
      const answer = await directory.post('/discover/agents', { ...tokA, body })
      expectError(answer, { status: 400, code: 'invalid_request' })
    }
    expect((await directory.get('/agents')).json).toEqual([])
  })

  it('PROF-3-02 accepts JSON only', async () => {
    for (const path of ['/discover/agents', '/discover']) {
      const answer = await directory.post(path, {
        ...tokA,
        raw: new Uint8Array([0xa1, 0x62, 0x69, 0x64, 0x61, 0x78]),
        headers: { 'content-type': 'application/cbor' },
      })
      expectError(answer, { status: 415, code: 'unsupported_media_type' }, path)
    }
  })

  it('PROF-4.6-02 rejects a binding without an endpoint that is a string', async () => {
    for (const more of [{}, { endpoint: null }, { endpoint: 5 }, { endpoint: ['https://a.example/'] }]) {
      const body = profileAgent({ bindings: [{ protocol: 'https', ...more }] })
      const answer = await directory.post('/discover/agents', { ...tokA, body })
      expectError(answer, { status: 400, member: '/bindings/0/endpoint' }, JSON.stringify(more))
    }
    expect((await directory.get('/agents')).json).toEqual([])
  })

  it('PROF-13.1-01 accepts endpoints with the schemes that the policy allows (C-73)', async () => {
    const reached = (endpoint: string) =>
      directory.post('/discover/agents', {
        ...tokA,
        body: profileAgent({ id: endpoint, bindings: [{ protocol: 'x', endpoint }] }),
      })
    for (const endpoint of ['https://a.example/', 'wss://a.example/', 'agent://a.example/', 'urn:agents:7', 'ref-7']) {
      expect((await reached(endpoint)).status, endpoint).toBe(201)
    }
    for (const endpoint of ['http://a.example/', 'file:///etc/passwd', 'javascript:alert(1)']) {
      expectError(await reached(endpoint), { status: 400, member: '/bindings/0/endpoint' }, endpoint)
    }
  })
})

describe('members', () => {
  it('PROF-4.1-14 are case-sensitive', async () => {
    const { id, ...rest } = profileAgent()
    const answer = await directory.post('/discover/agents', { ...tokA, body: { ...rest, ID: id ?? '' } })
    expectError(answer, { status: 400, member: '/id' })
  })

  it('PROF-4.1-15 PROF-4.1-16 PROF-4.7-02 PROF-4.7-03 that are unknown are accepted and returned, nested ones too', async () => {
    const document = profileAgent({
      'com.example.x': { deep: [1, { er: null }] },
      foo: 'bar',
      bindings: [{ protocol: 'https', endpoint: 'https://agents.example.net/probe', foo: { bar: 1 } }],
      examples: [{ id: 'ex-1', text: 'Probe it.', foo: 2 }],
      constraints: { region: 'apac', 'com.example.limit': 3 },
      auth: { type: 'oauth2_bearer', foo: 4 },
      signature: { alg: 'EdDSA', value: 'x', foo: 5 },
    })
    await publish(directory, document)
    expect((await directory.get('/discover/agents/probe')).json).toMatchObject(document)
    const request = { query: 'probe', detail: 'full' }
    const { json } = await directory.post('/discover', { body: request })
    expect(json.candidates[0]).toMatchObject(document)
    expect((await directory.get('/agents/probe')).json).toMatchObject({
      foo: 'bar',
      'com.example.x': { deep: [1, {}] },
    })
  })

  it('PROF-4.7-01 that change while the version stays the same cause a warning', async () => {
    const hr = (day: number, version: string, tags: string[]) =>
      fixture('FX-HR', { updated_at: `2026-06-0${day}T00:00:00Z`, version, tags })
    const warned = async (day: number, version: string, tags: string[]): Promise<string> => {
      const answer = await directory.post('/discover/agents', { ...tokA, body: hr(day, version, tags) })
      expect([200, 201]).toContain(answer.status)
      return answer.headers.get('x-switchboard-warnings') ?? ''
    }
    expect(await warned(1, '1.0.0', ['hr'])).not.toMatch(/version/)
    expect(await warned(2, '1.0.0', ['hr', 'payroll'])).toMatch(/version/)
    expect(await warned(3, '1.1.0', ['hr', 'tax'])).not.toMatch(/version/)
  })

  it('PROF-4.8-01 named status have five known values; others cause a warning', async () => {
    for (const status of ['active', 'inactive', 'suspended', 'deprecated', 'testing']) {
      const { headers } = await publish(directory, profileAgent({ id: status, status }))
      expect(headers.get('x-switchboard-warnings') ?? '', status).not.toMatch(/status/)
    }
    const { headers } = await publish(directory, profileAgent({ status: 'sleepy' }))
    expect(headers.get('x-switchboard-warnings')).toMatch(/sleepy/)
  })
})

describe('identity', () => {
  it('PROF-4.2-01 is the id: a different id is a different agent, not a rename', async () => {
    await publish(directory, profileAgent())
    await publish(directory, profileAgent({ id: 'probe-2' }))
    expect((await directory.get('/discover/agents/probe')).json.id).toBe('probe')
    const ids = (await directory.get('/agents')).json.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(['probe', 'probe-2'])
    const renamed = await directory.put('/agents/probe', { ...tokA, body: aidipAgent({ id: 'probe-3' }) })
    expectError(renamed, { status: 400, member: '/id' })
  })

  it('PROF-4.2-02 may be a URI, a DNS name, a local id or any other text', async () => {
    const ids = [
      'https://agents.example.net/id/a?b=c#d',
      'agent.example.net',
      'urn:uuid:5e8d1f36-2b1f-4f3f-9d6c-7a1f3a0c9b11',
      'did:web:example.com:agents:7',
      '4711',
      '翻译 代理',
      'a/b/../c%2Fd',
    ]
    for (const id of ids) {
      const { headers } = await publish(directory, profileAgent({ id }))
      const { status, json } = await directory.get(headers.get('location') ?? '')
      expect({ status, id: json.id }).toEqual({ status: 200, id })
      expect((await directory.get(`/agents/${encodeURIComponent(id)}`)).json.id).toBe(id)
    }
    expect((await candidates(directory, { query: 'probe' })).sort()).toEqual([...ids].sort())
  })

  it('PROF-4.2-03 is not the name: two agents may have the same name', async () => {
    await publish(directory, profileAgent({ id: 'one', name: 'Twin' }))
    await publish(directory, profileAgent({ id: 'two', name: 'Twin' }), 'tokB')
    expect(await candidates(directory, { query: 'twin' })).toEqual(['one', 'two'])
  })
})

describe('strict validation', () => {
  it('PROF-4.7-02 rejects unknown members if the operator’s policy says so', async () => {
    await directory.restart({ policy: { ...DEFAULTS.policy, strictness: { refuseUnknownMembers: true } } })
    const answer = await directory.post('/discover/agents', { ...tokA, body: profileAgent({ foo: 'bar' }) })
    expectError(answer, { status: 400, member: '/foo' })
    await publish(directory, profileAgent())
    await directory.restart()
    await publish(directory, profileAgent({ id: 'probe-2', foo: 'bar' }))
  })
})
