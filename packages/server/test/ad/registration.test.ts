import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Bystander, startBystander } from '../support/bystander.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { lookUp, register } from './register.js'

let directory: TestDirectory
let bystander: Bystander
beforeAll(async () => {
  directory = await startDirectory()
  bystander = await startBystander()
})
afterAll(async () => {
  await directory.close()
  await bystander.close()
})
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const
const BASE = 'https://agents.example.com/a'

describe('registering', () => {
  it('AD-4.1-01 AD-4.1-02 AD-4.2-03 answers the draft’s example with 201 and a Location', async () => {
    const { status, headers } = await directory.post('/ad/r?agent=summarizer-v2', { ...tokA, body: fixture('FX-SUM') })
    expect(status).toBe(201)
    expect(headers.get('location')).toMatch(/^\/ad\/r\/\d+$/)
    const { status: read, json } = await directory.get(headers.get('location') ?? '')
    expect(read).toBe(200)
    expect(json).toMatchObject(fixture('FX-SUM'))
  })

  it('AD-4.2-01 AD-4.2-04 replaces an agent of the same name and owner: 200 and the same Location', async () => {
    const href = await register(directory, 'worker', fixture('FX-SUM'))
    const again = await directory.post('/ad/r?agent=worker', { ...tokA, body: fixture('FX-OR') })
    expect(again.status).toBe(200)
    expect(again.headers.get('location')).toBe(href)
    const { json } = await directory.get(href)
    expect(json).toMatchObject(fixture('FX-OR'))
    expect(json).not.toHaveProperty('version')
    expect(json).not.toHaveProperty('identity')
    expect(await lookUp(directory)).toEqual(['worker'])
    expect(await lookUp(directory, '?cap_name=summarize')).toEqual([])
  })

  it('AD-4.2-01 is idempotent: registering twice leaves one entry', async () => {
    await register(directory, 'worker', fixture('FX-OR'))
    const again = await directory.post('/ad/r?agent=worker', { ...tokA, body: fixture('FX-OR') })
    expect(again.status).toBe(200)
    expect(await lookUp(directory)).toEqual(['worker'])
  })

  it('AD-4.2-06 returns 201 and 200 without a body, with Content-Length 0 (C-38)', async () => {
    for (const status of [201, 200]) {
      const answer = await directory.post('/ad/r?agent=worker', { ...tokA, body: fixture('FX-OR') })
      expect(answer.status).toBe(status)
      expect(answer.text).toBe('')
      expect(answer.headers.get('content-length')).toBe('0')
    }
  })

  it('AD-4.2-02 AD-2.2-02 stores name, base, lt and href, and returns them in every representation that has them', async () => {
    const href = await register(directory, 'worker', { base: BASE })
    const { json } = await directory.get(href)
    expect(json).toMatchObject({ agent: 'worker', base: BASE, lt: 86400, href })
    expect(json.capabilities ?? []).toEqual([])
    const lookup = await directory.get('/ad/l')
    expect(lookup.json.agents).toEqual([{ agent: 'worker', base: BASE, protocols: [], capabilities: [], href }])
  })

  it('AD-2.2-01 accepts any Unicode text as a name, unique in the directory', async () => {
    const href = await register(directory, '翻译', { base: BASE })
    expect((await directory.get(href)).json.agent).toBe('翻译')
    expect(await lookUp(directory, `?agent=${encodeURIComponent('翻*')}`)).toEqual(['翻译'])
    const foreign = await directory.post('/ad/r?agent=%E7%BF%BB%E8%AF%91', { as: 'tokB', body: { base: BASE } })
    expect(foreign.status).toBe(409)
  })

  it('AD-4.1-04 AD-4.2-05 answers 409 when another owner has the name, and changes nothing', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    const before = await directory.get(href)
    const foreign = await directory.post('/ad/r?agent=worker', { as: 'tokB', body: { base: 'https://b.example/' } })
    expectError(foreign, { status: 409, code: 'conflict', says: /worker/ })
    expect(foreign.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
    expect((await directory.get(href)).json).toEqual(before.json)
  })

  it('AD-4.1-04 shares one namespace with the ids of the other drafts (C-30)', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'taken' }) })
    await directory.post('/discover/agents', { ...tokA, body: fixture('FX-D0') })
    for (const name of ['taken', 'https://example.net/agents/minimal']) {
      const query = `/ad/r?agent=${encodeURIComponent(name)}`
      expect((await directory.post(query, { as: 'tokB', body: { base: BASE } })).status, name).toBe(409)
      expect((await directory.post(query, { ...tokA, body: { base: BASE } })).status, name).toBe(200)
    }
  })

  it('AD-4.2-02 stores the name from the query and ignores one in the body (C-42)', async () => {
    const href = await register(directory, 'worker', { base: BASE, agent: 'somebody-else' })
    expect((await directory.get(href)).json.agent).toBe('worker')
    expect((await directory.get('/agents/worker')).text).not.toContain('somebody-else')
    expect(await lookUp(directory, '?agent=somebody-else')).toEqual([])
  })

  it('AD-2.1-03 AD-4.1-22 contacts neither base nor identity', async () => {
    const href = await register(directory, 'worker', {
      base: `${bystander.url}/agent`,
      identity: `${bystander.url}/identity`,
      identity_type: 'did',
    })
    await lookUp(directory, '?agent=worker')
    await directory.get(href)
    await directory.post(href, tokA)
    await directory.delete(href, tokA)
    expect(bystander.requests()).toBe(0)
  })
})

