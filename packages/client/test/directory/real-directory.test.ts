import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../../server/test/support/directory.js'
import { aidipAgent, fixture } from '../../../server/test/support/documents.js'
import { createClient, type DirectoryClient } from '../../src/index.js'
import { codeOf, collect } from '../transports/support/agent-host.js'

let directory: TestDirectory
let [publisher, other, client, stranger]: DirectoryClient[] = []

beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(async () => {
  const key = (subject: string, ...scopes: string[]) => directory.makeKey({ subject, scopes })
  const baseUrl = directory.url
  publisher = createClient({ baseUrl, token: await key('publisher', 'publish', 'discover', 'invoke') })
  other = createClient({ baseUrl, token: await key('other', 'publish', 'discover') })
  client = createClient({ baseUrl, token: await key('client', 'discover', 'invoke') })
  stranger = createClient({ baseUrl })
})
afterEach(() => directory.clear())

/** Narrows a client that the hook above creates. */
function the(one: DirectoryClient | undefined): DirectoryClient {
  if (!one) throw new Error('the client has not been created yet')
  return one
}

describe('registering', () => {
  it('accepts an AIDIP document and returns the id that the directory assigned', async () => {
    const registered = await the(publisher).register(aidipAgent({ name: 'Planner' }))
    expect(registered).toMatchObject({ created: true, document: { name: 'Planner' } })
    expect(registered.href).toBe(`${directory.url}/agents/${registered.id}`)
    expect(await the(stranger).get(registered.id)).toMatchObject({ id: registered.id, name: 'Planner' })
  })

  it('replaces an agent with the same id and owner', async () => {
    await the(publisher).register(aidipAgent({ id: 'a-1' }))
    expect(await the(publisher).register(aidipAgent({ id: 'a-1', version: '2.0.0' }))).toMatchObject({
      id: 'a-1',
      created: false,
    })
    expect(await codeOf(the(other).register(aidipAgent({ id: 'a-1' })))).toBe('conflict')
  })

  it('accepts metadata of the profile', async () => {
    const document = fixture('FX-HR')
    expect(await the(publisher).register(document)).toMatchObject({ id: document.id, created: true })
    expect(await the(stranger).get(String(document.id), { view: 'profile' })).toMatchObject({ name: document.name })
  })

  it.each(['3.0.3', '3.1.0'])('accepts an OpenAPI document of version %s', async (openapi) => {
    const document = {
      openapi,
      info: { title: 'Pets', version: '1.0.0', 'x-agent-id': 'pets' },
      servers: [{ url: 'https://pets.example' }],
      paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'ok' } } } } },
    }
    expect(await the(publisher).register(document)).toMatchObject({ id: 'pets', created: true })
    expect(await the(stranger).get('pets')).toMatchObject({
      endpoint: 'https://pets.example',
      capabilities: ['listPets'],
    })
  })

  it('AD-4.2-07 reads the registration of the Agent Directory from its Location', async () => {
    const registered = await the(publisher).register(fixture('FX-SUM'), { id: 'summarizer', lifetime: 120 })
    expect(registered).toMatchObject({ id: 'summarizer', created: true, lifetime: 120 })
    expect(registered.href).toMatch(/\/ad\/r\/\d+$/)
    expect(registered.document).toMatchObject({ agent: 'summarizer', lt: 120 })
  })

  it('refreshes a registration in the Agent Directory, and changes it', async () => {
    const registered = await the(publisher).register(fixture('FX-SUM'), { id: 'summarizer', lifetime: 120 })
    await the(publisher).refresh(registered, { lifetime: 300 })
    await the(publisher).refresh(registered, { changes: { description: 'Shorter.' } })
    expect(await the(stranger).get('summarizer')).toMatchObject({ description: 'Shorter.' })
    await the(publisher).remove('summarizer')
    expect(await codeOf(the(publisher).refresh(registered))).toBe('not_found')
  })

  it('accepts an A2A card, a descriptor and an MCP server, and keeps their content', async () => {
    const card = {
      protocolVersion: '0.3.0',
      name: 'Weather',
      description: 'Tells the weather.',
      url: 'https://weather.example/a2a',
      version: '1.0.0',
      capabilities: { streaming: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'forecast', name: 'Forecast', description: 'Looks ahead.', tags: ['weather'] }],
    }
    const server = {
      name: 'com.example/files',
      description: 'Reads files.',
      version: '1.0.0',
      remotes: [{ type: 'streamable-http', url: 'https://files.example/mcp' }],
    }
    expect(await the(publisher).register(card)).toMatchObject({ id: card.url })
    expect(await the(publisher).register(server)).toMatchObject({ id: 'com.example/files' })
    expect(await the(publisher).register(fixture('FX-DESC'), { id: 'described' })).toMatchObject({ id: 'described' })
    const shown = await the(stranger).get(card.url, { view: 'a2a' })
    expect(shown).toMatchObject({ name: 'Weather', skills: [expect.objectContaining({ id: 'forecast' })] })
    const { candidates } = await the(stranger).discover({ query: 'weather forecast', protocols: ['a2a'] })
    expect(candidates[0]?.bindings).toEqual([{ protocol: 'a2a', endpoint: card.url }])
  })

  it('rejects a document of no draft, and reports the directory’s validation errors', async () => {
    expect(await codeOf(the(publisher).register({ hello: 'world' }))).toBe('invalid_argument')
    const wrong = the(publisher).register(aidipAgent({ version: 3 }))
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_input', status: 400, requestId: expect.any(String) })
    await expect(wrong).rejects.toThrow('/version')
    expect(await codeOf(the(stranger).register(aidipAgent()))).toBe('unauthorized')
    expect(await codeOf(the(client).register(aidipAgent()))).toBe('permission_denied')
  })
})

