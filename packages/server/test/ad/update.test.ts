import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { lookUp, register } from './register.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const

const update = async (href: string, body: JsonObject): Promise<void> => {
  const { status, text } = await directory.post(href, { ...tokA, body })
  expect({ status, text }).toEqual({ status: 204, text: '' })
}

describe('an update with a body', () => {
  it('AD-4.4-04 replaces the capabilities and nothing else (C-37)', async () => {
    const href = await register(directory, 'summarizer-v2', fixture('FX-SUM'))
    const before = (await directory.get(href)).json
    const capabilities = [{ name: 'translate', type: 'skill', tags: ['nlp'] }]
    await update(href, { capabilities })
    expect((await directory.get(href)).json).toEqual({ ...before, capabilities })
    expect(await lookUp(directory, '?cap_name=summarize')).toEqual([])
    expect(await lookUp(directory, '?cap_name=translate&tag=nlp')).toEqual(['summarizer-v2'])
  })

  it('AD-4.4-04 replaces exactly the members that it contains (C-37)', async () => {
    const href = await register(directory, 'worker', { ...fixture('FX-SUM'), 'com.example.room': 4 })
    const before = (await directory.get(href)).json
    const changes = { base: 'https://elsewhere.example/a', protocols: ['mcp'], version: '3.0.0', 'com.example.lift': 2 }
    await update(href, changes)
    expect((await directory.get(href)).json).toEqual({ ...before, ...changes })
    await update(href, {})
    expect((await directory.get(href)).json).toEqual({ ...before, ...changes })
  })

  it('AD-4.4-04 ignores agent, lt and href in the body (C-42)', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    await update(href, { agent: 'other', lt: 5, href: '/ad/r/1', description: 'Routes parcels now.' })
    expect((await directory.get(href)).json).toMatchObject({ agent: 'worker', lt: 86400, href })
    expect(await lookUp(directory)).toEqual(['worker'])
    expect((await directory.get('/agents/worker')).json).not.toHaveProperty('lt')
  })

  it('AD-4.4-06 is validated like a registration', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    const before = (await directory.get(href)).json
    const twice = [
      { name: 'a', type: 'tool' },
      { name: 'a', type: 'tool' },
    ]
    for (const [changes, member] of [
      [{ capabilities: [{ name: 'a*', type: 'tool' }] }, '/capabilities/0/name'],
      [{ capabilities: [{ name: 'a' }] }, '/capabilities/0/type'],
      [{ capabilities: twice }, '/capabilities/1/name'],
      [{ base: 'nowhere' }, '/base'],
      [{ base: 'http://plain.example/' }, '/base'],
      [{ description: 5 }, '/description'],
    ] satisfies [JsonObject, string][]) {
      const answer = await directory.post(href, { ...tokA, body: changes })
      expectError(answer, { status: 400, member }, JSON.stringify(changes))
    }
    for (const raw of ['[]', '"x"', '{', 'null']) {
      expectError(await directory.post(href, { ...tokA, raw }), { status: 400 }, raw)
    }
    expect((await directory.get(href)).json).toEqual(before)
  })

  it('AD-4.4-04 loses nothing when many updates arrive at once', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    const names = Array.from({ length: 30 }, (_, i) => `com.example.m${i}`)
    await Promise.all(names.map((name) => update(href, { [name]: true })))
    const { json } = await directory.get(href)
    expect(names.filter((name) => json[name] !== true)).toEqual([])
  })
})

describe('an update of an agent of another draft (C-37)', () => {
  const publish = async (path: string, body: JsonObject): Promise<string> => {
    expect((await directory.post(path, { ...tokA, body })).status).toBe(201)
    return (await directory.get('/ad/l', tokA)).json.agents[0].href
  }
  const translator = (): JsonObject => ({
    ...fixture('FX-T01', { id: 'translator', updated_at: '2026-01-01T00:00:00Z', 'com.example.room': { floor: 4 } }),
  })

  it('AD-4.4-04 changes members with the same name in every draft in place', async () => {
    const href = await publish('/agents', translator())
    const before = (await directory.get('/agents/translator')).json
    await update(href, { description: 'Translates between two languages.', version: '1.3.0' })
    const after = (await directory.get('/agents/translator')).json
    expect(after).toEqual({ ...before, description: 'Translates between two languages.', version: '1.3.0' })
  })

  it('AD-4.4-04 replaces the capabilities and keeps everything else the publisher sent', async () => {
    const href = await publish('/agents', translator())
    const before = (await directory.get('/agents/translator')).json
    const seen = (await directory.get(href)).json
    await update(href, { capabilities: [{ name: 'interpret', type: 'resource' }] })
    expect((await directory.get(href)).json).toEqual({
      ...seen,
      capabilities: [{ name: 'interpret', type: 'resource' }],
    })
    const after = (await directory.get('/agents/translator')).json
    expect(after.capabilities).toEqual(['interpret'])
    for (const name of Object.keys(before).filter((member) => member !== 'capabilities')) {
      expect(after[name], name).toEqual(before[name])
    }
  })

  it('AD-4.4-04 changes the base and keeps the rest of a profile', async () => {
    const href = await publish('/discover/agents', fixture('FX-HR', { constraints: { region: 'apac' } }))
    await update(href, { base: 'https://elsewhere.example/hr' })
    const id = encodeURIComponent('https://agents.example.net/id/hr-core-automator')
    const { json } = await directory.get(`/discover/agents/${id}`)
    const { bindings: _bindings, tags, ...rest } = fixture('FX-HR', { constraints: { region: 'apac' } })
    expect(json).toMatchObject(rest)
    expect(json.tags).toEqual(expect.arrayContaining(tags as string[]))
    expect(json.bindings).toMatchObject([{ protocol: 'https', endpoint: 'https://elsewhere.example/hr' }])
  })

  it('AD-7.2-01 keeps private members private', async () => {
    const operations = [
      { name: 'open', inputs: {}, outputs: {} },
      { name: 'secret', inputs: {}, outputs: {}, private: true },
    ]
    const document = aidipAgent({ id: 'probe', operations, private: ['endpoint'], visibility: 'private' })
    const href = await publish('/agents', document)
    await update(href, { vendor: 'Acme' })
    expect((await directory.get(href)).status).toBe(404)
    await update(href, { visibility: 'public' })
    const { json, text } = await directory.get(href)
    expect(json).toMatchObject({ agent: 'probe', vendor: 'Acme', redacted: true })
    expect(text).not.toContain('secret')
    expect(text).not.toContain('https://agents.example.net/probe')
    expect(await lookUp(directory, '?cap_name=secret')).toEqual([])
    expect(await lookUp(directory, '?cap_name=open')).toEqual(['probe'])
  })

  it('AD-4.4-04 does not touch the operator’s marks', async () => {
    const href = await publish('/agents', aidipAgent({ id: 'probe' }))
    await directory.patch('/admin/agents/probe', { as: 'admin', body: { status: 'deprecated', unsafe: true } })
    await update(href, { vendor: 'Acme' })
    expect((await directory.get(href)).json).toMatchObject({ status: 'deprecated', verification: { unsafe: true } })
    await directory.patch('/admin/agents/probe', { as: 'admin', body: { status: null, unsafe: null } })
    const { json } = await directory.get('/agents/probe')
    expect(json.status ?? 'active').toBe('active')
    expect(json.verification).toEqual({ state: 'self-asserted' })
  })
})
