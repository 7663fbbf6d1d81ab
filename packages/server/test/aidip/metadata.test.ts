import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { list, register, search, withoutRegistryMembers } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const send = (changes: Parameters<typeof aidipAgent>[0]) =>
  directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'x', ...changes }) })

describe('core fields', () => {
  it('AIDIP-2-01 AIDIP-3.1-08 capabilities must be a list of strings', async () => {
    expect((await send({ capabilities: 'translation' })).status).toBe(400)
    expect((await send({ capabilities: [{ name: 'translation' }] })).status).toBe(400)
    expect((await send({ capabilities: ['translation', 'image_classification'] })).status).toBe(201)
    expect((await directory.get('/agents/x')).json.capabilities).toEqual(['translation', 'image_classification'])
    expect(await search(directory, { filters: { capabilities: ['image_classification'] } })).toEqual(['x'])
  })

  it('C-07 capabilities may be empty only if there are tags or operations', async () => {
    expect((await send({ capabilities: [] })).status).toBe(400)
    expect((await send({ capabilities: [], tags: ['nlp'] })).status).toBe(201)
    const operations = [{ name: 'run', description: 'Runs.', inputs: {}, outputs: {} }]
    expect((await send({ capabilities: [], operations })).status).toBe(200)
  })

  it('AIDIP-3.1-06 the version is a string and changes with an update', async () => {
    await register(directory, fixture('FX-T01', { version: '1.2.0' }))
    await directory.put('/agents/agent-12345', { as: 'tokA', body: fixture('FX-T01', { version: '1.2.1' }) })
    expect((await directory.get('/agents/agent-12345')).json.version).toBe('1.2.1')
  })

  it('AIDIP-3.1-07 the publisher is returned as registered', async () => {
    await register(directory, fixture('FX-T01'))
    expect((await directory.get('/agents/agent-12345')).json.publisher).toBe('ExampleAI Inc.')
  })

  it('AIDIP-3.1-09 tags and capabilities are separate', async () => {
    await register(directory, aidipAgent({ id: 'tagged', tags: ['cloud'], capabilities: ['translation'] }))
    expect(await search(directory, { filters: { tags: ['cloud'] } })).toEqual(['tagged'])
    expect(await search(directory, { filters: { capabilities: ['cloud'] } })).toEqual([])
    expect(await search(directory, { filters: { tags: ['translation'] } })).toEqual([])
  })

  it('AIDIP-3.1-10 the endpoint must be a URL or a path of the gateway', async () => {
    expect((await send({ endpoint: '/agents/x/invoke' })).status).toBe(201)
    expect((await directory.get('/agents/x')).json.endpoint).toBe('/agents/x/invoke')
    for (const endpoint of [42, '', 'not a url', 'https://']) expect((await send({ endpoint })).status).toBe(400)
  })

  it('AIDIP-3.1-11 a private endpoint is shown as the gateway’s path', async () => {
    await register(directory, aidipAgent({ id: 'a/b', endpoint: 'https://10.0.0.7/secret', private: ['endpoint'] }))
    const unified = `${directory.url}/agents/a%2Fb/invoke`
    for (const path of ['/agents/a%2Fb', '/agents', '/v0/agents/a%2Fb', '/agents?include_metadata=true']) {
      const { text } = await directory.get(path, { as: 'tokC' })
      expect(text).toContain(unified)
      expect(text).not.toContain('10.0.0.7')
    }
    expect((await directory.get('/agents/a%2Fb', { as: 'tokA' })).json.endpoint).toBe('https://10.0.0.7/secret')
  })

  it('AIDIP-3.1-12 supported_languages is optional and must be a list', async () => {
    expect((await send({})).status).toBe(201)
    expect((await send({ supported_languages: ['en', 'zh', 'fr'] })).json.supported_languages).toHaveLength(3)
    expect((await send({ supported_languages: 'en' })).status).toBe(400)
    expect((await send({ supported_languages: [1] })).status).toBe(400)
  })

  it('AIDIP-3.1-14 authentication is an optional object of type, instructions and scopes', async () => {
    const authentication = { type: 'oauth2_bearer', instructions: 'Ask at https://id.example.net.', scopes: ['invoke'] }
    expect((await send({ authentication })).status).toBe(201)
    expect((await directory.get('/agents/x')).json.authentication).toEqual(authentication)
    expect((await send({ authentication: { type: 'oauth2_bearer', scopes: 'invoke' } })).status).toBe(400)
    expect((await send({ authentication: { type: 5 } })).status).toBe(400)
  })

  it('AIDIP-3.1-16 an unavailable agent is hidden from search but can be read by id', async () => {
    await register(directory, fixture('FX-T01'))
    await directory.put('/agents/agent-12345', { as: 'tokA', body: fixture('FX-T01', { status: 'inactive' }) })
    expect(await search(directory, {})).toEqual([])
    expect(await search(directory, { query: 'translates Chinese' })).toEqual([])
    expect(await list(directory)).toEqual([])
    const read = await directory.get('/agents/agent-12345')
    expect(read.status).toBe(200)
    expect(read.json.status).toBe('inactive')
  })

  it('AIDIP-3.1-17 AIDIP-9-09 unknown members are kept, nested ones too', async () => {
    const more = {
      pricing: { per_call: 0.01, tiers: [{ from: 1, note: null }] },
      x: 1,
      data_retention: { days: 30 },
      documentation: 'https://docs.example.net',
      rate_limits: { per_minute: 60 },
      constructor: 'plain data',
    }
    await send(more)
    expect((await directory.get('/agents/x')).json).toMatchObject(more)
    expect(await search(directory, { filters: { data_retention: { days: 30 } } })).toEqual(['x'])
    expect(await search(directory, { filters: { data_retention: { days: 31 } } })).toEqual([])
  })

  it('C-27 a member with a meaning in another draft is kept as sent', async () => {
    const more = { bindings: 'text', base: 7, skills: [{ id: 's' }], supportedVersions: { '1.0': 'x' }, url: null }
    expect((await send(more)).status).toBe(201)
    expect((await directory.get('/agents/x')).json).toMatchObject(more)
  })

  it('C-21 an unknown status word is accepted with a warning', async () => {
    const { status, headers } = await send({ status: 'napping' })
    expect(status).toBe(201)
    expect(headers.get('x-switchboard-warnings')).toContain("'napping'")
    expect(await list(directory)).toEqual(['x'])
  })
})

