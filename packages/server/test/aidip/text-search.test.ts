import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { list, register, search } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const legal = aidipAgent({
  id: 'agent-67890',
  name: 'Legal Document Summarizer',
  description: 'Summarizes long legal documents in Chinese.',
  capabilities: ['summarization'],
  supported_languages: ['zh', 'en'],
})
const news = aidipAgent({
  id: 'news',
  name: 'News Digest',
  description: 'Condenses the newspapers of the day for readers of English.',
  capabilities: ['summarization'],
  supported_languages: ['fr'],
})

describe('a text query', () => {
  it('AIDIP-4.3.2-01 in natural language ranks the best match first', async () => {
    for (const document of [fixture('FX-T01'), fixture('FX-T00'), news, legal]) await register(directory, document)
    const query = 'I need an agent that can summarize long legal documents in Chinese.'
    const found = await search(directory, { query, top: 5 })
    expect(found[0]).toBe('agent-67890')
  })

  it('AIDIP-4.3.2-02 returns scores from 0 to 1 in descending order', async () => {
    for (const document of [fixture('FX-T01'), fixture('FX-T00'), news, legal]) await register(directory, document)
    for (const query of ['translate English text', 'summarize documents', 'legal Chinese', 'agent']) {
      const { json } = await directory.post('/agents/search', { body: { query } })
      const scores: number[] = json.map(({ score }: { score: number }) => score)
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
      for (const score of scores) expect(score >= 0 && score <= 1).toBe(true)
    }
  })

  it('AIDIP-4.3.2-02 is needed for scores: filters alone return none', async () => {
    await register(directory, legal)
    expect((await directory.post('/agents/search', { body: { query: 'legal' } })).json[0].score).toBeGreaterThan(0)
    expect((await directory.post('/agents/search', { body: {} })).json[0]).not.toHaveProperty('score')
    expect((await directory.post('/agents/search', { body: { query: ' ' } })).json[0]).not.toHaveProperty('score')
  })

  it('AIDIP-4.3.2-03 is combined with the filters, which still apply', async () => {
    for (const document of [fixture('FX-T01'), fixture('FX-T00'), news, legal]) await register(directory, document)
    const body = { query: 'summarize long legal documents', filters: { capabilities: ['translation'] } }
    const { json } = await directory.post('/agents/search', { body })
    for (const hit of json) expect(hit.capabilities).toContain('translation')
    const both = { query: 'summarize legal documents', filters: { capabilities: ['summarization'], language: 'zh' } }
    expect(await search(directory, both)).toEqual(['agent-67890'])
  })

  it('AIDIP-10-01 accepts the body of the draft’s example flow', async () => {
    const more = Array.from({ length: 4 }, (_, i) => ({ ...legal, id: `legal-${i}` }))
    for (const document of [news, ...more]) await register(directory, document)
    const filters = { capabilities: ['summarization'], supported_language: 'en' }
    const { status, json } = await directory.post('/agents/search', {
      body: { query: 'summarize an English document', filters, top: 3 },
    })
    expect(status).toBe(200)
    expect(json).toHaveLength(3)
    expect(json.map(({ id }: JsonObject) => id)).not.toContain('news')
  })

  it('AIDIP-10-02 returns hits with id, name, description and score; GET returns the rest', async () => {
    await register(directory, legal)
    const [hit] = (await directory.post('/agents/search', { body: { query: 'summarize' } })).json
    expect(hit).toMatchObject({ id: legal.id, name: legal.name, description: legal.description })
    expect(typeof hit.score).toBe('number')
    expect(hit).not.toHaveProperty('inputs')
    expect((await directory.get(`/agents/${hit.id}`)).json.inputs).toEqual({ text: 'string' })
  })

  it('AIDIP-3.1-05 is matched against descriptions', async () => {
    await register(directory, aidipAgent({ id: 'x', description: 'Knows all about xylophones and their makers.' }))
    await register(directory, aidipAgent({ id: 'y' }))
    expect(await search(directory, { query: 'xylophones' })).toEqual(['x'])
    expect(await list(directory, 'q=xylophones')).toEqual(['x'])
  })

  it('AIDIP00-4-12 AIDIP00-5.2-01 is matched against names and tags', async () => {
    const image = { name: 'Retina', description: 'Classifies medical images.', tags: ['ophthalmology'] }
    await register(directory, aidipAgent({ id: 'image', ...image }))
    await register(directory, aidipAgent({ id: 'other', name: 'Clerk', description: 'Files letters.' }))
    expect(await search(directory, { query: 'ophthalmology' })).toEqual(['image'])
    expect(await search(directory, { query: 'retina' })).toEqual(['image'])
    expect((await search(directory, { query: 'image classification of medical images' }))[0]).toBe('image')
  })

  it('does not match private members', async () => {
    await register(directory, aidipAgent({ id: 'x', notes: 'quokka', tags: ['wombat'], private: ['notes', 'tags'] }))
    expect(await search(directory, { query: 'quokka wombat' })).toEqual([])
    expect(await search(directory, { filters: { notes: 'quokka' } })).toEqual([])
    expect(await search(directory, { filters: { tags: ['wombat'] } })).toEqual([])
    expect(await search(directory, { filters: { tags: ['wombat'], notes: 'quokka' } }, { as: 'tokA' })).toEqual(['x'])
  })
})

describe('with text search switched off', () => {
  beforeAll(() => directory.restart({ search: { semantic: false } }))

  it('AIDIP-4.3.2-04 C-52 only the filters apply, and the response has a warning', async () => {
    for (const document of [fixture('FX-T01'), fixture('FX-T00'), news, legal]) await register(directory, document)
    const filters = { capabilities: ['translation'] }
    const answer = await directory.post('/agents/search', { body: { query: 'zzz French', filters } })
    expect(answer.status).toBe(200)
    const found = answer.json.map(({ id }: JsonObject) => id)
    expect([...found].sort()).toEqual((await search(directory, { filters })).sort())
    expect(found[0]).toBe('translator-001')
    expect(answer.headers.get('x-switchboard-warnings')).toMatch(/^".+"$/)
    const object = await directory.post('/v0/agents/search', { body: { query: 'zzz', filters } })
    expect(object.json.count).toBe(2)
    expect(object.json.warnings).toHaveLength(1)
    const { headers } = await directory.post('/agents/search', { body: { filters } })
    expect(headers.get('x-switchboard-warnings')).toBeNull()
  })
})
