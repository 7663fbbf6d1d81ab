import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { card } from '../crawl/site.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { checkEntry } from './conformance.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
  const documents = [
    { ...card({ id: 'letters', name: 'Letters', description: 'Translates letters.' }), tags: ['Mail'] },
    aidipAgent({ id: 'weather', name: 'Weather', description: 'Forecasts the weather.', tags: ['weather', 'mail'] }),
    aidipAgent({
      id: 'storms',
      name: 'Storms',
      description: 'Warns of storms, weather by weather.',
      tags: ['weather'],
      authentication: { type: 'api_key' },
      examples: [{ text: 'will there be a storm' }, { text: 'how strong is the wind' }],
    }),
  ]
  for (const body of documents)
    expect((await directory.post('/agents', { as: 'tokA', body: JSON.parse(JSON.stringify(body)) })).status).toBe(201)
  await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'secret', visibility: 'private' }) })
})
afterAll(() => directory.close())

const urn = (id: string): string => `urn:air:agent.localhost:agent:${id}`
const search = (query: JsonObject, more: JsonObject = {}) => directory.post('/ard/search', { body: { query, ...more } })
const found = async (query: JsonObject): Promise<string[]> => {
  const { status, json, text } = await search({ text: 'weather storms letters', ...query }, { pageSize: 100 })
  expect(status, text).toBe(200)
  return json.results.map(({ metadata }: { metadata: { id: string } }) => metadata.id).sort()
}

describe('POST /ard/search (ARD 0.91 §5.3.2)', () => {
  it('returns entries by relevance, with whole scores from 0 to 100 and their registry', async () => {
    const { json, headers } = await search({ text: 'will there be a storm' })
    expect(json.results.length).toBeGreaterThan(0)
    expect(json.results[0].identifier).toBe(urn('storms'))
    const report = { errors: [], warnings: [] }
    for (const { score, source, ...entry } of json.results) {
      expect(Number.isInteger(score) && score >= 0 && score <= 100, String(score)).toBe(true)
      expect(source).toBe(`${directory.url}/ard/`)
      expect(entry).not.toHaveProperty('representativeQueries')
      checkEntry(entry, report)
    }
    expect(report.errors).toEqual([])
    expect(headers.get('x-search-id')).toMatch(/./)
    expect(json).not.toHaveProperty('referrals')
  })

  it('accepts the probe of the conformance tool', async () => {
    const query = { text: 'weather forecast tools', filter: { type: ['application/mcp-server-card+json'] } }
    const { status, json } = await search(query, { federation: 'none', pageSize: 2 })
    expect([status, json]).toEqual([200, { results: [] }])
  })

  it('needs a text, and says what is wrong with errorCode and message (appendix B)', async () => {
    for (const body of [{}, { query: {} }, { query: { text: ' ' } }, { query: { text: 'x' }, federation: 'maybe' }]) {
      const { status, json } = await directory.post('/ard/search', { body })
      expect([status, json.errorCode]).toEqual([400, 'INVALID_ARGUMENT'])
      expect(json.message).toMatch(/./)
    }
    expect((await directory.post('/ard/search', { raw: '{' })).json.errorCode).toBe('INVALID_ARGUMENT')
    expect((await directory.get('/ard/nothing')).json.errorCode).toBe('NOT_FOUND')
    const { json } = await directory.post('/ard/search', { body: {}, headers: { authorization: 'Bearer wrong' } })
    expect(json.errorCode).toBe('UNAUTHENTICATED')
  })

  it('filters by term paths: values are alternatives, keys must all match (§5.3.1)', async () => {
    expect(await found({ filter: { type: 'application/a2a-agent-card+json' } })).toEqual(['letters'])
    expect(await found({ filter: { tags: ['mail'] } })).toEqual(['letters', 'weather'])
    expect(await found({ filter: { tags: ['mail', 'weather'] } })).toEqual(['letters', 'storms', 'weather'])
    expect(await found({ filter: { tags: ['mail'], type: ['application/agent-card+json'] } })).toEqual(['weather'])
    expect(await found({ filter: { 'metadata.authentication': ['api_key'] } })).toEqual(['storms'])
    expect(await found({ filter: { publisher: 'agent.localhost' } })).toEqual(['letters', 'storms', 'weather'])
    expect(await found({ filter: { identifier: urn('weather') } })).toEqual(['weather'])
    expect(await found({ filter: { 'trustManifest.attestations.type': ['domain-control'] } })).toEqual([])
    expect(await found({ filter: { 'metadata.id': 'secret' } })).toEqual([])
  })

  it('resolves filter keys by the namespaces of the query (0.91 §5.3.1, Term resolution)', async () => {
    const ns = 'https://agenticresourcediscovery.org/ns#'
    const wanted = { filter: { 'a:tags': ['mail'] } }
    expect(await found({ '@context': { a: ns }, ...wanted })).toEqual(['letters', 'weather'])
    expect(
      await found({ '@context': ['https://agenticresourcediscovery.org/context/v1', { a: ns }], ...wanted }),
    ).toEqual(['letters', 'weather'])
    expect(await found({ filter: { [`${ns}tags`]: ['mail'] } })).toEqual(['letters', 'weather'])
    expect(await found({ '@context': { a: ns }, filter: { 'a:metadata.id': 'storms' } })).toEqual(['storms'])
    for (const [context, key] of [
      [{ a: 'https://other.example/#' }, 'a:tags'],
      [{}, 'a:tags'],
      [{ tags: 'https://other.example/#tags' }, 'tags'],
      [{}, 'nonsense'],
      [{}, 'data.name'],
    ] as const) {
      const { status, json } = await search({ text: 'x', '@context': context, filter: { [key]: 'y' } })
      expect([status, json.errorCode], key).toEqual([400, 'INVALID_ARGUMENT'])
      expect(json.message).toContain(key)
    }
  })

  it('limits filters', async () => {
    const filter = { tags: Array.from({ length: 101 }, (_, i) => `t${i}`) }
    expect((await search({ text: 'x', filter })).status).toBe(400)
  })

  it('pages with tokens that are of use only for the same query', async () => {
    const query = { text: 'weather' }
    const seen: string[] = []
    let pageToken: string | undefined
    do {
      const { json, status, text } = await search(query, { pageSize: 1, ...(pageToken && { pageToken }) })
      expect(status, text).toBe(200)
      expect(json.results).toHaveLength(1)
      seen.push(json.results[0].metadata.id)
      pageToken = json.pageToken
    } while (pageToken !== undefined)
    const { json } = await search(query)
    expect(seen).toEqual(json.results.map(({ metadata }: { metadata: { id: string } }) => metadata.id))
    expect(json).not.toHaveProperty('pageToken')
    const { pageToken: token } = (await search(query, { pageSize: 1 })).json
    const altered = `${token.slice(0, 6)}${token[6] === 'A' ? 'B' : 'A'}${token.slice(7)}`
    for (const [other, pageToken] of [
      [{ text: 'letters' }, token],
      [query, altered],
      [query, `${token}A`],
      [query, ''],
      [query, 'x'.repeat(100_000)],
    ] as const) {
      const refused = await search(other, { pageSize: 1, pageToken })
      expect([refused.status, refused.json.errorCode]).toEqual([400, 'INVALID_ARGUMENT'])
    }
    expect((await directory.get(`/ard/agents?pageToken=${token}`)).status).toBe(400)
  })

  it('may be used by pages of every origin, without credentials', async () => {
    const { headers } = await directory.post('/ard/search', {
      body: { query: { text: 'x' } },
      headers: { origin: 'https://page.example' },
    })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('ratelimit-policy')).toMatch(/^"search"/)
  })
})

