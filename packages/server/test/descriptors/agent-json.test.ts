import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
/** Only an agent that speaks MCP has a server.json. */
const bindings = [{ protocol: 'mcp', endpoint: 'https://mcp.example.org/' }]

/** Registers one agent of each draft; returns the documents by id. */
async function registerAll(): Promise<Record<string, JsonObject>> {
  const documents = {
    'agent-12345': fixture('FX-T01'),
    'https://agents.example.net/id/hr-core-automator': fixture('FX-HR'),
    'summarizer-v2': fixture('FX-SUM'),
    'agent://planner.example.com/': fixture('FX-DESC'),
  }
  const answers = [
    await directory.post('/agents', { ...tokA, body: fixture('FX-T01') }),
    await directory.post('/discover/agents', { ...tokA, body: fixture('FX-HR') }),
    await directory.post('/ad/r?agent=summarizer-v2', { ...tokA, body: fixture('FX-SUM') }),
  ]
  for (const { status, text } of answers) expect(status, text).toBe(201)
  const planner = fixture('FX-DESC', { 'com.example.mqtt': { topic: 'plans' } })
  const imported = await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify(planner) })
  expect(imported.text).toContain('"created"')
  return documents
}

const pathOf = (id: string): string => `/agents/${encodeURIComponent(id)}/agent.json`

describe('the descriptor of an agent', () => {
  it('AURI-5-01 AURI-7-01 is below the path of the agent, whichever draft it was registered through', async () => {
    for (const id of Object.keys(await registerAll())) {
      const { status, headers, json } = await directory.get(pathOf(id))
      expect(status, id).toBe(200)
      expect(headers.get('content-type'), id).toMatch(/^application\/json\b/)
      expect(json.name, id).toEqual(expect.any(String))
    }
    expect((await directory.get(pathOf('agent-12345'))).json).toMatchObject({
      id: 'agent-12345',
      name: 'Chinese-English Translator',
      url: 'https://api.example.com/agents/translate',
    })
  })

  it('AURI-7-04 AURI-7-08 AURI-7-22 AURI-10-07 has name, version, description, version negotiation, and security for each transport', async () => {
    for (const id of Object.keys(await registerAll())) {
      const { json } = await directory.get(pathOf(id))
      expect(json.name, id).toMatch(/./)
      expect(json.version, id).toMatch(/^\d+\.\d+\.\d+$/)
      expect(json.description, id).toMatch(/./)
      expect(json.versionNegotiation, id).toMatchObject({ preferred: expect.any(String) })
      expect(Object.keys(json.security).length, id).toBeGreaterThan(0)
      for (const [transport, schemes] of Object.entries(json.security)) {
        expect(schemes, `${id} ${transport}`).toEqual(expect.arrayContaining([expect.any(String)]))
      }
      const transports = json.transport === undefined ? [] : Object.keys(json.transport)
      expect(Object.keys(json.security), id).toEqual(expect.arrayContaining(transports))
    }
  })

  it('AURI-10-07 names the authentication scheme of the agent', async () => {
    const body = aidipAgent({ id: 'probe', authentication: { type: 'oauth2_bearer', scopes: ['x'] } })
    await directory.post('/agents', { ...tokA, body })
    const { json } = await directory.get(pathOf('probe'))
    expect(json.security).toEqual({ https: ['oauth2_bearer'] })
    expect(json.authentication).toEqual({ schemes: ['oauth2_bearer'] })
  })

  it('AURI-7-03 is JSON-LD: it has an @context', async () => {
    const documents = await registerAll()
    for (const id of Object.keys(documents)) {
      expect((await directory.get(pathOf(id))).json['@context'], id).toEqual(expect.stringMatching(/^https:/))
    }
    const own = documents['agent://planner.example.com/']?.['@context']
    expect((await directory.get(pathOf('agent://planner.example.com/'))).json['@context']).toBe(own)
  })

  it('AURI-7-09 AURI-7-10 lists each capability with name, description, tags, version, and schemas if there are any', async () => {
    await registerAll()
    for (const id of ['agent-12345', 'https://agents.example.net/id/hr-core-automator', 'summarizer-v2']) {
      const { json } = await directory.get(pathOf(id))
      expect(json.capabilities.length, id).toBeGreaterThan(0)
      for (const capability of json.capabilities) {
        expect(capability, id).toMatchObject({
          name: expect.stringMatching(/./),
          description: expect.stringMatching(/./),
          tags: expect.any(Array),
          version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        })
      }
    }
    const [summarize] = (await directory.get(pathOf('summarizer-v2'))).json.capabilities
    expect(summarize).toMatchObject({ name: 'summarize', version: '2.1.0', input: { required: ['text'] } })
    const translator = (await directory.get(pathOf('agent-12345'))).json
    const operation = translator.capabilities.find(({ name }: JsonObject) => name === 'translateText')
    expect(operation).toMatchObject({ input: { type: 'object' }, output: { type: 'object' } })
    expect(translator.capabilities.map(({ name }: JsonObject) => name)).toContain('translation')
  })

  it('AURI-7-01 AURI-7-13 AURI-7-18 AURI-7-24 is returned as it was registered, unknown members included', async () => {
    await registerAll()
    const { json } = await directory.get(pathOf('agent://planner.example.com/'))
    expect(json).toMatchObject(fixture('FX-DESC', { 'com.example.mqtt': { topic: 'plans' } }))
  })

  it('AURI-7-01 is hidden from other callers if the agent is private (C-70)', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'hidden', visibility: 'private' }) })
    for (const id of ['hidden', 'nobody']) {
      const answer = await directory.get(pathOf(id))
      expectError(answer, { status: 404, code: 'not_found' }, id)
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
    }
    expect((await directory.get(pathOf('hidden'), tokA)).status).toBe(200)
  })

  it('AURI-7-01 omits private parts', async () => {
    const operations = [
      { name: 'open', inputs: {}, outputs: {} },
      { name: 'vault', inputs: {}, outputs: {}, private: true },
    ]
    await directory.post('/agents', {
      ...tokA,
      body: aidipAgent({ id: 'probe', operations, bindings, private: ['endpoint'] }),
    })
    for (const file of ['agent.json', 'agent-card.json', 'server.json']) {
      const { text } = await directory.get(`/agents/probe/${file}`)
      expect(text, file).not.toMatch(/vault|agents\.example\.net/)
    }
    expect((await directory.get(pathOf('probe'), tokA)).text).toContain('vault')
  })
})

