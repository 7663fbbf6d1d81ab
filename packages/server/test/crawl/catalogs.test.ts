import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { CARD, card, DESCRIPTOR, INDEX, startSite, type TestSite } from './site.js'

let directory: TestDirectory
let site: TestSite

beforeAll(async () => {
  const crawl = { enabled: true, urls: [], intervalSeconds: 3600, pauseMs: 0, maxAgentsPerSite: 5 }
  directory = await startDirectory({ crawl })
})
afterAll(() => directory.close())
beforeEach(async () => {
  site = await startSite()
})
afterEach(async () => {
  await directory.clear()
  await site.close()
})

const ARD = '/.well-known/ard.json'
const CATALOG = '/.well-known/ai-catalog.json'
const A2A = 'application/a2a-agent-card+json'
const crawl = (url = site.url) => directory.post('/crawl', { as: 'tokA', body: { url } })
const agent = async (id: string) => (await directory.get(`/agents/${encodeURIComponent(id)}`)).json
const entry = (name: string, more: object) => ({
  identifier: `urn:air:127.0.0.1:agents:${name}`,
  displayName: name,
  type: A2A,
  ...more,
})

it('reads the entries of a manifest: what they contain and what they refer to (ARD 0.91 §5.2)', async () => {
  const queries = ['read my letter', 'write an answer']
  site.pages[ARD] = {
    body: {
      entries: [
        entry('referred', { url: '/cards/a.json', representativeQueries: queries }),
        entry('contained', { data: card({ name: 'Contained' }) }),
        { ...entry('foreign', { data: card({ name: 'Foreign' }) }), identifier: 'urn:air:google.com:agents:foreign' },
        entry('elsewhere', { url: 'https://elsewhere.example/card.json' }),
        entry('data', { type: 'application/parquet', url: '/data.parquet' }),
        entry('registry', { type: 'application/ai-registry+json', url: '/ard/' }),
      ],
    },
  }
  site.pages['/cards/a.json'] = { body: card() }
  const { status, json, text } = await crawl()
  expect(status, text).toBe(201)
  expect(site.takePaths()).toEqual(['/robots.txt', CARD, DESCRIPTOR, INDEX, ARD, '/cards/a.json'])
  const place = (name: string, host = '127.0.0.1') => `${site.url}${ARD}#urn%3Aair%3A${host}%3Aagents%3A${name}`
  expect(json.agents).toEqual([
    { url: `${site.url}/cards/a.json`, agent: 'urn:air:127.0.0.1:agents:referred', status: 'created' },
    { url: place('contained'), agent: 'urn:air:127.0.0.1:agents:contained', status: 'created' },
    // The site does not speak for the domain in that identifier.
    { url: place('foreign', 'google.com'), agent: place('foreign', 'google.com'), status: 'created' },
    expect.objectContaining({ status: 'skipped', reason: expect.stringContaining('not a URL of this host') }),
    expect.objectContaining({ status: 'skipped', reason: expect.stringContaining('application/parquet') }),
  ])
  const referred = await agent('urn:air:127.0.0.1:agents:referred')
  expect(referred.examples).toEqual(queries.map((text) => ({ text })))
  const { json: manifest } = await directory.get(ARD)
  expect(manifest.entries.map(({ identifier }: { identifier: string }) => identifier)).toContain(
    'urn:air:127.0.0.1:agents:referred',
  )
  expect(manifest.entries[1]).toMatchObject({
    representativeQueries: queries,
    trustManifest: {
      identity: 'https://127.0.0.1',
      provenance: [{ relation: 'publishedFrom', sourceId: `${site.url}/cards/a.json` }],
    },
  })
})

