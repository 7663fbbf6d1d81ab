import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { list, register, registerAll, search } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

/** Registers agents that differ from the default document only in these members. */
const agents = (members: Record<string, JsonObject>) =>
  registerAll(
    directory,
    Object.entries(members).map(([id, changes]) => aidipAgent({ id, ...changes })),
  )

const find = (filters: JsonObject) => search(directory, { filters })

describe('filters of POST /agents/search', () => {
  const sample = {
    filters: { capabilities: ['translation'], supported_languages: ['en', 'zh'], tags: ['nlp'] },
    top: 10,
  }

  it('AIDIP-4.3.1-02 AIDIP-4.3.1-03 AIDIP-4.3.1-07 accept the draft’s example and return an array', async () => {
    await register(directory, fixture('FX-T01'))
    await register(directory, fixture('FX-T00'))
    const { status, json } = await directory.post('/agents/search', { body: sample })
    expect(status).toBe(200)
    expect(Array.isArray(json)).toBe(true)
    expect(json.map(({ id }: JsonObject) => id)).toEqual(['agent-12345'])
    expect(Array.isArray((await directory.post('/agents/search', { body: { filters: {} } })).json)).toBe(true)
  })

  it('AIDIP-4.3.1-05 are combined with AND', async () => {
    await agents({
      both: { capabilities: ['translation'], tags: ['nlp'], supported_languages: ['zh'] },
      tagless: { capabilities: ['translation'], supported_languages: ['zh'] },
      incapable: { tags: ['nlp'], supported_languages: ['zh'] },
      foreign: { capabilities: ['translation'], tags: ['nlp'], supported_languages: ['fr'] },
    })
    expect(await find({ capabilities: ['translation'], tags: ['nlp'], supported_languages: ['zh'] })).toEqual(['both'])
    expect(await find({ capabilities: ['translation'], tags: ['nlp'] })).toEqual(['both', 'foreign'])
  })

  it('AIDIP-4.3.1-06 C-15 match only agents with every listed value', async () => {
    await agents({
      one: { capabilities: ['translation'], tags: ['a'] },
      more: { capabilities: ['speech', 'summarization', 'translation'], tags: ['b', 'a', 'c'] },
    })
    expect(await find({ capabilities: ['translation', 'summarization'] })).toEqual(['more'])
    expect(await find({ tags: ['a', 'b'] })).toEqual(['more'])
    expect(await find({ tags: ['a'] })).toEqual(['one', 'more'])
    expect(await find({ tags: [] })).toEqual(['one', 'more'])
  })

  it('AIDIP-4.3.1-10 without a match return an empty array', async () => {
    await register(directory, fixture('FX-T01'))
    const { status, json, headers } = await directory.post('/agents/search', { body: { filters: { tags: ['zzz'] } } })
    expect(status).toBe(200)
    expect(json).toEqual([])
    expect(headers.get('x-total-count')).toBe('0')
    expect((await directory.get('/agents?capabilities=zzz')).json).toEqual([])
  })

  it('AIDIP-4.3.1-04 return no more than top', async () => {
    await registerAll(
      directory,
      Array.from({ length: 30 }, (_, i) => aidipAgent({ id: `a${i}` })),
    )
    expect(await search(directory, { filters: {}, top: 10 })).toHaveLength(10)
    expect(await search(directory, { filters: {}, top: 7 })).toHaveLength(7)
    expect(await search(directory, { filters: {}, top: 30 })).toHaveLength(30)
  })

  it('AIDIP-4.3.1-08 C-05 return summaries without operations', async () => {
    await register(directory, fixture('FX-T01'))
    const [summary] = (await directory.post('/agents/search', { body: sample })).json
    const { id, name, description, endpoint, capabilities, tags } = fixture('FX-T01')
    expect(summary).toEqual({ id, name, description, endpoint, capabilities, tags, status: 'active' })
    expect((await directory.get('/agents')).json[0]).toEqual(summary)
  })

  const malformed: JsonValue[] = [
    { top: 'ten' },
    { top: -1 },
    { top: 0 },
    { top: 1.5 },
    { skip: -1 },
    { skip: '1' },
    { filters: [] },
    { filters: 'translation' },
    { filters: { capabilities: 5 } },
    { filters: { capabilities: ['a', 5] } },
    { filters: { tags: { a: 1 } } },
    { filters: { language: true } },
    { filters: { provider: 7 } },
    { filters: { authentication: {} } },
    { filters: { status: 1 } },
    { filters: { license: null } },
    { query: 5 },
    { ranked: 'no' },
    { include_metadata: 1 },
    [],
    'text',
    null,
  ]
  it.each(malformed.map((body) => [body]))('AIDIP-4.3.1-11 C-50 that are malformed return 400: %j', async (body) => {
    const { status, json } = await directory.post('/agents/search', { body })
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ code: 'InvalidInput', message: expect.stringMatching(/\S/) })
  })

  it('AIDIP-4.3.1-11 need a body, and it must be JSON', async () => {
    expect((await directory.post('/agents/search', { raw: '{"filters":' })).status).toBe(400)
    expect((await directory.post('/agents/search')).status).toBe(400)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await directory.post('/agents/search', { raw: 'top=1', headers })).status).toBe(415)
  })

  it('C-50 ignore unknown members next to them', async () => {
    await register(directory, fixture('FX-T01'))
    expect(await search(directory, { filters: {}, sort_by: 'mood', limit: 'x' })).toEqual(['agent-12345'])
  })
})