describe('POST /ard/explore (ARD 0.91 §5.3.3)', () => {
  const explore = (body: JsonObject) => directory.post('/ard/explore', { body })

  it('counts the values of all matches, without a query those of all entries', async () => {
    const { json } = await explore({
      resultType: { facets: [{ field: 'type' }, { field: 'tags' }, { field: 'publisher' }] },
    })
    expect(json).toEqual({
      resultType: 'facets',
      facets: {
        type: {
          buckets: [
            { value: 'application/agent-card+json', count: 2 },
            { value: 'application/a2a-agent-card+json', count: 1 },
          ],
        },
        tags: {
          buckets: expect.arrayContaining([
            { value: 'weather', count: 2 },
            { value: 'Mail', count: 2 },
          ]),
        },
        publisher: { buckets: [{ value: 'agent.localhost', count: 3 }] },
      },
    })
  })

  it('counts the same entries as a search finds', async () => {
    const query = { text: 'weather', filter: { tags: ['weather'] } }
    const { json } = await explore({ query, resultType: { facets: [{ field: 'publisher' }] } })
    const { json: page } = await search(query, { pageSize: 100 })
    expect(json.facets.publisher.buckets).toEqual([{ value: 'agent.localhost', count: page.results.length }])
  })

  it('honours limit and minCount', async () => {
    const facets = [{ field: 'tags', limit: 1, minCount: 2 }]
    const { json } = await explore({ resultType: { facets } })
    expect(json.facets.tags.buckets).toHaveLength(1)
    expect(json.facets.tags.otherCount).toBe(2)
  })

  it('accepts the probe of the conformance tool, and rejects what cannot be counted', async () => {
    const probe = await explore({ query: { text: 'weather' }, resultType: { facets: [{ field: 'type' }] } })
    expect([probe.status, probe.json.resultType]).toEqual([200, 'facets'])
    for (const body of [
      {},
      { resultType: {} },
      { resultType: { facets: [] } },
      { resultType: { facets: [{ field: 'description' }] } },
      { resultType: { facets: [{ field: 'nonsense' }] } },
      { resultType: { facets: Array.from({ length: 11 }, () => ({ field: 'type' })) } },
    ]) {
      const { status, json } = await explore(body)
      expect([status, json.errorCode], JSON.stringify(body)).toEqual([400, 'INVALID_ARGUMENT'])
    }
  })
})