it('reads the path of ARD 0.9 if there is no other, and catalogs within catalogs, each once (AI Catalog)', async () => {
  const nested = (name: string, url: string) => entry(name, { type: 'application/ai-catalog+json', url })
  const inline = { specVersion: '1.0', entries: [entry('inline', { data: card({ name: 'Inline' }) })] }
  site.pages[CATALOG] = {
    body: {
      specVersion: '1.0',
      host: { displayName: 'Acme' },
      entries: [
        nested('part', '/part.json'),
        entry('suite', { type: 'application/ai-catalog+json', data: inline }),
        nested('far', 'https://elsewhere.example/catalog.json'),
      ],
    },
  }
  site.pages['/part.json'] = {
    body: {
      specVersion: '1.0',
      entries: [entry('deep', { data: card({ name: 'Deep' }) }), nested('loop', CATALOG)],
    },
  }
  const { json } = await crawl()
  expect(json.agents).toEqual([
    expect.objectContaining({ agent: 'urn:air:127.0.0.1:agents:deep', status: 'created' }),
    expect.objectContaining({ status: 'skipped', reason: expect.stringContaining('read already') }),
    expect.objectContaining({ agent: 'urn:air:127.0.0.1:agents:inline', status: 'created' }),
    expect.objectContaining({ status: 'skipped', reason: expect.stringContaining('another host') }),
  ])
  expect(site.takePaths().slice(-2)).toEqual([CATALOG, '/part.json'])
})

it('leaves identifiers to those who control the host: other pages may belong to its users', async () => {
  site.pages['/~user/ard.json'] = { body: { entries: [entry('claimed', { data: card() })] } }
  site.pages['/~user/card.json'] = { body: card({ id: 'urn:air:127.0.0.1:agents:claimed' }) }
  const { json } = await crawl(`${site.url}/~user/ard.json`)
  const place = `${site.url}/~user/ard.json#urn%3Aair%3A127.0.0.1%3Aagents%3Aclaimed`
  expect(json.agents).toEqual([{ url: place, agent: place, status: 'created' }])
  const { json: stated } = await crawl(`${site.url}/~user/card.json`)
  expect(stated.agents).toEqual([expect.objectContaining({ status: 'failed', code: 'forbidden' })])
})

it('stops at the depth and the number of agents that are allowed', async () => {
  let catalog = { specVersion: '1.0', entries: [entry('bottom', { data: card() })] }
  for (let i = 0; i < 6; i++)
    catalog = {
      specVersion: '1.0',
      entries: [entry(`level-${i}`, { type: 'application/ai-catalog+json', data: catalog })],
    }
  site.pages['/deep.json'] = { body: catalog }
  const { json } = await crawl(`${site.url}/deep.json`)
  expect(json.agents).toEqual([expect.objectContaining({ status: 'skipped', reason: 'is a catalog within 4 others' })])
  const many = Array.from({ length: 20 }, (_, i) => entry(`many-${i}`, { data: card({ name: `Many ${i}` }) }))
  site.pages['/many.json'] = { body: { entries: many } }
  const { json: wide } = await crawl(`${site.url}/many.json`)
  expect(wide.agents.filter(({ status }: { status: string }) => status === 'created')).toHaveLength(5)
  expect(wide.agents.at(-1)).toMatchObject({ status: 'skipped', reason: expect.stringContaining('first 5') })
})

it('imports entries with POST /admin/import, and says what to do with the others', async () => {
  const lines = [
    entry('imported', { data: card({ name: 'Imported' }) }),
    entry('referred', { url: 'https://a.example/card.json' }),
    { specVersion: '1.0', entries: [] },
  ]
  const raw = lines.map((line) => JSON.stringify(line)).join('\n')
  const { text } = await directory.post('/admin/import', { as: 'admin', raw })
  const results = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(results).toEqual([
    expect.objectContaining({ status: 'created', id: 'urn:air:127.0.0.1:agents:imported', format: 'a2a' }),
    expect.objectContaining({ status: 'failed', message: expect.stringContaining('POST /crawl') }),
    expect.objectContaining({ status: 'failed', message: expect.stringContaining('each of its entries') }),
  ])
})