describe('filters of GET /agents', () => {
  it('AIDIP-4.3.1-01 accept capabilities, tags and language', async () => {
    await register(directory, fixture('FX-T01'))
    await register(directory, fixture('FX-T00'))
    await register(directory, aidipAgent({ id: 'untagged', capabilities: ['translation'] }))
    expect(await list(directory, 'capabilities=translation&tags=nlp&language=zh')).toEqual(['agent-12345'])
    expect(await list(directory, 'capabilities=translation&tags=nlp')).toEqual(['agent-12345', 'translator-001'])
    expect(await list(directory, 'language=zh')).toEqual(['agent-12345', 'untagged'])
  })

  it('C-14 accept comma-separated and repeated values, combined with AND', async () => {
    await agents({ ab: { capabilities: ['a', 'b'], tags: ['x', 'y'] }, a: { capabilities: ['a'], tags: ['x'] } })
    for (const query of ['capabilities=a,b', 'capabilities=a&capabilities=b', 'capability=a&capabilities=b']) {
      expect(await list(directory, query)).toEqual(['ab'])
    }
    expect(await list(directory, 'tag=x')).toEqual(['ab', 'a'])
    expect(await list(directory, 'tags=x,y&tag=x')).toEqual(['ab'])
    expect(await list(directory, 'tags=')).toEqual(['ab', 'a'])
  })

  it('C-50 accept any member name', async () => {
    await agents({ mit: { license: 'MIT', x: ['a', 'b'] }, bsd: { license: 'BSD', x: ['b'] } })
    expect(await list(directory, 'license=MIT')).toEqual(['mit'])
    expect(await list(directory, 'x=a&x=b')).toEqual(['mit'])
    expect(await list(directory, 'license=BSD&x=a')).toEqual([])
    expect(await list(directory, 'nobody_has_this=1')).toEqual([])
  })

  it('C-50 compare numbers and booleans by their text', async () => {
    await agents({ gpu: { gpu: true, context: 8192, price: 0.5 }, cpu: { gpu: false, context: 4096, price: 2 } })
    expect(await list(directory, 'gpu=true')).toEqual(['gpu'])
    expect(await list(directory, 'context=4096')).toEqual(['cpu'])
    expect(await list(directory, 'price=0.5&gpu=true')).toEqual(['gpu'])
    expect(await list(directory, 'context=yes')).toEqual([])
  })
})

