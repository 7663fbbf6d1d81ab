import { type JsonObject, validateDocument } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { idsOf, list, register, registerAll, search, withoutRegistryMembers } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const PROFILE = { accept: 'application/json; profile="aidip-00"' }

/** POST /v0/agents/search. */
const search00 = async (body: JsonObject) => {
  const { status, json } = await directory.post('/v0/agents/search', { body })
  expect(status).toBe(200)
  return json
}

const fleet = (count: number, members: (i: number) => JsonObject = () => ({})) =>
  registerAll(
    directory,
    Array.from({ length: count }, (_, i) => aidipAgent({ id: `a${i}`, ...members(i) })),
  )

describe('C-01 the shape of a search response', () => {
  beforeEach(() => register(directory, fixture('FX-T00')))
  const shape = async (path: string, body: JsonObject = {}, headers: Record<string, string> = {}) => {
    const { status, json } = await directory.post(path, { body, headers })
    expect(status).toBe(200)
    return Array.isArray(json) ? 'array' : Array.isArray(json.results) ? 'object' : 'neither'
  }

  it('is an array below /agents and /v1/agents', async () => {
    expect(await shape('/agents/search')).toBe('array')
    expect(await shape('/v1/agents/search')).toBe('array')
    expect(await shape('/agents/search', { query: 'translate', filters: {}, top: 3 })).toBe('array')
    const { headers } = await directory.post('/agents/search', { body: {} })
    expect(headers.get('x-total-count')).toBe('1')
  })

  it('is an object below /v0', async () => {
    expect(await shape('/v0/agents/search')).toBe('object')
    expect(await shape('/v0/agents/search', { filters: { capabilities: ['translation'] }, top: 10 })).toBe('object')
  })

  it.each([{ skip: 0 }, { ranked: true }, { include_metadata: false }])('is an object with %j', async (body) => {
    expect(await shape('/agents/search', body)).toBe('object')
  })

  it('is an object if Accept requests revision 00', async () => {
    expect(await shape('/agents/search', {}, PROFILE)).toBe('object')
    expect(await shape('/agents/search', {}, { accept: 'text/html, application/json;profile=aidip-00' })).toBe('object')
    expect(await shape('/agents/search', {}, { accept: 'application/json; profile="aidip-01"' })).toBe('array')
  })

  it('is the one that ?shape names', async () => {
    expect(await shape('/v0/agents/search?shape=array', { skip: 0 }, PROFILE)).toBe('array')
    expect(await shape('/agents/search?shape=object')).toBe('object')
  })
})

describe('C-02 the shape of a list', () => {
  beforeEach(() => register(directory, fixture('FX-T00')))

  it('follows the same rules', async () => {
    for (const path of ['/agents', '/v1/agents', '/v0/agents?shape=array']) {
      expect(Array.isArray((await directory.get(path)).json)).toBe(true)
    }
    const objects = ['/v0/agents', '/agents?shape=object', '/agents?skip=0', '/agents?include_metadata=true']
    for (const path of [...objects, '/agents/public', '/agents/public/?top=3', '/v0/agents/public']) {
      expect((await directory.get(path)).json).toMatchObject({ agents: [{ id: 'translator-001' }], count: 1 })
    }
    expect((await directory.get('/agents', { headers: PROFILE })).json.count).toBe(1)
  })

  it('AIDIP00-5.1-04 is an object with agents, count, top and skip, and a link to the next page', async () => {
    await register(directory, fixture('FX-T01'))
    const first = await directory.get('/agents/public?top=1')
    expect(first.json).toEqual({ agents: [expect.anything()], count: 2, top: 1, skip: 0, next: expect.any(String) })
    expect(first.json.agents[0]).toMatchObject({ id: 'translator-001', name: 'Multilang Text Translator' })
    expect(first.json.agents[0]).not.toHaveProperty('inputs')
    const second = await directory.get(first.json.next)
    expect(second.json).toEqual({ agents: [expect.objectContaining({ id: 'agent-12345' })], count: 2, top: 1, skip: 1 })
  })
})