describe('changing and removing', () => {
  it('replaces a document, for its owner only', async () => {
    await the(publisher).register(aidipAgent({ id: 'a-1' }))
    await the(publisher).update('a-1', aidipAgent({ name: 'New' }))
    expect(await the(stranger).get('a-1')).toMatchObject({ name: 'New' })
    expect(await codeOf(the(other).update('a-1', aidipAgent()))).toBe('permission_denied')
    expect(await codeOf(the(publisher).update('none', aidipAgent()))).toBe('not_found')
  })

  it('loses no concurrent changes', async () => {
    await the(publisher).register(aidipAgent({ id: 'a-1', tags: [] }))
    const addTag = (tag: string) =>
      the(publisher).update('a-1', (current) => ({
        ...current,
        tags: [...(Array.isArray(current.tags) ? current.tags : []), tag],
      }))
    await Promise.all(['a', 'b', 'c'].map(addTag))
    const { tags } = await the(stranger).get('a-1')
    expect(new Set(Array.isArray(tags) ? tags : [])).toEqual(new Set(['a', 'b', 'c']))
  })

  it('fails if the ETag does not match', async () => {
    await the(publisher).register(aidipAgent({ id: 'a-1' }))
    expect(await codeOf(the(publisher).update('a-1', aidipAgent(), { ifMatch: '"other"' }))).toBe('conflict')
    expect(await codeOf(the(publisher).remove('a-1', { ifMatch: '"other"' }))).toBe('conflict')
  })

  it('removes an agent, for its owner only', async () => {
    await the(publisher).register(aidipAgent({ id: 'https://a.example/1' }))
    expect(await codeOf(the(other).remove('https://a.example/1'))).toBe('permission_denied')
    await the(publisher).remove('https://a.example/1')
    expect(await codeOf(the(stranger).get('https://a.example/1'))).toBe('not_found')
  })
})