describe('synonyms and spellings', () => {
  it('C-14 AIDIP00-5.2-02 accepts capability and capabilities, tag and tags, as a string or a list', async () => {
    await agents({ x: { capabilities: ['translation'], tags: ['nlp'] }, y: {} })
    for (const name of ['capability', 'capabilities']) {
      expect(await find({ [name]: 'translation' })).toEqual(['x'])
      expect(await find({ [name]: ['translation'] })).toEqual(['x'])
    }
    for (const name of ['tag', 'tags']) {
      expect(await find({ [name]: 'nlp' })).toEqual(['x'])
      expect(await find({ [name]: ['nlp'] })).toEqual(['x'])
    }
  })

  it('C-12 treats publisher, provider and vendor alike, in documents and filters', async () => {
    await agents({
      a: { publisher: 'ExampleAI' },
      b: { provider: 'ExampleAI' },
      c: { vendor: 'ExampleAI' },
      d: { provider: { organization: 'ExampleAI', url: 'https://example.ai' } },
      e: { publisher: 'Other' },
      f: {},
    })
    for (const name of ['publisher', 'provider', 'vendor']) {
      expect(await find({ [name]: 'ExampleAI' })).toEqual(['a', 'b', 'c', 'd'])
      expect(await list(directory, `${name}=ExampleAI`)).toEqual(['a', 'b', 'c', 'd'])
    }
    expect(await find({ publisher: ['Other', 'ExampleAI'] })).toHaveLength(5)
    await register(directory, aidipAgent({ id: 'g', publisher: 'Example, Inc.' }))
    expect(await list(directory, 'publisher=Example,%20Inc.')).toEqual(['g'])
    expect((await directory.get('/agents/b')).json.publisher).toBe('ExampleAI')
    expect((await directory.get('/v0/agents/a')).json.provider).toBe('ExampleAI')
  })

  it('C-16 matches tags and capabilities in any case and Unicode form', async () => {
    await agents({ x: { tags: ['NLP', 'Café'], capabilities: ['Translation'] } })
    for (const tag of ['nlp', 'Nlp', 'CAFÉ', 'cafe\u0301']) expect(await find({ tags: [tag] })).toEqual(['x'])
    expect(await find({ capabilities: ['tRANSLATION'] })).toEqual(['x'])
    expect(await find({ tags: ['cafe'] })).toEqual([])
    expect((await directory.get('/agents/x')).json.tags).toEqual(['NLP', 'Café'])
  })

  it('C-11 matches authentication by its canonical type', async () => {
    await agents({
      a: { authentication: 'API Key' },
      b: { authentication: { type: 'api_key' } },
      c: { authentication: { type: 'oauth2_bearer' } },
      d: {},
      e: { authentication: { type: 'none' } },
    })
    for (const word of ['api_key', 'API Key', 'apikey'])
      expect(await find({ authentication: word })).toEqual(['a', 'b'])
    expect(await find({ authentication: ['none', 'OAuth2'] })).toEqual(['c', 'd', 'e'])
  })
})

describe('language filters', () => {
  it('AIDIP-3.1-13 keep agents that name no languages', async () => {
    await agents({ any: {}, english: { supported_languages: ['en'] } })
    expect(await find({ supported_languages: ['fr'] })).toEqual(['any'])
  })

  it('C-13 accept three names, and a string or a list whose items must all match', async () => {
    await agents({ both: { supported_languages: ['en', 'zh'] }, one: { supported_languages: ['en'] } })
    for (const name of ['language', 'supported_language', 'supported_languages']) {
      expect(await find({ [name]: 'zh' })).toEqual(['both'])
      expect(await find({ [name]: ['en', 'zh'] })).toEqual(['both'])
      expect(await list(directory, `${name}=en`)).toEqual(['both', 'one'])
    }
  })

  it('C-13 match by RFC 4647 basic filtering', async () => {
    await agents({
      mainland: { supported_languages: ['zh-Hans-CN'] },
      plain: { supported_languages: ['zh'] },
      zhuang: { supported_languages: ['zha'] },
    })
    expect(await find({ language: 'zh' })).toEqual(['mainland', 'plain'])
    expect(await find({ language: 'ZH-hans' })).toEqual(['mainland'])
    expect(await find({ language: 'zh-CN' })).toEqual([])
    expect(await find({ language: 'zh-Hans-CN-x' })).toEqual([])
    expect(await find({ language: '*' })).toEqual(['mainland', 'plain', 'zhuang'])
  })
})