describe('agent metadata', () => {
  it('AIDIP00-2-02 the draft’s sample card is valid metadata', () => {
    expect(validateDocument('aidip', fixture('FX-T00'))).toEqual([])
  })

  it('AIDIP00-4-06 the draft’s sample is accepted and returned as sent at /v0', async () => {
    const made = await directory.post('/v0/agents', { as: 'tokA', body: fixture('FX-T00') })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe('/v0/agents/translator-001')
    expect(withoutRegistryMembers(made)).toEqual(fixture('FX-T00'))
    expect(withoutRegistryMembers(await directory.get('/v0/agents/translator-001'))).toEqual(fixture('FX-T00'))
  })

  it('AIDIP00-4-04 an endpoint is required', async () => {
    for (const member of ['endpoint', 'name', 'description', 'capabilities']) {
      const { [member]: _, ...document } = fixture('FX-T00')
      expect((await directory.post('/v0/agents', { as: 'tokA', body: document })).status).toBe(400)
    }
    expect((await directory.get('/v0/agents')).json.count).toBe(0)
  })

  it('AIDIP00-4-07 C-18 the endpoint may be a path, resolved against the registry', async () => {
    await register(directory, aidipAgent({ id: 't1', endpoint: '/agents/t1' }))
    expect((await directory.get('/v0/agents/t1')).json.endpoint).toBe('/agents/t1')
    const { json } = await directory.get('/discover/agents/t1')
    expect(json.bindings[0].endpoint).toBe(`${directory.url}/agents/t1`)
  })

  it('AIDIP00-4-09 all optional members are kept', async () => {
    const optional = {
      supported_languages: ['en', 'fr'],
      tags: ['NLP'],
      protocols: ['https', 'mcp/1.0'],
      version: '1.0',
      provider: 'ExampleAI',
      license: 'MIT',
      certification: { verified: true, quality_score: 4.8 },
      last_update: '2025-06-01',
    }
    await register(directory, aidipAgent({ id: 'x', ...optional }))
    expect((await directory.get('/v0/agents/x')).json).toMatchObject(optional)
    expect((await directory.get('/agents/x')).json).toMatchObject(optional)
    for (const [member, wrong] of Object.entries({ protocols: 'https', license: 5, certification: 'yes', tags: [1] })) {
      expect((await directory.post('/agents', { as: 'tokA', body: aidipAgent({ [member]: wrong }) })).status).toBe(400)
    }
  })

  it('AIDIP00-4-10 the publisher’s certification claim is separate from the registry’s verification', async () => {
    await register(directory, fixture('FX-T00'))
    const claimed = (await directory.get('/agents/translator-001')).json
    expect(claimed.certification).toEqual({ verified: true, quality_score: 4.8 })
    expect(claimed.verification).toEqual({ state: 'self-asserted' })
    await directory.patch('/admin/agents/translator-001', { as: 'admin', body: { verification: 'verified' } })
    const verified = (await directory.get('/v0/agents/translator-001')).json
    expect(verified.certification).toEqual({ verified: true, quality_score: 4.8 })
    expect(verified.verification).toMatchObject({ state: 'verified', by: expect.any(String), at: expect.any(String) })
  })

  it('AIDIP00-4-11 C-28 @context is kept, and plain JSON is the default', async () => {
    const context = ['https://schema.org', { agent: 'https://example.net/ns#' }]
    await register(directory, aidipAgent({ id: 'x', '@context': context }))
    const { json, headers } = await directory.get('/agents/x')
    expect(json['@context']).toEqual(context)
    expect(headers.get('content-type')).toMatch(/^application\/json(;|$)/)
  })

  it('AIDIP00-4-15 a card can be requested by its media type', async () => {
    await register(directory, fixture('FX-T00'))
    for (const path of ['/agents/translator-001', '/v0/agents/translator-001']) {
      const { status, headers, json } = await directory.get(path, {
        headers: { accept: 'application/agent-card+json' },
      })
      expect(status).toBe(200)
      expect(headers.get('content-type')).toMatch(/^application\/agent-card\+json(;|$)/)
      expect(json).toMatchObject({ id: 'translator-001', name: 'Multilang Text Translator' })
    }
  })
})

