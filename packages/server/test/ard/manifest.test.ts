import { CATALOG_TYPE, type JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { manifestEntries, pageEntries } from '../../src/faces/ard/manifest.js'
import { createPublicPages } from '../../src/services/discovery/public-pages.js'
import type { StoredAgent } from '../../src/store/store.js'
import { card } from '../crawl/site.js'
import { testCatalog } from '../support/catalog.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { checkManifest } from './conformance.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const PATHS = ['/.well-known/ard.json', '/.well-known/ai-catalog.json'] as const
const tokA = { as: 'tokA' } as const
const EXAMPLES = [{ text: 'translate my contract' }, { text: 'what does this clause mean' }]
const register = async (body: object): Promise<void> => {
  const { status, text } = await directory.post('/agents', { ...tokA, body: JSON.parse(JSON.stringify(body)) })
  expect(status, text).toBe(201)
}
const identifiers = (json: { entries: { identifier: string }[] }) => json.entries.map(({ identifier }) => identifier)

describe('the manifest', () => {
  it('conforms to ARD 0.9 and 0.91, with agents of every kind', async () => {
    await register(fixture('FX-T01'))
    await register({ ...card({ id: 'card' }), examples: EXAMPLES })
    await register(aidipAgent({ id: 'odd id/of "agent"', examples: EXAMPLES }))
    const server = { name: 'io.example/server', description: 'S', version: '1.0.0' }
    await register({ ...server, remotes: [{ type: 'streamable-http', url: 'https://s.example/mcp' }] })
    const { text, json } = await directory.get(PATHS[0])
    expect(checkManifest(text).errors).toEqual([])
    expect(json.entries).toHaveLength(5)
    expect(json.entries[0]).toMatchObject({ type: 'application/ai-registry+json', url: `${directory.url}/ard/` })
    for (const { url, type } of json.entries.slice(1)) {
      const response = await fetch(url, { headers: { accept: type === 'application/agent-card+json' ? type : '*/*' } })
      expect(response.status, url).toBe(200)
    }
  })

  it('is the same at both paths, with links to them (ARD 0.91 §5.1, AI Catalog: Link Relation Discovery)', async () => {
    await register(aidipAgent({ id: 'a' }))
    const [ard, catalog] = await Promise.all(PATHS.map((path) => directory.get(path)))
    expect(ard?.text).toBe(catalog?.text)
    expect(ard?.headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(catalog?.headers.get('content-type')).toMatch(/^application\/ai-catalog\+json\b/)
    const page = await directory.get('/')
    for (const response of [ard, catalog, page]) {
      const link = response?.headers.get('link')
      expect(link).toContain(`<${directory.url}/.well-known/ard.json>; rel="ard"`)
      expect(link).toContain(`<${directory.url}/.well-known/ai-catalog.json>; rel="ai-catalog"`)
    }
  })

  it('is named in robots.txt (ARD 0.91 §5.1)', async () => {
    const { text, headers } = await directory.get('/robots.txt')
    expect(headers.get('content-type')).toMatch(/^text\/plain\b/)
    expect(text).toMatch(new RegExp(`^Agentmap: ${directory.url}/.well-known/ard.json$`, 'm'))
  })

  it('lists what everybody may see and what is available, whoever asks', async () => {
    await register(aidipAgent({ id: 'open' }))
    await register(aidipAgent({ id: 'hidden', visibility: 'private' }))
    await register(aidipAgent({ id: 'resting', status: 'inactive' }))
    await register(aidipAgent({ id: 'partly', tags: ['secret'], private: ['tags'] }))
    for (const as of ['anon', 'tokA', 'admin'] as const) {
      const { json, text } = await directory.get(PATHS[0], { as })
      expect(identifiers(json).slice(1), as).toEqual([
        'urn:air:agent.localhost:agent:open',
        'urn:air:agent.localhost:agent:partly',
      ])
      expect(text).not.toContain('secret')
    }
  })

  it('answers 304 until an agent changes', async () => {
    await register(aidipAgent({ id: 'a' }))
    const { headers } = await directory.get(PATHS[0])
    const tag = headers.get('etag') ?? ''
    const again = await directory.get(PATHS[1], { headers: { 'if-none-match': tag } })
    expect(again.status).toBe(304)
    await register(aidipAgent({ id: 'hidden', visibility: 'private' }))
    expect((await directory.get(PATHS[0], { headers: { 'if-none-match': tag } })).status).toBe(304)
    await register(aidipAgent({ id: 'b' }))
    expect((await directory.get(PATHS[0], { headers: { 'if-none-match': tag } })).status).toBe(200)
  })

  it('leads to no catalogs that do not exist', async () => {
    for (const page of ['0', '9999', '-1', 'x'])
      expect((await directory.get(`/ard/catalogs/${page}`)).json.errorCode).toBe('NOT_FOUND')
  })

  it('of a large directory leads to catalogs, which together list every agent (AI Catalog, Nested Catalog Entries)', () => {
    const catalog = testCatalog({ get: async () => undefined })
    const pages = createPublicPages({ catalog, isListed: ({ status }) => status === 'active' })
    catalog.subscribe(pages)
    const options = { context: { catalog }, pages, baseUrl: catalog.baseUrl }
    const put = (number: number, changes: Record<string, string> = {}) =>
      catalog.apply(storedAgent(number, aidipAgent({ id: `many-${number}`, ...changes })))
    for (let number = 1; number <= 1000; number++) put(number)
    put(1001, { visibility: 'private' })
    put(1002, { status: 'inactive' })
    expect(manifestEntries(options)).toHaveLength(1001)
    put(1003)
    const [registry, ...nested] = manifestEntries(options).map((text) => JSON.parse(text))
    expect(registry.type).toBe('application/ai-registry+json')
    expect(nested.map(({ type }) => type)).toEqual([CATALOG_TYPE, CATALOG_TYPE])
    const manifest = { specVersion: '1.0', entries: [registry, ...nested] }
    expect(checkManifest(JSON.stringify(manifest)).errors).toEqual([])
    const found = nested.flatMap(({ url }) => pageEntries(options, Number(url.split('/').at(-1))))
    const ids = found.map((text) => JSON.parse(text).metadata.id)
    expect(new Set(ids).size).toBe(1001)
    expect(ids).toContain('many-1003')
    catalog.drop('many-1003', 2000)
    expect(manifestEntries(options)).toHaveLength(1001)
  })
})

const storedAgent = (number: number, document: JsonObject): StoredAgent => ({
  number,
  id: String(document.id),
  format: 'aidip',
  document,
  owner: 'a',
  revision: number,
  marks: {},
  createdAt: 0,
  modifiedAt: 0,
  receivedAt: 0,
})
