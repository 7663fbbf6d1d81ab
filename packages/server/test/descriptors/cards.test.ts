import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { VERSION } from '../../src/app.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const

describe('the card of the directory (C-86)', () => {
  it('AURI-7-01 AURI-7-04 AURI-7-08 is the same document at both well-known names', async () => {
    const descriptor = await directory.get('/.well-known/agent.json')
    const card = await directory.get('/.well-known/agent-card.json')
    expect([descriptor.status, card.status]).toEqual([200, 200])
    expect(descriptor.json).toEqual(card.json)
    expect(card.headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(card.json).toMatchObject({ name: 'Switchboard', version: VERSION, description: expect.stringMatching(/./) })
  })

  it('AURI-7-10 AURI-7-22 AURI-10-07 is an A2A card with the members that the agent:// draft requires', async () => {
    const { json } = await directory.get('/.well-known/agent-card.json')
    expect(json.capabilities).toEqual({ streaming: true })
    expect(json.supportedInterfaces[0].url).toBe(`${directory.url}/a2a`)
    expect(json).toMatchObject({ url: `${directory.url}/a2a`, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' })
    expect(json.transport).toEqual({ http: `${directory.url}/agents/search` })
    for (const skill of json.skills) {
      expect(skill).toMatchObject({
        id: expect.any(String),
        name: expect.any(String),
        description: expect.any(String),
        tags: expect.any(Array),
      })
    }
    expect(json.versionNegotiation).toMatchObject({ preferred: 'header' })
    expect(json.security).toEqual({ http: ['none', 'api_key', 'oauth2_bearer'] })
    expect(json['@context']).toEqual(expect.any(String))
  })

  it('AURI-5.1-08 is cacheable, and a conditional GET returns 304', async () => {
    for (const path of ['/.well-known/agent.json', '/.well-known/agent-card.json']) {
      const { headers } = await directory.get(path)
      expect(headers.get('cache-control'), path).toMatch(/^public, max-age=\d+$/)
      expect(headers.get('last-modified'), path).toMatch(/GMT$/)
      const known = { headers: { 'if-none-match': headers.get('etag') ?? '' } }
      expect((await directory.get(path, known)).status, path).toBe(304)
    }
  })

  it('AURI-10-07 says that credentials are needed if anonymous discovery is off', async () => {
    await directory.restart({ anonymous: 'none' })
    const { status, json } = await directory.get('/.well-known/agent.json')
    expect(status).toBe(200)
    expect(json.security).toEqual({ http: ['api_key', 'oauth2_bearer'] })
    await directory.restart()
  })

  it('has the signing keys published next to it', async () => {
    const { keys } = (await directory.get('/.well-known/jwks.json')).json
    expect(keys).toMatchObject([{ kty: 'OKP', crv: 'Ed25519', use: 'sig' }])
  })
})

describe('the card of an agent', () => {
  it('AURI-7-10 is an A2A card 1.0, or 0.3 on request, and of this directory if the agent speaks no A2A', async () => {
    await directory.post('/agents', {
      ...tokA,
      body: fixture('FX-T01', { authentication: { type: 'api_key' }, publisher: 'Example Org' }),
    })
    const url = `${directory.url}/agents/agent-12345/a2a`
    const { json } = await directory.get('/agents/agent-12345/agent-card.json')
    expect(json).toMatchObject({
      name: 'Chinese-English Translator',
      version: '1.2.0',
      capabilities: { streaming: true },
      supportedInterfaces: [{ url }, { url }],
      provider: { organization: 'Example Org' },
      securitySchemes: { apiKey: { apiKeySecurityScheme: { name: 'X-API-Key' } } },
    })
    expect(json.skills.map(({ id }: { id: string }) => id)).toEqual(['translateText'])
    const { json: older } = await directory.get('/agents/agent-12345/agent-card.json?version=0.3')
    expect(older).toMatchObject({
      protocolVersion: '0.3.0',
      url,
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    })
    expect(older).not.toHaveProperty('supportedInterfaces')
  })

  it('does not exist if nobody answers A2A messages for the agent; the error says where else to look', async () => {
    await directory.restart({ gateway: { enabled: false } })
    await directory.post('/agents', { ...tokA, body: fixture('FX-T01') })
    const { status, json, headers } = await directory.get('/agents/agent-12345/agent-card.json')
    expect(status).toBe(404)
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(json.detail).toBe(
      'the agent "agent-12345" has no A2A card: it does not speak A2A, and this directory does not call agents, so nobody ' +
        'would answer. Its other documents: /agents/agent-12345, /agents/agent-12345/agent.json, /discover/agents/agent-12345',
    )
    for (const path of json.documents) expect((await directory.get(path)).status, path).toBe(200)
    await directory.post('/ad/r?agent=speaker', { ...tokA, body: { base: 'https://a.example/b', protocols: ['a2a'] } })
    const own = await directory.get('/agents/speaker/agent-card.json')
    expect(own.json.detail).toContain('read its own card at https://a.example/b')
    await directory.restart()
    await directory.post('/ad/r?agent=gone', { ...tokA, body: { base: 'https://a.example/', protocols: ['grpc'] } })
    expect((await directory.get('/agents/gone/agent-card.json')).json.detail).toContain('no address')
  })

  it('speaks of the version that the agent has', async () => {
    await directory.restart({ gateway: { enabled: false } })
    const bindings = [
      { protocol: 'a2a', endpoint: 'https://a.example/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ]
    await directory.post('/discover/agents', { ...tokA, body: fixture('FX-HR', { id: 'new', bindings }) })
    expect((await directory.get('/agents/new/agent-card.json')).json.supportedInterfaces).toHaveLength(1)
    const { status, json } = await directory.get('/agents/new/agent-card.json?version=0.3')
    expect([status, json.detail]).toEqual([404, expect.stringContaining('it speaks A2A 1.0, not 0.3')])
    await directory.restart()
  })

  it('AURI-7-01 is returned as it was imported', async () => {
    const card = {
      protocolVersion: '0.3.0',
      name: 'Planner',
      description: 'Plans journeys by train.',
      version: '2.0.0',
      url: 'https://planner.example.com/a2a',
      preferredTransport: 'JSONRPC',
      capabilities: { streaming: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'plan', name: 'Plan', description: 'Plans a journey.', tags: ['travel'], examples: ['To Rome'] }],
    }
    await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify(card) })
    const id = encodeURIComponent('https://planner.example.com/a2a')
    expect((await directory.get(`/agents/${id}/agent-card.json`)).json).toMatchObject(card)
    const { json } = await directory.get(`/agents/${id}/agent.json`)
    expect(json).toMatchObject({ name: 'Planner', version: '2.0.0', security: { a2a: ['none'] } })
    expect((await directory.get('/ad/l?cap_name=plan&cap_type=skill&tag=travel')).json.agents).toHaveLength(1)
  })

  it('AURI-7-04 is also available as a server.json for MCP registries', async () => {
    await directory.post('/ad/r?agent=knowledge-lookup', { ...tokA, body: fixture('FX-KB') })
    const { json } = await directory.get('/agents/knowledge-lookup/server.json')
    expect(json).toMatchObject({
      name: expect.stringMatching(/^[a-z0-9.-]+\/knowledge-lookup$/),
      description: 'Searches internal knowledge base.',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      remotes: [{ type: 'streamable-http', url: 'https://agents.example.com/kb' }],
    })
  })

  it('has a server.json only if it speaks MCP; otherwise 404 says where to look', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'plain' }) })
    expectError(await directory.get('/agents/plain/server.json'), {
      status: 404,
      says: /does not speak MCP.*read \/agents\/plain, and call it with POST \/agents\/plain\/invoke/,
    })
  })
})
