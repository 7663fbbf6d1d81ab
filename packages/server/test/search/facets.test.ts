import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestCaller, type TestDirectory } from '../support/directory.js'

describe('counts of the values that results have', () => {
  let directory: TestDirectory
  beforeAll(async () => {
    directory = await startDirectory()
  })
  afterAll(() => directory.close())
  beforeEach(async () => {
    await directory.clear()
    await publish('a', { tags: ['Legal', 'legal', 'text'], publisher: 'Lingua', supported_languages: ['zh-CN', 'en'] })
    await publish('b', { tags: ['legal'], publisher: 'Lingua', protocols: ['mcp'] })
    await publish('c', { tags: ['text'], publisher: 'Words', description: 'Counts words.', status: 'testing' })
  })

  const publish = async (id: string, more: JsonObject, as: TestCaller = 'tokA'): Promise<void> => {
    const body = {
      id,
      name: id,
      version: '1.0.0',
      description: 'Translates contracts.',
      capabilities: ['serve'],
      endpoint: `https://agents.example/${id}`,
      inputs: { type: 'object' },
      outputs: { type: 'object' },
      ...more,
    }
    expect((await directory.post('/agents', { as, body })).status).toBe(201)
  }
  const search = async (body: JsonObject, as: TestCaller = 'anon') =>
    (await directory.post('/agents/search', { as, body })).json
  const count = async (facet: string, body: JsonObject = {}, as?: TestCaller): Promise<JsonObject> => {
    const { facets } = await search({ facets: [facet], ...body }, as)
    return Object.fromEntries(facets[facet].map((each: { value: string; count: number }) => [each.value, each.count]))
  }

  it('are of all matches, most frequent first, whatever the page and the spelling', async () => {
    const { results, facets } = await search({ facets: ['tags', 'publisher'], top: 1 })
    expect(results).toHaveLength(1)
    expect(facets).toEqual({
      tags: [
        { value: 'Legal', count: 2 },
        { value: 'text', count: 2 },
      ],
      publisher: [
        { value: 'Lingua', count: 2 },
        { value: 'Words', count: 1 },
      ],
    })
  })

  it('are of the agents that the text finds', async () => {
    expect(await count('tags', { query: 'translate contracts' })).toEqual({ Legal: 2, text: 1 })
    expect(await count('status', { query: 'words' })).toEqual({ testing: 1 })
  })

  it('say what another value of a filter would leave, and where one is enough, what it would find instead', async () => {
    expect(await count('tags', { filters: { tags: ['legal'] } })).toEqual({ Legal: 2, text: 1 })
    expect(await count('publisher', { filters: { publisher: ['Words'], tags: ['text'] } })).toEqual({
      Lingua: 1,
      Words: 1,
    })
    expect(await count('publisher', { query: 'contracts', filters: { publisher: ['Words'] } })).toEqual({
      Lingua: 2,
      Words: 0,
    })
  })

  it('are those that the filter finds', async () => {
    await publish('d', { status: 'inactive' })
    const facets = ['tags', 'capabilities', 'protocols', 'supported_languages', 'authentication', 'publisher', 'status']
    const { facets: counts } = await search({ facets })
    expect(Object.keys(counts)).toEqual(facets)
    for (const facet of facets)
      for (const { value, count } of counts[facet])
        expect({ facet, value, count }).toEqual({
          facet,
          value,
          count: (await search({ filters: { [facet]: value }, skip: 0 })).count,
        })
    expect(await count('status')).toEqual({ active: 2, testing: 1, inactive: 1 })
    expect(await count('supported_languages')).toEqual({ en: 3, zh: 3 })
    expect(await count('verification')).toEqual({ 'self-asserted': 3 })
    expect((await search({ filters: { verification: { state: 'self-asserted' } }, skip: 0 })).count).toBe(3)
  })

  it('tell nothing about agents that the caller may not see', async () => {
    const facets = ['tags', 'capabilities', 'publisher', 'status', 'verification', 'supported_languages']
    const read = async (as: TestCaller) => [
      (await search({ facets }, as)).facets,
      (await search({ facets, query: 'contracts secret' }, as)).facets,
      (await search({ facets, filters: { publisher: ['Secret'], status: ['active'] } }, as)).facets,
    ]
    const before = await read('tokB')
    await publish('secret', { visibility: 'private', tags: ['secret', 'legal'], publisher: 'Secret' })
    expect(await read('tokB')).toEqual(before)
    expect(await count('tags', {}, 'tokA')).toMatchObject({ Legal: 3, secret: 1 })
  })

  it('list 20 values, or as many as asked for, and those of the filters', async () => {
    for (let i = 0; i < 25; i++) await publish(`tagged-${i}`, { tags: [`tag-${i}`, 'tagged'] })
    const { facets } = await search({ facets: ['tags'] })
    expect(facets.tags).toHaveLength(20)
    expect((await search({ facets: ['tags'], facet_limit: 3 })).facets.tags).toHaveLength(3)
    expect((await search({ facets: ['tags'], facet_limit: 100 })).facets.tags.length).toBeGreaterThan(25)
    expect((await directory.post('/agents/search', { body: { facets: ['tags'], facet_limit: 101 } })).status).toBe(400)
    expect(await count('publisher', { filters: { publisher: ['Nobody'] } })).toMatchObject({ Nobody: 0 })
  })

  it('C-01 leave arrays as they are, and name what is wrong with a request', async () => {
    const { json, headers } = await directory.post('/agents/search?shape=array', { body: { facets: ['tags'] } })
    expect(json).toHaveLength(3)
    expect(headers.get('x-switchboard-warnings')).toContain('facets are left out of arrays')
    const wrong = await directory.post('/agents/search', { body: { facets: ['colour'] } })
    expect(wrong.status).toBe(400)
    expect(wrong.text).toContain('/facets/0')
    const federated = await directory.post('/agents/search', { body: { facets: ['tags'], federate: true } })
    expect(federated.status).toBe(400)
  })

  it('sorts by name or by newest, with and without text', async () => {
    const idsOf = async (body: JsonObject) =>
      (await search({ skip: 0, ...body })).results.map(({ id }: { id: string }) => id)
    expect(await idsOf({ sort: 'newest' })).toEqual(['c', 'b', 'a'])
    expect(await idsOf({ sort: 'newest', skip: 1, top: 1 })).toEqual(['b'])
    expect(await idsOf({ sort: 'newest', filters: { tags: ['legal'] } })).toEqual(['b', 'a'])
    expect(await idsOf({ sort: 'newest', query: 'contracts words' })).toEqual(['c', 'b', 'a'])
    await publish('0', { visibility: 'private' })
    expect((await search({ skip: 0, sort: 'newest' }, 'tokA')).results[0].id).toBe('0')
    expect(await idsOf({ sort: 'name', query: 'contracts' })).toEqual(['a', 'b'])
    expect((await directory.post('/agents/search', { body: { sort: 'size' } })).status).toBe(400)
  })
})