describe('GET /ard/agents/{identifier} (ARD 0.91 §5.3.4)', () => {
  const get = (identifier: string, headers = {}) =>
    directory.get(`/ard/agents/${encodeURIComponent(identifier)}`, { headers })

  it('returns the complete entry, without what only a search has, and 304 if it is known', async () => {
    const { status, json, headers } = await get(urn('storms'))
    expect(status).toBe(200)
    expect(json).toMatchObject({
      identifier: urn('storms'),
      representativeQueries: [/./, /./].map(() => expect.any(String)),
    })
    const report = { errors: [], warnings: [] }
    checkEntry(json, report)
    expect(report.errors).toEqual([])
    for (const member of ['score', 'source']) expect(json).not.toHaveProperty(member)
    expect(headers.get('cache-control')).toBe('public, max-age=60')
    expect((await get(urn('storms'), { 'if-none-match': headers.get('etag') })).status).toBe(304)
  })

  it('answers 404 for unknown and hidden agents, and 400 for what is not an identifier', async () => {
    const unknown = [
      'urn:air:ard-conformance.invalid:probe:not-found',
      ...[urn('nobody'), urn('secret'), urn('Storms'), urn('_x73torms'), 'urn:air:other.example:agent:storms'],
    ]
    for (const identifier of unknown) {
      const { status, json, headers } = await get(identifier)
      expect([status, json.errorCode], identifier).toEqual([404, 'NOT_FOUND'])
      expect(headers.get('cache-control')).toBe('no-store')
    }
    for (const path of ['not-a-valid-ard-urn', 'urn%253Aair%253Aa.example%253Aagent%253Ax', '%ZZ']) {
      const { status, json } = await directory.get(`/ard/agents/${path}`)
      expect([status, json.errorCode], path).toEqual([400, 'INVALID_ARGUMENT'])
    }
  })

  it('shows a private agent to its owner', async () => {
    const { status, headers } = await directory.get(`/ard/agents/${urn('secret')}`, { as: 'tokA' })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-cache'])
  })
})

describe('GET /ard/agents (ARD 0.91 §5.3.5)', () => {
  const list = (query: Record<string, string>) => directory.get(`/ard/agents?${new URLSearchParams(query)}`)
  const ids = (json: { items: { metadata: { id: string } }[] }) => json.items.map(({ metadata }) => metadata.id)

  it('pages through all entries', async () => {
    const first = await list({ pageSize: '2' })
    expect(ids(first.json)).toEqual(['letters', 'weather'])
    expect(first.json.total).toBe(3)
    const second = await list({ pageSize: '2', pageToken: first.json.pageToken })
    expect(ids(second.json)).toEqual(['storms'])
    expect(second.json).not.toHaveProperty('pageToken')
    const report = { errors: [], warnings: [] }
    for (const entry of first.json.items) checkEntry(entry, report)
    expect(report.errors).toEqual([])
    const tag = first.headers.get('etag') ?? ''
    expect((await directory.get('/ard/agents?pageSize=2', { headers: { 'if-none-match': tag } })).status).toBe(304)
  })

  it('orders by name and by time', async () => {
    expect(ids((await list({ orderBy: 'displayName' })).json)).toEqual(['letters', 'storms', 'weather'])
    expect(ids((await list({ orderBy: 'created_at DESC' })).json)).toEqual(['storms', 'weather', 'letters'])
    expect((await list({ orderBy: 'score' })).json.errorCode).toBe('INVALID_ARGUMENT')
  })

  it.each([
    [`displayName = 'STORM'`, ['storms']],
    [`type = 'application/a2a-agent-card+json, application/parquet'`, ['letters']],
    [`type = "application/agent-card+json" AND displayName = weather`, ['weather']],
    [`publisherId = 'agent.localhost'`, ['letters', 'weather', 'storms']],
    [`publisherId = 'other.example'`, []],
    [`createdAfter > '2020-01-01' AND updatedAfter > 2020-01-01T00:00:00Z`, ['letters', 'weather', 'storms']],
    [`updatedAfter > '2999-01-01'`, []],
  ])('filters by %s (appendix A)', async (filter, expected) => {
    const { status, json, text } = await list({ filter })
    expect(status, text).toBe(200)
    expect([ids(json), json.total]).toEqual([expected, expected.length])
  })

  it.each([
    'type',
    `type = 'x' OR type = 'y'`,
    `type = 'x`,
    `type > 'x'`,
    `nonsense = 'x'`,
    `createdAfter > 'yesterday'`,
    'x'.repeat(2001),
    Array.from({ length: 11 }, () => 'type = x').join(' AND '),
  ])('rejects %s', async (filter) => {
    const { status, json } = await list({ filter })
    expect([status, json.errorCode]).toEqual([400, 'INVALID_ARGUMENT'])
  })
})

it('asks for credentials if strangers may not discover agents', async () => {
  const closed = await startDirectory({ anonymous: 'none' })
  try {
    for (const path of ['/.well-known/ard.json', '/ard/agents']) {
      const { status, json } = await closed.get(path)
      expect([status, json.errorCode], path).toEqual([401, 'UNAUTHENTICATED'])
    }
    expect((await closed.get('/ard/agents', { as: 'tokC' })).status).toBe(200)
  } finally {
    await closed.close()
  }
})