describe('operations and their schemas', () => {
  const translate = { name: 'translateText', description: 'Translates.', inputs: { type: 'object' }, outputs: {} }

  it('AIDIP-3.2-01 input and output schemas are required', async () => {
    const { inputs: _i, outputs: _o, ...silent } = aidipAgent()
    const { status, json } = await directory.post('/agents', { as: 'tokA', body: silent })
    expect(status).toBe(400)
    expect(json.error.message).toMatch(/operations.*inputs and outputs/)
    expect((await directory.post('/agents', { as: 'tokA', body: { ...silent, operations: [] } })).status).toBe(400)
    expect((await directory.post('/agents', { as: 'tokA', body: { ...silent, operations: [translate] } })).status).toBe(
      201,
    )
  })

  it('AIDIP-2-03 each operation keeps its own schemas', async () => {
    const detect = {
      name: 'detectLanguage',
      description: 'Tells the language of a text.',
      inputs: { type: 'object', properties: { sample: { type: 'string' } }, required: ['sample'] },
      outputs: { type: 'object', properties: { language: { type: 'string', enum: ['en', 'zh'] } } },
    }
    await send({ operations: [translate, detect] })
    expect((await directory.get('/agents/x')).json.operations).toEqual([translate, detect])
  })

  it('AIDIP-3.2-02 an operation must have a name, a string as description and objects as schemas', async () => {
    const { name: _, ...nameless } = translate
    const broken = [
      nameless,
      { ...translate, name: 5 },
      { ...translate, inputs: 'text' },
      { ...translate, outputs: [] },
    ]
    for (const operation of [...broken, { ...translate, description: {} }, 'translateText']) {
      expect((await send({ operations: [operation] })).status).toBe(400)
    }
    expect((await directory.get('/agents/x')).status).toBe(404)
  })

  it('AIDIP-3.2-03 an invalid schema is rejected, and the error says where it is', async () => {
    const top = await send({ inputs: { type: 'objekt' } })
    expect(top.status).toBe(400)
    expect(top.json.error.message).toContain('/inputs')
    const inside = await send({ operations: [{ ...translate, outputs: { properties: { a: { enum: 'en' } } } }] })
    expect(inside.status).toBe(400)
    expect(inside.json.error.message).toContain('/operations/0/outputs')
    const good = { type: 'object', required: ['a'], properties: { a: { type: 'string', enum: ['en', 'zh'] } } }
    expect((await send({ inputs: good })).json.inputs).toEqual(good)
  })

  it('AIDIP-3.2-04 examples must be a list of pairs', async () => {
    await register(directory, fixture('FX-T01'))
    expect((await send({ operations: [{ ...translate, examples: { input: {}, output: {} } }] })).status).toBe(400)
    expect((await send({ operations: [{ ...translate, examples: ['text'] }] })).status).toBe(400)
  })

  const withWrongExample = () => {
    const document = fixture('FX-T01')
    const text = JSON.stringify(document).replace('"target_language":"en"}', '"target_language":"fr"}')
    return { document, wrong: JSON.parse(text) }
  }

  it('AIDIP-3.2-05 an example that breaks its schema is accepted with a warning', async () => {
    const { document, wrong } = withWrongExample()
    const right = await register(directory, document)
    expect(right.headers.get('x-switchboard-warnings') ?? '').not.toContain('/examples')
    const { status, headers } = await directory.post('/agents', { as: 'tokA', body: wrong })
    expect(status).toBe(200)
    expect(headers.get('x-switchboard-warnings')).toContain('/operations/0/examples/0/input/target_language')
  })

  it('AIDIP-3.2-06 one generic operation is enough', async () => {
    const { inputs: _i, outputs: _o, ...rest } = aidipAgent()
    const generate = { name: 'generate', inputs: { type: 'object' }, outputs: { type: 'object' } }
    const { json } = await register(directory, { ...rest, operations: [generate] })
    expect(json.operations).toEqual([generate])
  })

  it('AIDIP-3.2-07 AIDIP-3.2-08 inputs and outputs at the top level are valid too, with a hint to use operations', async () => {
    const { inputs: _i, outputs: _o, ...rest } = aidipAgent()
    const simple = await register(directory, { ...rest, inputs: { type: 'object' }, outputs: { type: 'object' } })
    expect(simple.json).not.toHaveProperty('operations')
    expect(simple.headers.get('x-switchboard-warnings')).toContain('/operations')
    const recommended = await register(directory, { ...rest, operations: [translate] })
    expect(recommended.headers.get('x-switchboard-warnings') ?? '').not.toContain('/operations')
  })

  it('C-09 a map of names to types is accepted as a schema and returned as sent', async () => {
    const maps = { inputs: { text: 'string', to: 'string?', type: 'string' }, outputs: { text: 'string' } }
    await send(maps)
    expect((await directory.get('/agents/x')).json).toMatchObject(maps)
  })
})

