import type { JsonObject } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startHttpAgent, type TestAgent } from './gateway/agent.js'
import { startDirectory, type TestDirectory } from './support/directory.js'

let directory: TestDirectory
let api: TestAgent
/** What the API received last. */
let received: {
  method?: string
  url?: string
  body: string
  type?: string
  shop?: string
  key?: string
  authorization?: string | undefined
}

beforeAll(async () => {
  directory = await startDirectory()
  api = await startHttpAgent((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const [type = '', shop = '', key = ''] = ['content-type', 'x-shop', 'api_key'].map((name) =>
        String(headers[name]),
      )
      const { authorization } = headers
      received = { method, url, body: Buffer.concat(chunks).toString(), type, shop, key, authorization }
      response.setHeader('content-type', 'application/json').end('{"id":7,"name":"Rex"}')
    })
  })
})
afterEach(() => directory.clear())
afterAll(async () => {
  await directory.close()
  await api.close()
})

/** For the API; the directory's own is in Authorization. */
const KEY = { 'x-agent-api-key': 'secret' }

const pet = { type: 'object', required: ['name'], properties: { id: { type: 'integer' }, name: { type: 'string' } } }
const okPet = {
  200: { description: 'ok', content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
}

const petStore = (changes: JsonObject = {}): JsonObject => ({
  openapi: '3.0.3',
  id: 'pet-store',
  info: { title: 'Pet store', description: 'Buys and sells pets.', version: '1.2.0', contact: { name: 'Pets Ltd' } },
  servers: [{ url: `${api.url}{version}`, variables: { version: { default: 'v3' } } }],
  tags: [{ name: 'pets' }],
  security: [{ key: [] }],
  paths: {
    '/pets/{petId}': {
      parameters: [{ $ref: '#/components/parameters/PetId' }],
      get: {
        operationId: 'getPet',
        summary: 'Finds a pet by its number',
        parameters: [
          { name: 'fields', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'X-Shop', in: 'header', schema: { type: 'string', nullable: true } },
        ],
        responses: okPet,
      },
      put: {
        operationId: 'renamePet',
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', properties: { name: { type: 'string' } } },
            },
          },
        },
        responses: okPet,
      },
    },
    '/pets': {
      post: {
        summary: 'Adds a pet',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
        },
        responses: { 201: { description: 'added' } },
      },
    },
    '/pictures': {
      post: {
        operationId: 'upload',
        requestBody: { required: true, content: { 'image/png': {} } },
        responses: { 200: { description: 'ok' } },
      },
    },
  },
  components: {
    parameters: { PetId: { name: 'petId', in: 'path', required: true, schema: { type: 'integer' } } },
    schemas: { Pet: { ...pet, properties: { ...pet.properties, parent: { $ref: '#/components/schemas/Pet' } } } },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'api_key' } },
  },
  ...changes,
})