describe('the discovery service', () => {
  it('AIDIP00-5-01 lists, searches and retrieves', async () => {
    await register(directory, fixture('FX-T00'))
    for (const base of ['', '/v0', '/v1']) {
      expect((await directory.get(`${base}/agents`)).status).toBe(200)
      const found = await directory.post(`${base}/agents/search`, { body: { query: 'translate', filters: {} } })
      expect(found.status).toBe(200)
      expect(idsOf(found)).toEqual(['translator-001'])
      expect((await directory.get(`${base}/agents/translator-001`)).json.id).toBe('translator-001')
    }
  })

  it('AIDIP00-5.1-03 the list accepts filters and pages', async () => {
    await fleet(3, () => ({ capabilities: ['translation'] }))
    await register(directory, aidipAgent({ id: 'other' }))
    const first = await directory.get('/v0/agents?capability=translation&top=1')
    expect([idsOf(first), first.json.count]).toEqual([['a0'], 3])
    const second = await directory.get(first.json.next)
    expect([idsOf(second), second.json.count]).toEqual([['a1'], 3])
    expect(await list(directory, 'capability=translation&top=1')).toEqual(['a0'])
  })

  it('AIDIP00-5.1-05 search needs POST, and "search" is not an agent id', async () => {
    for (const path of ['/agents/search', '/v0/agents/search']) {
      const { status, headers, json } = await directory.get(path)
      expect(status).toBe(405)
      expect(headers.get('allow')).toBe('POST')
      expect(json.error.code).toBe('MethodNotAllowed')
    }
  })
})