describe('authentication in both views', () => {
  it.each([
    ['API Key', 'api_key'],
    ['api-key', 'api_key'],
    ['OAuth2', 'oauth2_bearer'],
    ['Bearer', 'oauth2_bearer'],
    ['OAuth 2 Bearer', 'oauth2_bearer'],
    ['mTLS', 'mtls'],
    ['Mutual TLS', 'mtls'],
    ['None', 'none'],
    ['carrier pigeon', 'carrier pigeon'],
  ])('AIDIP00-4-08 C-11 %j becomes an object of type %j in 01 and stays as sent in 00', async (word, type) => {
    await send({ authentication: word })
    expect((await directory.get('/agents/x')).json.authentication).toEqual({ type })
    expect((await directory.get('/v1/agents/x')).json.authentication).toEqual({ type })
    expect((await directory.get('/v0/agents/x')).json.authentication).toBe(word)
  })

  it('C-11 an object keeps its other members, and its type becomes canonical in 01', async () => {
    const authentication = { type: 'API Key', instructions: 'Ask us.', realm: 'x' }
    await send({ authentication })
    expect((await directory.get('/agents/x')).json.authentication).toEqual({ ...authentication, type: 'api_key' })
    expect((await directory.get('/v0/agents/x')).json.authentication).toEqual(authentication)
  })
})

describe('validation policies', () => {
  it('AIDIP-3.2-05 C-07 strict: version, publisher and tags are required, and examples must match their schemas', async () => {
    const strict = { ...DEFAULTS.policy, strictness: { strict01: true }, strictExamples: true }
    await directory.restart({ policy: strict })
    try {
      for (const member of ['version', 'publisher', 'tags']) {
        const { [member]: _, ...document } = fixture('FX-T01')
        const { status, json } = await directory.post('/agents', { as: 'tokA', body: document })
        expect(status).toBe(400)
        expect(json.error.message).toContain(member)
      }
      await register(directory, fixture('FX-T01'))
      const wrong = JSON.stringify(fixture('FX-T01')).replace('"target_language":"en"}', '"target_language":"fr"}')
      const refused = await directory.post('/agents', { as: 'tokA', raw: wrong })
      expect(refused.status).toBe(400)
      expect(refused.json.error.message).toContain('/operations/0/examples/0/input')
    } finally {
      await directory.restart()
    }
  })

  it('C-10 lenient: capabilities may be objects with a name', async () => {
    await directory.restart({ policy: { ...DEFAULTS.policy, strictness: { lenientCapabilities: true } } })
    try {
      const capabilities = ['a', { name: 'b', version: '1' }]
      expect((await send({ capabilities })).status).toBe(201)
      expect(await search(directory, { filters: { capabilities: ['a', 'b'] } })).toEqual(['x'])
      const [summary] = (await directory.get('/agents')).json
      expect(summary.capabilities).toEqual(['a', 'b'])
      expect((await send({ capabilities: [{ version: '1' }] })).status).toBe(400)
    } finally {
      await directory.restart()
    }
  })
})

it('C-23 the publisher’s claims are separate from the registry’s verification', async () => {
  const claims = { certification: { verified: true, quality_score: 4.8 }, quality_score: 5 }
  await register(directory, aidipAgent({ id: 'x', ...claims, verification: { state: 'verified' } }))
  const answer = await directory.get('/agents/x')
  expect(withoutRegistryMembers(answer)).toMatchObject(claims)
  expect(answer.json.verification.state).toBe('self-asserted')
})
