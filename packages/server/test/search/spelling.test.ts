import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { idsOf, register } from '../aidip/requests.js'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(async () => {
  await directory.clear()
  await register(
    directory,
    aidipAgent({ id: 'law', name: 'Lex', description: 'Translates contracts.', capabilities: ['translate'] }),
  )
})

const CORRECTED = [{ from: 'tranlsate', to: 'translate' }]
const find = (path: string, body: JsonObject): Promise<TestResponse> => directory.post(path, { body })

describe('a query with a typo', () => {
  it('is corrected, and the response of each interface says so', async () => {
    const array = await find('/agents/search', { query: 'tranlsate a conrtact' })
    expect(idsOf(array)).toEqual(['law'])
    expect(array.headers.get('x-switchboard-corrected')).toBe('tranlsate=translate&conrtact=contracts')
    const object = await find('/v0/agents/search', { query: 'tranlsate' })
    expect(object.json).toMatchObject({ results: [{ id: 'law' }], query: 'tranlsate', corrected: CORRECTED })
    const listed = await directory.get('/v0/agents?q=tranlsate')
    expect(listed.json).toMatchObject({ agents: [{ id: 'law' }], corrected: CORRECTED })
    const resolved = await find('/resolve', { intent: 'tranlsate' })
    expect(resolved.json).toMatchObject({ candidates: [{ id: 'law' }], corrected: CORRECTED })
    const discovered = await find('/discover', { query: 'tranlsate', include_evidence: true })
    expect(discovered.json).toMatchObject({
      candidates: [{ id: 'law', matched_words: ['translate'], corrected_words: CORRECTED }],
      corrected: CORRECTED,
    })
  })

  it.each([
    ['/v0/agents/search', { query: 'tranlsate', exact: true }],
    ['/v0/agents/search', { query: '"tranlsate"' }],
    ['/discover', { query: 'tranlsate', exact: true }],
    ['/discover', { query: '“tranlsate”' }],
    ['/resolve', { intent: 'tranlsate', exact: true }],
    ['/resolve', { intent: "'tranlsate'" }],
  ])('is searched as it is if it is quoted or to be exact: %s %j', async (path, body) => {
    const { json } = await find(path, body)
    expect(json.corrected).toBeUndefined()
    expect(json.results ?? json.candidates).toEqual([])
  })

  it('is searched as it is with ?exact=true', async () => {
    const { json } = await directory.get('/v0/agents?q=tranlsate&exact=true')
    expect(json).toMatchObject({ agents: [], count: 0 })
    expect(json.corrected).toBeUndefined()
  })

  it('AIDIP00-5.4-05 is not corrected towards what the caller may not see', async () => {
    const hidden = aidipAgent({
      id: 'secret',
      name: 'Zorblaxer',
      description: 'Zorblaxes fluxions.',
      visibility: 'private',
    })
    await register(directory, hidden, 'tokA')
    const search = async (query: string, as: 'tokA' | 'tokB') =>
      (await directory.post('/v0/agents/search', { as, body: { query } })).json
    const stranger = await search('fluxoins translate', 'tokB')
    expect(stranger).toMatchObject({ count: 1 })
    expect([stranger.corrected, stranger.suggestions]).toEqual([undefined, undefined])
    // The owner's own words are known words.
    await register(directory, aidipAgent({ id: 'flux', name: 'Fluxioms', description: 'Fluxioms only.' }))
    expect((await search('fluxions', 'tokB')).corrected).toEqual([{ from: 'fluxions', to: 'fluxioms' }])
    const own = await search('fluxions', 'tokA')
    expect(own).toMatchObject({ results: [{ id: 'secret' }] })
    expect(own.corrected).toBeUndefined()
  })
})

describe('a query without a known word', () => {
  it('finds nothing and gets similar words', async () => {
    const { json } = await find('/discover', { query: 'lrx' })
    expect(json).toMatchObject({ candidates: [], suggestions: ['lex'] })
    const array = await find('/agents/search', { query: 'zzqqxx' })
    expect(array.json).toEqual([])
    expect(array.headers.get('x-switchboard-suggestions')).toBeNull()
  })

  it('costs little, however many words it has', async () => {
    const query = Array.from({ length: 1200 }, (_, i) => `qzx${(i * 7919).toString(36)}wk`).join(' ')
    const started = performance.now()
    expect((await find('/discover', { query })).json.candidates).toEqual([])
    expect(performance.now() - started).toBeLessThan(5000)
  })
})