describe('a registration', () => {
  const expectInvalid = async (query: string, body: JsonValue, member: string): Promise<void> => {
    const answer = await directory.post(`/ad/r${query}`, { ...tokA, body })
    expectError(answer, { status: 400, code: 'invalid_request', member }, JSON.stringify(body))
    expect(await lookUp(directory)).toEqual([])
  }

  it('AD-4.1-03 must have a name', async () => {
    await expectInvalid('', { base: BASE }, '?agent')
    await expectInvalid('?agent=', { base: BASE }, '?agent')
  })

  it('AD-5.1-04 AD-5.1-05 must not have a * in its name or the names of its capabilities', async () => {
    for (const name of ['a*', '*', 'a*b', '%2A']) await expectInvalid(`?agent=${name}`, { base: BASE }, '?agent')
    await expectInvalid(
      '?agent=a',
      { base: BASE, capabilities: [{ name: 'x*y', type: 'tool' }] },
      '/capabilities/0/name',
    )
  })

  it('AD-4.1-10 must have a base that is a URI', async () => {
    await expectInvalid('?agent=a', {}, '/base')
    for (const base of [5, 'not a uri', '/path', '']) await expectInvalid('?agent=a', { base }, '/base')
  })

  it.each([
    ['AD-4.1-11 description must be a string', { description: 5 }, '/description'],
    ['AD-4.1-13 protocols must be a list of strings', { protocols: 'mcp' }, '/protocols'],
    ['AD-4.1-15 capabilities must be a list of objects', { capabilities: ['x'] }, '/capabilities/0'],
    ['AD-4.1-16 a capability must have a type', { capabilities: [{ name: 'x' }] }, '/capabilities/0/type'],
    ['AD-4.1-16 a capability must have a name', { capabilities: [{ type: 'tool' }] }, '/capabilities/0/name'],
    [
      'AD-4.1-16 the name of a capability must be a string',
      { capabilities: [{ name: 5, type: 'tool' }] },
      '/capabilities/0/name',
    ],
    ['AD-4.1-17 tags must be a list', { capabilities: [{ name: 'x', type: 't', tags: 'a' }] }, '/capabilities/0/tags'],
    [
      'AD-4.1-17 schemas must be objects',
      { capabilities: [{ name: 'x', type: 't', input_schema: 'string' }] },
      '/capabilities/0/input_schema',
    ],
    [
      'AD-4.1-18 schemas must be valid JSON Schema',
      { capabilities: [{ name: 'x', type: 't', input_schema: { type: 'objekt' } }] },
      '/capabilities/0/input_schema/type',
    ],
    [
      'AD-4.1-19 names of capabilities must be unique',
      {
        capabilities: [
          { name: 'a', type: 'tool' },
          { name: 'a', type: 'skill' },
        ],
      },
      '/capabilities/1/name',
    ],
    ['AD-4.1-20 version must be a string', { version: 2 }, '/version'],
    ['AD-4.1-20 vendor must be a string', { vendor: 2 }, '/vendor'],
  ] satisfies [string, JsonObject, string][])('%s', async (_rule, members, at) => {
    await expectInvalid('?agent=a', { base: BASE, ...members }, at)
  })

  it('AD-4.1-06 must have a name of at most 255 characters', async () => {
    await register(directory, 'ü'.repeat(255), { base: BASE })
    const answer = await directory.post(`/ad/r?agent=${'a'.repeat(256)}`, { ...tokA, body: { base: BASE } })
    expectError(answer, { status: 400, member: '?agent' })
  })

  it('AD-4.1-05 AD-4.1-12 gets warnings for a vague name and for a description longer than two sentences', async () => {
    const warningsFor = async (name: string, description: string): Promise<string> => {
      const answer = await directory.post(`/ad/r?agent=${name}`, { ...tokA, body: { base: BASE, description } })
      expect(answer.status).toBe(201)
      return answer.headers.get('x-switchboard-warnings') ?? ''
    }
    expect(await warningsFor('parcel-sorter', 'Sorts parcels by weight. Stamps them.')).toBe('')
    expect(await warningsFor('parcel-stamper', 'Sorts parcels. Weighs them. Stamps them. Sends them.')).toMatch(
      /sentences/,
    )
    expect(await warningsFor('z', 'Sorts parcels by weight. Stamps them.')).toMatch(/\?agent/)
  })
})