describe('the status of an agent', () => {
  it('C-21 hides unavailable agents unless the filter names their status', async () => {
    const words = ['active', 'inactive', 'suspended', 'deprecated', 'testing', 'napping']
    await agents({ silent: {}, ...Object.fromEntries(words.map((status) => [status, { status }])) })
    const available = ['active', 'deprecated', 'napping', 'silent', 'testing']
    expect((await find({})).sort()).toEqual(available)
    expect((await list(directory)).sort()).toEqual(available)
    expect(await find({ status: 'inactive' })).toEqual(['inactive'])
    expect(await find({ status: ['inactive', 'suspended'] })).toEqual(['inactive', 'suspended'])
    expect(await find({ status: 'active' })).toEqual(['silent', 'active'])
    expect(await list(directory, 'status=suspended')).toEqual(['suspended'])
    for (const id of words) expect((await directory.get(`/agents/${id}`)).status).toBe(200)
  })

  it('C-21 ranks deprecated and testing agents below active ones with the same text', async () => {
    const description = 'Forecasts rainfall for farmers.'
    await agents({
      old: { description, status: 'deprecated' },
      draft: { description, status: 'testing' },
      good: { description },
    })
    expect((await search(directory, { query: 'forecast rainfall' }))[0]).toBe('good')
  })
})

describe('C-50 filters on any member', () => {
  beforeEach(() =>
    agents({
      a: {
        license: 'MIT',
        context: 8192,
        gpu: true,
        formats: ['json', 'xml'],
        hosting: { region: 'eu', zones: ['1', '2'], owner: { name: 'X' } },
        models: [{ name: 'm1', size: 7 }, { name: 'm2' }],
      },
      b: { license: 'mit', context: 4096, gpu: false, formats: ['json'], hosting: { region: 'us' }, models: 'm1' },
      c: {},
    }),
  )

  it.each<[JsonObject, string[]]>([
    [{ license: 'MIT' }, ['a']],
    [{ context: 8192 }, ['a']],
    [{ context: 0 }, []],
    [{ gpu: true }, ['a']],
    [{ gpu: false }, ['b']],
    [{ formats: 'json' }, ['a', 'b']],
    [{ formats: ['json', 'xml'] }, ['a']],
    [{ formats: ['xml', 'json'] }, ['a']],
    [{ hosting: { region: 'eu' } }, ['a']],
    [{ hosting: { region: 'eu', owner: { name: 'X' } } }, ['a']],
    [{ hosting: { region: 'eu', owner: { name: 'Y' } } }, []],
    [{ hosting: { zones: '2' } }, ['a']],
    [{ hosting: {} }, ['a', 'b']],
    [{ models: { name: 'm1' } }, ['a']],
    [{ models: { name: 'm1', size: 8 } }, []],
    [{ models: { name: 'm2', size: 7 } }, []],
    [{ id: 'b' }, ['b']],
    [{ name: 'Probe', license: 'mit' }, ['b']],
    [{ toString: 'x' }, []],
    [{ nobody_has_this: 'x' }, []],
  ])('%j finds %j', async (filters, ids) => {
    expect(await find(filters)).toEqual(ids)
  })

  it('rejects a wrong type for members that the drafts define', async () => {
    const wrong: JsonObject[] = [{ version: 1 }, { name: true }, { license: {} }, { endpoint: 5 }]
    for (const filters of wrong) {
      const { status, json } = await directory.post('/agents/search', { body: { filters } })
      expect([filters, status]).toEqual([filters, 400])
      expect(json.error.message).toContain(`/filters/${Object.keys(filters)[0]}`)
    }
  })
})

it('C-23 a filter on verification uses the registry’s value, not the publisher’s claim', async () => {
  await agents({ liar: { verification: { state: 'verified' } }, checked: {} })
  await directory.patch('/admin/agents/checked', { as: 'admin', body: { verification: 'verified' } })
  expect(await find({ verification: { state: 'verified' } })).toEqual(['checked'])
})

it('C-31 C-21 GET /agents?id= returns an agent with any status', async () => {
  const id = 'https://agents.example.net/id/a b?c#d'
  await agents({ [id]: { status: 'inactive' }, other: {} })
  expect(await list(directory, `id=${encodeURIComponent(id)}`)).toEqual([id])
  expect(await list(directory, 'id=nobody')).toEqual([])
})
