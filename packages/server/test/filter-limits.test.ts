import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_FILTER_VALUES, MAX_FILTERS, MAX_PARAMETERS } from '../src/policy/filter-limits.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
  await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'a', version: '1.0.0', tags: ['t'] }) })
})
afterAll(() => directory.close())

const repeat = (value: string, count: number): string[] => Array.from({ length: count }, () => value)
const members = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, 'v']))

/** A request with a list of values in one filter: the body and the place of the list. */
const LISTS = [
  ['/agents/search', '/filters/version', (list: string[]) => ({ filters: { version: list } })],
  ['/agents/search', '/filters/authentication', (list: string[]) => ({ filters: { authentication: list } })],
  ['/v0/agents/search', '/filters/tags', (list: string[]) => ({ filters: { tags: list } })],
  ['/discover', '/required_tags', (list: string[]) => ({ query: 'q', required_tags: list })],
  ['/discover', '/excluded_tags', (list: string[]) => ({ query: 'q', excluded_tags: list })],
  ['/discover', '/preferred_tags', (list: string[]) => ({ query: 'q', preferred_tags: list })],
  ['/discover', '/protocols', (list: string[]) => ({ query: 'q', protocols: list })],
  ['/discover', '/constraints/region', (list: string[]) => ({ query: 'q', constraints: { region: list } })],
  ['/resolve', '/policy/publishers', (list: string[]) => ({ intent: 'q', policy: { publishers: list } })],
  ['/resolve', '/context/domains', (list: string[]) => ({ intent: 'q', context: { domains: list } })],
] as const

describe('the values of one filter', () => {
  it.each(LISTS)('are limited: %s %s', async (path, member, body) => {
    const { status, json } = await directory.post(path, { body: body(repeat('1.0.0', MAX_FILTER_VALUES + 1)) })
    expect(status).toBe(400)
    expect(json.error.details).toEqual([{ member, message: expect.stringContaining('at most 100 are allowed: send') }])
    expect((await directory.post(path, { body: body(repeat('1.0.0', MAX_FILTER_VALUES)) })).status).toBe(200)
  })

  it('are counted in lists and objects too', async () => {
    const list = Array.from({ length: 40 }, (_, i) => ({ a: i, b: [i] }))
    const { status, json } = await directory.post('/agents/search', { body: { filters: { x: list } } })
    expect(status).toBe(400)
    expect(json.message).toContain('/filters/x has 160 values')
  })

  it('may be repeated and still match', async () => {
    const filters = { version: repeat('1.0.0', MAX_FILTER_VALUES), tags: repeat('T', MAX_FILTER_VALUES) }
    const { json } = await directory.post('/agents/search', { body: { filters } })
    expect(json.map(({ id }: { id: string }) => id)).toEqual(['a'])
  })

  it('are limited in query parameters, repeated or separated by commas', async () => {
    const values = repeat('t', MAX_FILTER_VALUES + 1)
    const { status, json } = await directory.get(`/agents?tags=${values.join(',')}`)
    expect(status).toBe(400)
    expect(json.error.details[0].member).toBe('?tags')
    expect((await directory.get(`/agents?${values.map((tag) => `license=${tag}`).join('&')}`)).status).toBe(400)
    const allowed = repeat('tags=t', MAX_FILTER_VALUES).join('&')
    expect((await directory.get(`/agents?${allowed}`)).json).toHaveLength(1)
  })
})

describe('the filters of one request', () => {
  it.each([
    ['/agents/search', '/filters', { filters: members(MAX_FILTERS + 1) }],
    ['/discover', '/constraints', { query: 'q', constraints: members(MAX_FILTERS + 1) }],
    ['/resolve', '/policy', { intent: 'q', policy: members(MAX_FILTERS + 1) }],
  ])('are limited: %s %s', async (path, place, body) => {
    const { status, json } = await directory.post(path, { body })
    expect(status).toBe(400)
    expect(json.message).toBe(`${place} has 33 filters, and at most 32 are allowed: send fewer, or several requests`)
  })

  it('are limited in all their values together', async () => {
    const filters = { a: repeat('v', 80), b: repeat('v', 80), c: repeat('v', 80) }
    const { status, json } = await directory.post('/agents/search', { body: { filters } })
    expect(status).toBe(400)
    expect(json.message).toContain('/filters has 240 values in its filters, and at most 200 are allowed')
  })

  it('are limited as query parameters', async () => {
    const query = Object.keys(members(MAX_FILTERS + 1)).map((name) => `${name}=v`)
    const { status, json } = await directory.get(`/agents?${query.join('&')}`)
    expect(status).toBe(400)
    expect(json.message).toContain('the query has 33 filters')
  })
})

it.each(['/agents', '/agents/public', '/v0/agents', '/ad/l'])(
  'rejects a query with too many parameters: %s',
  async (path) => {
    const { status, json } = await directory.get(`${path}?${repeat('tag=t', 1100).join('&')}`)
    expect(status).toBe(400)
    expect(json.message).toContain(`the query has 1100 parameters, and at most ${MAX_PARAMETERS} are allowed`)
  },
)