describe('a valid registration', () => {
  it('AD-4.1-13 AD-4.1-14 AD-A-02 may name any protocols, with or without a version', async () => {
    await register(directory, 'worker', { base: BASE, protocols: ['agtp', 'mcp/1.0'] })
    expect(await lookUp(directory, '?protocol=agtp')).toEqual(['worker'])
    expect(await lookUp(directory, '?protocol=mcp/1.0')).toEqual(['worker'])
    expect(await lookUp(directory, '?protocol=mcp')).toEqual([])
  })

  it('AD-4.1.1-01 AD-4.1.1-02 may have capabilities of the four standard types or any other', async () => {
    for (const type of ['tool', 'skill', 'resource', 'prompt', 'workflow']) {
      await register(directory, `has-${type}`, { base: BASE, capabilities: [{ name: 'x', type }] })
      expect(await lookUp(directory, `?cap_type=${type}`)).toEqual([`has-${type}`])
    }
  })

  it('AD-4.1-17 AD-4.1-20 AD-4.1-21 AD-4.3-01 AD-4.3-02 is returned complete, with its href', async () => {
    const document: JsonObject = {
      ...fixture('FX-SUM'),
      capabilities: [
        {
          name: 'summarize',
          type: 'tool',
          description: 'Summarizes a text',
          tags: ['nlp', 'text'],
          input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          output_schema: { type: 'object', properties: { summary: { type: 'string' } } },
          'com.example.cost': 3,
        },
      ],
      'com.example.room': { floor: 4 },
    }
    const href = await register(directory, 'summarizer-v2', document)
    const { json } = await directory.get(href)
    const { agent, lt, href: own, verification, ...rest } = json
    expect(rest).toEqual(document)
    expect({ agent, lt, own }).toEqual({ agent: 'summarizer-v2', lt: 86400, own: href })
    expect(verification).toEqual({ state: 'self-asserted' })
  })

  it('AD-4.1-11 has its description in lookups', async () => {
    await register(directory, 'worker', { base: BASE, description: 'Sorts parcels by weight.' })
    const { json } = await directory.get('/ad/l')
    expect(json.agents[0].description).toBe('Sorts parcels by weight.')
  })
})

describe('GET of a registration', () => {
  it('AD-4.3-03 returns 404 if it does not exist', async () => {
    for (const path of [
      '/ad/r/999999',
      '/ad/r/0',
      '/ad/r/-1',
      '/ad/r/abc',
      '/ad/r/1e3',
      '/ad/r/99999999999999999999',
    ]) {
      const answer = await directory.get(path)
      expectError(answer, { status: 404, code: 'not_found' }, path)
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
    }
  })

  it('AD-4.3-01 returns 304 to a conditional request until the registration changes', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    const first = await directory.get(href)
    const known = { headers: { 'if-none-match': first.headers.get('etag') ?? '' } }
    const unchanged = await directory.get(href, known)
    expect({ status: unchanged.status, text: unchanged.text }).toEqual({ status: 304, text: '' })
    expect(unchanged.headers.get('etag')).toBe(first.headers.get('etag'))
    await directory.post(href, { ...tokA, body: { description: 'Routes orders to other places.' } })
    expect((await directory.get(href, known)).status).toBe(200)
    await directory.patch('/admin/agents/worker', { as: 'admin', body: { unsafe: true } })
    expect((await directory.get(href, known)).json.verification).toMatchObject({ unsafe: true })
  })

  it('AD-4.3-01 presents an agent of another draft as a registration with inherited tags (C-17, C-20, C-40)', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'probe', tags: ['NLP'], publisher: 'Acme' }) })
    const [entry] = (await directory.get('/ad/l?tag=NLP&cap_type=skill')).json.agents
    expect(entry).toMatchObject({ agent: 'probe', base: 'https://agents.example.net/probe', protocols: ['https'] })
    const { json } = await directory.get(entry.href)
    expect(json).toMatchObject({ agent: 'probe', vendor: 'Acme', lt: 604800 })
    expect(json.capabilities[0]).toEqual({ name: 'probe', type: 'skill', tags: ['NLP'] })
    expect(await lookUp(directory, '?tag=nlp')).toEqual([])
  })
})