describe('finding', () => {
  const register = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        the(publisher).register(aidipAgent({ id: `a-${n}`, name: `Gardener ${n}`, tags: n < 3 ? ['few'] : [] })),
      ),
    )

  it('says which words were corrected, and searches for them as they are if told to', async () => {
    await the(publisher).register(aidipAgent({ id: 'g', name: 'Zsófika', description: 'A gardener.' }))
    const corrected = [{ from: 'gadrener', to: 'gardener' }]
    expect(await the(stranger).search('gadrener')).toMatchObject({ agents: [{ id: 'g' }], corrected })
    expect(await the(stranger).search({ query: 'gadrener', skip: 0 })).toMatchObject({ corrected })
    expect(await the(stranger).discover('gadrener')).toMatchObject({ candidates: [{ id: 'g' }], corrected })
    expect(await the(stranger).search('zsofikaa')).toMatchObject({ corrected: [{ to: 'zsófika' }] })
    const exact = { query: 'gadrener', exact: true }
    expect(await the(stranger).search(exact)).toMatchObject({ agents: [], corrected: [] })
    expect(await the(stranger).discover(exact)).toMatchObject({ candidates: [], corrected: [] })
  })

  it('awaits one page of a search, or iterates over all', async () => {
    await register(23)
    const page = await the(stranger).search({ query: 'gardener', top: 10 })
    expect(page.agents).toHaveLength(10)
    expect(page.total).toBe(23)
    const all = await collect(the(stranger).search({ query: 'gardener', top: 10 }))
    expect(new Set(all.map(({ id }) => id)).size).toBe(23)
    expect(all[0]).toMatchObject({
      capabilities: ['probe'],
      endpoint: 'https://agents.example.net/probe',
      score: expect.any(Number),
    })
    const sizes = []
    for await (const { agents } of the(stranger)
      .search({ filters: { capabilities: ['probe'] }, top: 10, includeMetadata: true })
      .pages())
      sizes.push(agents.length)
    expect(sizes).toEqual([10, 10, 3])
  })

  it('AIDIP-4.3.1-09 gets the whole document of a search result', async () => {
    await the(publisher).register(fixture('FX-T01'))
    for await (const { id } of the(client).search('translate')) {
      expect(await the(client).get(id)).toHaveProperty('operations')
    }
    expect((await the(client).search('translate')).agents).toHaveLength(1)
  })

  it('AIDIP00-5.3-04 returns the score of each agent unchanged', async () => {
    await register(2)
    const { agents } = await the(stranger).search('gardener 1')
    expect(agents.map(({ score }) => score)).toEqual(agents.map(({ document }) => document.score))
  })

  it('AIDIP-9-14 shows the directory’s verification, and filters by it', async () => {
    await register(3)
    await directory.patch('/admin/agents/a-1', { as: 'admin', body: { verification: 'verified', quality_score: 4.8 } })
    await directory.patch('/admin/agents/a-2', { as: 'admin', body: { quality_score: 2 } })
    const { agents } = await the(stranger).search({ query: 'gardener', includeMetadata: true })
    expect(agents.find(({ id }) => id === 'a-1')?.document).toMatchObject({ verification: { quality_score: 4.8 } })
    const ids = async (policy: object): Promise<string[]> =>
      (await collect(the(stranger).search('gardener', policy))).map(({ id }) => id)
    expect(await ids({ minQuality: 4 })).toEqual(['a-1'])
    expect(await ids({ requireCertified: true })).toEqual(['a-1'])
    expect(await ids({})).toHaveLength(3)
  })

  it('discovers candidates with evidence, and reports filters that were not applied', async () => {
    await register(3)
    const discovery = await the(stranger).discover({
      query: 'gardener',
      required_tags: ['few'],
      include_evidence: true,
      constraints: { moon: 'full' },
    })
    expect(discovery.candidates).toHaveLength(3)
    expect(discovery.candidates[0]?.evidence?.matchedTags).toEqual(['few'])
    expect(discovery).toMatchObject({ unsupportedFilters: ['moon'], requestId: expect.any(String) })
    expect(await collect(the(stranger).discover('gardener'))).toHaveLength(3)
    expect(
      await codeOf(
        Promise.resolve(the(stranger).discover({ query: 'x', constraints: { moon: 'full' } }, { strict: true })),
      ),
    ).toBe('invalid_input')
  })

  it('PROF-3.1-06 works without evidence', async () => {
    await register(1)
    const { candidates } = await the(stranger).discover('gardener')
    expect(candidates[0]).toMatchObject({ id: 'a-0', bindings: [{ protocol: 'https' }] })
    expect(candidates[0]?.evidence).toBeUndefined()
  })

  it('looks up agents page by page', async () => {
    await register(5)
    const names = await collect(the(stranger).lookup({ cap_name: 'pro*', count: 2 }))
    expect(names.map(({ agent }) => agent)).toEqual(['a-0', 'a-1', 'a-2', 'a-3', 'a-4'])
    expect((await the(stranger).lookup({ cap_name: 'pro*', count: 2 })).agents).toHaveLength(2)
    expect((await the(stranger).lookup({ agent: 'none' })).agents).toEqual([])
  })

  it('AIDIP00-8-01 AIDIP-7-03 searches, selects and reads with revision 00, without resolution', async () => {
    await the(publisher).register(fixture('FX-T00'))
    const requested: string[] = []
    const recording: typeof fetch = (input, init) => {
      requested.push(new URL(String(input)).pathname)
      return fetch(input, init)
    }
    const old = createClient({ baseUrl: `${directory.url}/v0`, fetch: recording })
    const { agents, total } = await old.search({
      query: 'translate',
      filters: { capabilities: ['translation'], supported_language: 'en' },
      top: 3,
    })
    expect(total).toBe(1)
    expect(await old.get(agents[0]?.id ?? '')).toMatchObject({ name: fixture('FX-T00').name })
    expect(requested).toEqual(['/v0/agents/search', `/v0/agents/${agents[0]?.id}`])
  })

  it('hides private agents from other callers, as the directory does', async () => {
    await the(publisher).register(aidipAgent({ id: 'hidden', visibility: 'private' }))
    expect(await codeOf(the(stranger).get('hidden'))).toBe('not_found')
    expect(await the(publisher).get('hidden')).toMatchObject({ id: 'hidden' })
  })

  it('describes the service', async () => {
    expect(await the(stranger).describe()).toMatchObject({
      conformance_level: expect.any(String),
      limits: expect.any(Object),
    })
  })
})