describe('the search request', () => {
  it('AIDIP00-5.2-02 accepts capability or capabilities', async () => {
    await fleet(3, (i) => (i > 0 ? { capabilities: ['translation', `c${i}`] } : {}))
    const several = await search00({ filters: { capabilities: ['translation'] } })
    expect(several.results.map(({ id }: JsonObject) => id)).toEqual(['a1', 'a2'])
    expect((await search00({ filters: { capability: 'translation' } })).results).toEqual(several.results)
    expect((await search00({ filters: { capability: ['translation', 'c1'] } })).results).toHaveLength(1)
  })

  it('AIDIP00-5.2-03 accepts language or supported_language', async () => {
    await fleet(3, (i) => ({ supported_languages: i === 1 ? ['zh', 'en'] : ['en'] }))
    for (const name of ['language', 'supported_language']) {
      const { results, count } = await search00({ filters: { [name]: 'zh' } })
      expect([results.map(({ id }: JsonObject) => id), count]).toEqual([['a1'], 1])
    }
  })

  it('AIDIP00-5.2-04 authentication lists the types that the client supports', async () => {
    await register(directory, aidipAgent({ id: 'silent' }))
    await register(directory, aidipAgent({ id: 'none', authentication: 'none' }))
    await register(directory, aidipAgent({ id: 'none01', authentication: { type: 'none' } }))
    await register(directory, fixture('FX-T00'))
    expect(await search(directory, { filters: { authentication: 'none' } })).toEqual(['silent', 'none', 'none01'])
    expect(await search(directory, { filters: { authentication: ['api_key'] } })).toEqual(['translator-001'])
  })

  it('AIDIP00-5.2-05 AIDIP00-5.2-18 accepts provider and any other member', async () => {
    await register(directory, fixture('FX-T00'))
    await register(
      directory,
      aidipAgent({ id: 'mit', provider: 'Other', license: 'MIT', output_format: ['json', 'xml'] }),
    )
    expect(await search(directory, { filters: { provider: 'ExampleAI' } })).toEqual(['translator-001'])
    expect(await search(directory, { filters: { license: 'MIT' } })).toEqual(['mit'])
    expect(await search(directory, { filters: { output_format: 'json' } })).toEqual(['mit'])
    expect(await search(directory, { filters: { output_format: 'csv' } })).toEqual([])
  })

  it('AIDIP00-5.2-06 AIDIP00-5.2-11 top limits the results but not the count', async () => {
    await fleet(5)
    for (const top of [1, 2, 5, 50]) {
      const { results, count } = await search00({ top })
      expect([results.length, count]).toEqual([Math.min(top, 5), 5])
    }
  })

  it('AIDIP00-5.2-07 skip selects the page', async () => {
    await fleet(25)
    const page = async (skip: number) => (await search00({ top: 10, skip })).results.map(({ id }: JsonObject) => id)
    const pages = [await page(0), await page(10), await page(20)]
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 5])
    expect(pages.flat()).toEqual(Array.from({ length: 25 }, (_, i) => `a${i}`))
  })

  it('AIDIP00-5.2-08 ranked: sorted by score by default, by name if false', async () => {
    await fleet(3, (i) => ({ name: ['Cello', 'Alto', 'Basso'][i] ?? '', description: `Sings${' arias'.repeat(i)}.` }))
    const scored = await search00({ query: 'sings arias' })
    for (const { score } of scored.results) expect(typeof score).toBe('number')
    const plain = await search00({ query: 'sings', ranked: false })
    expect(plain.results.map(({ name }: JsonObject) => name)).toEqual(['Alto', 'Basso', 'Cello'])
    for (const hit of plain.results) expect(hit).not.toHaveProperty('score')
    expect((await search00({ ranked: false })).results[0].name).toBe('Alto')
  })

  it('AIDIP00-5.2-09 include_metadata returns whole documents', async () => {
    await register(directory, fixture('FX-T00'))
    const full = (await search00({ include_metadata: true })).results[0]
    expect(full).toMatchObject(fixture('FX-T00'))
    const [summary] = (await search00({})).results
    for (const member of ['operations', 'inputs', 'authentication']) expect(summary).not.toHaveProperty(member)
    expect((await search00({ include_metadata: true, query: 'translate' })).results[0].score).toBeGreaterThan(0)
  })

  it('AIDIP00-5.2-15 GET /agents with the same filters finds the same agents', async () => {
    await fleet(6, (i) => ({
      capabilities: i % 2 ? ['translation'] : ['other'],
      ...(i < 4 && { supported_languages: i < 2 ? ['es'] : ['es-MX', 'fr'] }),
      tags: i === 5 ? ['x'] : [],
    }))
    const cases: [string, JsonObject][] = [
      ['capability=translation&language=es', { capability: 'translation', language: 'es' }],
      ['tags=x', { tags: ['x'] }],
      ['supported_language=fr', { supported_language: 'fr' }],
      ['authentication=none', { authentication: 'none' }],
    ]
    for (const [query, filters] of cases) {
      const found = await search(directory, { filters })
      expect(found.length).toBeGreaterThan(0)
      expect(await list(directory, query)).toEqual(found)
      expect(idsOf(await directory.get(`/v0/agents?${query}`))).toEqual(found)
    }
  })
})

describe('the search response', () => {
  it('AIDIP00-5.2-10 AIDIP00-5.2-12 AIDIP00-5.2-13 AIDIP00-5.2-14 has results, count, top, skip, query and time', async () => {
    await register(directory, fixture('FX-T00'))
    const query = 'translate "text" into French'
    const body = await search00({ query, top: 5 })
    expect(body).toEqual({
      results: [expect.anything()],
      count: 1,
      top: 5,
      skip: 0,
      query,
      search_time: expect.any(Number),
    })
    expect(body.search_time).toBeGreaterThanOrEqual(0)
    const { id, name, description } = fixture('FX-T00')
    expect(body.results[0]).toMatchObject({ id, name, description })
    expect(body.results[0].score).toBeGreaterThan(0)
    expect(body.results[0].score).toBeLessThanOrEqual(1)
    expect(await search00({ skip: 3 })).toMatchObject({ results: [], count: 1, top: 10, skip: 3 })
  })
})