describe('caching', () => {
  it('AURI-5.1-08 descriptors have Cache-Control, ETag and Last-Modified', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'probe', bindings }) })
    for (const file of ['agent.json', 'agent-card.json', 'server.json']) {
      const { headers } = await directory.get(`/agents/probe/${file}`)
      expect(headers.get('cache-control'), file).toMatch(/^public, max-age=\d+$/)
      expect(headers.get('etag'), file).toMatch(/^"[^"]+"$/)
      expect(Date.parse(headers.get('last-modified') ?? ''), file).toBeGreaterThan(0)
      expect(headers.get('vary'), file).toMatch(/Accept/)
    }
    // A shared cache must not hold what only some callers may see.
    const { headers } = await directory.get(pathOf('probe'), tokA)
    expect(headers.get('cache-control')).not.toMatch(/public/)
  })

  it.each(['agent.json', 'agent-card.json', 'agent-card.json?version=0.3', 'server.json'])(
    'AURI-5.1-08 a conditional GET of %s returns 304 until the agent changes',
    async (file) => {
      await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'probe', bindings }) })
      const url = `/agents/probe/${file}`
      const first = await directory.get(url)
      const byTag = { headers: { 'if-none-match': first.headers.get('etag') ?? '' } }
      const byDate = { headers: { 'if-modified-since': first.headers.get('last-modified') ?? '' } }
      for (const known of [byTag, byDate]) {
        const same = await directory.get(url, known)
        expect({ status: same.status, text: same.text }).toEqual({ status: 304, text: '' })
        expect(same.headers.get('etag')).toBe(first.headers.get('etag'))
      }
      const changes = { bindings, description: 'Changed a moment after it was registered.' }
      await directory.put('/agents/probe', { ...tokA, body: aidipAgent(changes) })
      for (const known of [byTag, byDate]) {
        const changed = await directory.get(url, known)
        expect(changed.status).toBe(200)
        expect(changed.text).toContain('Changed a moment after')
      }
    },
  )

  it('AURI-5.1-08 every view has its own ETag', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'probe', bindings }) })
    const paths = ['agent.json', 'agent-card.json', 'agent-card.json?version=0.3', 'server.json']
    const tags = await Promise.all(
      [
        ...paths.map((path) => `/agents/probe/${path}`),
        '/agents/probe',
        '/v0/agents/probe',
        '/discover/agents/probe',
      ].map(async (path) => (await directory.get(path)).headers.get('etag')),
    )
    expect(new Set(tags).size).toBe(tags.length)
  })
})