describe('an agent that is registered with its OpenAPI document', () => {
  it('PROF-11-01 has its operations, schemas, tags and bindings in every view', async () => {
    const { status, json } = await directory.post('/agents', { as: 'tokA', body: petStore() })
    expect(status, JSON.stringify(json)).toBe(201)
    expect(json).toMatchObject({
      id: 'pet-store',
      name: 'Pet store',
      version: '1.2.0',
      publisher: 'Pets Ltd',
      tags: ['pets'],
      authentication: { type: 'api_key' },
      capabilities: ['getPet', 'renamePet', 'post_pets'],
    })
    const profile = (await directory.get('/discover/agents/pet-store')).json
    expect(profile).toMatchObject({
      description: 'Buys and sells pets.',
      tags: expect.arrayContaining(['pets']),
      bindings: [{ endpoint: `${api.url}v3` }],
    })
    const names = (list: { name: string }[]) => list.map(({ name }) => name)
    expect(names((await directory.get('/agents/pet-store')).json.operations)).toEqual([
      'getPet',
      'renamePet',
      'post_pets',
    ])
    const found = (await directory.post('/discover', { body: { query: 'find a pet by its number' } })).json.candidates
    expect(found).toMatchObject([{ id: 'pet-store' }])
  })

  it('PROF-11-01 can also be an A2A card or a server.json', async () => {
    const card = {
      name: 'Translator',
      description: 'Translates texts.',
      version: '1.0.0',
      capabilities: { streaming: false },
      skills: [{ id: 'translate', name: 'Translate', description: 'Translates a text', tags: ['language'] }],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      supportedInterfaces: [{ url: `${api.url}a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    }
    const server = {
      name: 'example.tools/weather',
      description: 'Forecasts the weather.',
      version: '1.0.0',
      remotes: [{ type: 'streamable-http', url: `${api.url}mcp` }],
    }
    for (const document of [card, server]) {
      const { status, json } = await directory.post('/agents', { as: 'tokA', body: document })
      expect(status, JSON.stringify(json)).toBe(201)
      const profile = (await directory.get(`/discover/agents/${encodeURIComponent(json.id)}`)).json
      expect(profile).toMatchObject({ description: document.description, bindings: [{ endpoint: expect.any(String) }] })
    }
  })

  it('is called as its document says', async () => {
    await directory.post('/agents', { as: 'tokA', body: petStore() })
    const call = (operation: string, body: JsonObject) =>
      directory.post(`/agents/pet-store/${operation}`, { as: 'tokC', body, headers: KEY })
    const { status, json } = await call('getPet', { petId: 7, fields: ['name', 'a&b'], 'X-Shop': 'north' })
    expect([status, json]).toEqual([200, { id: 7, name: 'Rex' }])
    expect(received).toMatchObject({
      method: 'GET',
      url: '/v3/pets/7?fields=name&fields=a%26b',
      body: '',
      shop: 'north',
      key: 'secret',
    })
    await call('renamePet', { petId: 7, name: 'Max & Moritz' })
    expect(received).toMatchObject({ method: 'PUT', url: '/v3/pets/7', body: 'name=Max+%26+Moritz' })
    await call('post_pets', { name: 'Rex' })
    expect(received).toMatchObject({
      method: 'POST',
      url: '/v3/pets',
      body: '{"name":"Rex"}',
      type: 'application/json',
    })
  })

  it.each(['3.0.3', '3.1.0'])('can be imported, in version %s', async (openapi) => {
    const raw = `${JSON.stringify(petStore({ openapi }))}\n`
    const { text } = await directory.post('/admin/import', { as: 'admin', raw })
    expect(JSON.parse(text)).toMatchObject({ status: 'created', id: 'pet-store', format: 'aidip' })
    const call = { as: 'tokC', body: { petId: 7 }, headers: KEY } as const
    expect((await directory.post('/agents/pet-store/getPet', call)).status).toBe(200)
  })

  it('can use the schemas of 3.1', async () => {
    const name = { type: ['string', 'null'], examples: ['Rex'] }
    const parts = {
      schemas: { Pet: { type: 'object', properties: { name, kind: { const: 'dog' } }, required: ['kind'] } },
      pathItems: {},
    }
    const { paths } = petStore()
    const body = petStore({
      openapi: '3.1.0',
      paths: { '/pets': Object(paths)['/pets'] },
      components: parts,
      security: [],
    })
    expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(201)
    const call = (input: JsonObject) => directory.post('/agents/pet-store/post_pets', { as: 'tokC', body: input })
    expect((await call({ name: null, kind: 'dog' })).status).toBe(200)
    expect((await call({ name: 7, kind: 'dog' })).status).toBe(400)
    expect((await call({ name: 'Rex', kind: 'cat' })).status).toBe(400)
  })

  const secured = (scheme: JsonObject, scopes: string[] = []): JsonObject =>
    petStore({
      security: [{ own: scopes }],
      components: { ...Object(petStore().components), securitySchemes: { own: scheme } },
    })

  it.each<[string, JsonObject, JsonObject, Record<string, string>, JsonObject]>([
    [
      'a bearer token',
      { type: 'http', scheme: 'Bearer', bearerFormat: 'JWT' },
      { type: 'oauth2_bearer' },
      { 'x-agent-authorization': 'Bearer t' },
      { authorization: 'Bearer t' },
    ],
    [
      'a password',
      { type: 'http', scheme: 'basic' },
      { type: 'basic' },
      { 'x-agent-authorization': 'Basic YTpi' },
      { authorization: 'Basic YTpi' },
    ],
    [
      'a key in a header',
      { type: 'apiKey', in: 'header', name: 'api_key' },
      { type: 'api_key', instructions: 'The key is sent as the header parameter api_key.' },
      KEY,
      { key: 'secret' },
    ],
    [
      'a key in the query',
      { type: 'apiKey', in: 'query', name: 'token' },
      { type: 'api_key', instructions: 'The key is sent as the query parameter token.' },
      KEY,
      { url: '/v3/pets/7?token=secret' },
    ],
    [
      'OAuth 2.0',
      {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: 'https://issuer.example/token', scopes: { 'pets:read': 'read' } } },
      },
      { type: 'oauth2_bearer', instructions: 'Get a token at https://issuer.example/token.', scopes: ['pets:read'] },
      { 'x-agent-authorization': 'Bearer t' },
      { authorization: 'Bearer t' },
    ],
    [
      'OpenID Connect',
      { type: 'openIdConnect', openIdConnectUrl: 'https://issuer.example/.well-known/openid-configuration' },
      { type: 'oauth2_bearer', instructions: expect.stringContaining('https://issuer.example/') },
      { 'x-agent-authorization': 'Bearer t' },
      { authorization: 'Bearer t' },
    ],
  ])('says that it needs %s, and gets it', async (_what, scheme, authentication, headers, sent) => {
    const scopes = scheme.type === 'oauth2' ? ['pets:read'] : []
    const { status, json } = await directory.post('/agents', { as: 'tokA', body: secured(scheme, scopes) })
    expect(status, JSON.stringify(json)).toBe(201)
    expect(json.authentication).toEqual(authentication)
    const call = await directory.post('/agents/pet-store/getPet', { as: 'tokC', body: { petId: 7 }, headers })
    expect(call.status, call.text).toBe(200)
    expect(received).toMatchObject(sent)
  })

  it('says what only some operations need, and prefers what can be sent to a cookie', async () => {
    const cookie = { type: 'apiKey', in: 'cookie', name: 'session' }
    const alone = await directory.post('/agents', { as: 'tokA', body: secured(cookie) })
    expect(alone.json.authentication).toMatchObject({
      type: 'api_key',
      instructions: expect.stringContaining('cookie'),
    })
    const { security: _all, ...document } = petStore()
    const pets = Object(Object(document.paths)['/pets'])
    const body = {
      ...document,
      paths: { '/pets': { post: { ...pets.post, security: [{ cookie: [] }, { token: [] }] } } },
      components: {
        ...Object(document.components),
        securitySchemes: { cookie, token: { type: 'http', scheme: 'bearer' } },
      },
    }
    const { json } = await directory.post('/agents', { as: 'tokA', body })
    expect(json.authentication).toEqual({ type: 'oauth2_bearer' })
  })

  it('gets no input that its document does not allow', async () => {
    await directory.post('/agents', { as: 'tokA', body: petStore() })
    received = { body: 'nothing' }
    for (const body of [{ petId: 'seven' }, {}]) {
      const { status } = await directory.post('/agents/pet-store/getPet', { as: 'tokC', body, headers: KEY })
      expect(status).toBe(400)
    }
    expect(received.body).toBe('nothing')
  })

  it('cannot swell: its schemas are repeated in each operation only up to the limit of a document', async () => {
    const item = { $ref: '#/components/pathItems/All' }
    const pets = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, pet])),
    }
    const operation = {
      responses: {
        200: { description: '', content: { 'application/json': { schema: { $ref: '#/components/schemas/Pets' } } } },
      },
    }
    const swelling = petStore({
      paths: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`/${i}`, item])),
      components: { schemas: { Pets: pets }, pathItems: { All: { get: operation, put: operation, post: operation } } },
      security: [],
    })
    const refused = await directory.post('/agents', { as: 'tokA', body: swelling })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('20000')])
    const long = petStore({ paths: { '/a': { get: { operationId: `a${'_'.repeat(200_000)}a`, responses: {} } } } })
    expect((await directory.post('/agents', { as: 'tokA', body: long })).status).toBe(201)
  })

  it('is refused with a clear reason if it cannot be called', async () => {
    const relative = await directory.post('/agents', { as: 'tokA', body: petStore({ servers: [{ url: '/v3' }] }) })
    expect(relative.status).toBe(400)
    expect(relative.text).toContain('/servers/0/url must be the absolute URL')
    const empty = await directory.post('/agents', { as: 'tokA', body: petStore({ paths: {} }) })
    expect(empty.text).toContain('/paths must have an operation')
  })
})
