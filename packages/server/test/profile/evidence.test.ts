import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Candidate, rankCandidates } from '../../../search/src/ranking/rank-candidates.js'
import { readQuery } from '../../../search/src/ranking/read-query.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { candidates, discover, profileAgent, publish } from './publish.js'

const TAXONOMY = {
  name: 'work',
  uri: 'urn:tax:work',
  tags: {
    'invoice-processing': { broader: ['finance'], same: ['invoicing'] },
    finance: { synonyms: ['money'] },
  },
}

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({ search: { taxonomies: [TAXONOMY] } })
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

describe('tags of a declared taxonomy', () => {
  beforeEach(async () => {
    await publish(directory, profileAgent({ id: 'invoices', tags: ['Invoice-Processing'] }))
    await publish(directory, profileAgent({ id: 'finance', tags: ['finance'] }))
    await publish(directory, profileAgent({ id: 'money', tags: ['money'] }))
  })

  it('PROF-4.4-04 match a required broader or equivalent tag; synonyms do not', async () => {
    const found = async (tag: string) => (await candidates(directory, { query: 'probe', required_tags: [tag] })).sort()
    expect(await found('finance')).toEqual(['finance', 'invoices'])
    expect(await found('urn:tax:work#finance')).toEqual(['finance', 'invoices'])
    expect(await found('invoicing')).toEqual(['invoices'])
    expect(await found('invoice-processing')).toEqual(['invoices'])
  })

  it('C-51 are excluded along with their narrower tags', async () => {
    expect(await candidates(directory, { query: 'probe', excluded_tags: ['finance'] })).toEqual(['money'])
  })

  it('PROF-4.4-05 are reported separately: the agent’s own tags and those derived from them', async () => {
    const { candidates: found } = await discover(directory, {
      query: 'probe',
      preferred_tags: ['finance'],
      include_evidence: true,
    })
    const byId = Object.fromEntries(found.map((each: { id: string }) => [each.id, each]))
    expect([byId.finance.matched_tags, byId.finance.expanded_tags]).toEqual([['finance'], undefined])
    expect([byId.invoices.matched_tags, byId.invoices.expanded_tags]).toEqual([
      [],
      [{ tag: 'finance', via: 'Invoice-Processing' }],
    ])
    expect(byId.money.expanded_tags).toEqual([{ tag: 'finance', via: 'money' }])
    expect(found[0].id).toBe('finance')
  })

  it('PROF-4.4-01 are recommended to publishers who use other tags', async () => {
    const { headers } = await publish(directory, profileAgent({ id: 'stars', tags: ['money', 'astrology'] }))
    expect(headers.get('x-switchboard-warnings')).toContain(
      '/tags are not in the taxonomies of this directory: astrology',
    )
  })

  it('are listed in the service description', async () => {
    expect((await directory.get('/discover')).json.taxonomies).toEqual(['urn:tax:work'])
  })
})

describe('evidence', () => {
  it('PROF-6.2-01 PROF-6.2-02 has the components of the draft, and documented components of our own', async () => {
    await publish(directory, profileAgent({ id: 'a', tags: ['x'], description: 'Plans trips.' }))
    const { candidates: found } = await discover(directory, {
      query: 'plan a trip',
      preferred_tags: ['x'],
      protocols: ['https'],
      include_evidence: true,
    })
    expect(Object.keys(found[0].score_components).sort()).toEqual(['rank', 'tag', 'words'])
    const documented = (await directory.get('/discover')).json.score_components
    expect(documented).toEqual(expect.arrayContaining(['tag', 'context', 'example', 'freshness', 'policy'])) // PROF §6.2
    expect(documented).toEqual(expect.arrayContaining(['words', 'tag']))
  })

  it('adds up to the score, for any query, and names what each part comes from', async () => {
    const some = [
      profileAgent({ id: 'trips', tags: ['x', 'y'], description: 'Plans trips by train. Books hotels.' }),
      profileAgent({ id: 'copy', tags: ['x'], description: 'Plans trips by train. Books hotels.' }),
      profileAgent({
        id: 'old',
        status: 'deprecated',
        description: 'Plans trips by car.',
        supported_languages: ['de'],
      }),
      profileAgent({ id: 'maps', description: 'Draws maps of cities.', capabilities: [{ name: 'draw_map' }] }),
      profileAgent({ id: 'books', description: 'Reads books in Chinese.', supported_languages: ['zh'], tags: ['y'] }),
    ]
    for (const document of some) await publish(directory, document)
    await directory.patch('/admin/agents/maps', { as: 'admin', body: { unsafe: true } })
    const words = 'plan trip train hotel car map city book Chinese draw read the a in to of for unknownword'.split(' ')
    let seed = 7
    const random = (limit: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % limit
    }
    const seen = new Set<string>()
    const check = async (): Promise<void> => {
      const query = Array.from({ length: 1 + random(5) }, () => words[random(words.length)]).join(' ')
      const preferred_tags = random(2) === 0 ? ['x', 'y'] : []
      const { candidates: found } = await discover(directory, { query, preferred_tags, include_evidence: true })
      for (const { score, score_components, explanation, snippets } of found) {
        const values: number[] = Object.values(score_components)
        const sum = values.reduce((total, value) => total + value, 0)
        expect(sum, query).toBeCloseTo(score, 10)
        expect(explanation.map(({ value }: { value: number }) => value)).toEqual(values)
        expect(snippets.length, query).toBeGreaterThan(0)
        for (const { component, value, text } of explanation) {
          expect([value === 0, text === ''], `${query}: ${component}`).toEqual([false, false])
          seen.add(component)
        }
      }
    }
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 10 }, check))
    expect([...seen]).toEqual(expect.arrayContaining(['duplicate', 'language', 'policy', 'tag', 'words']))
  })

  it('has a text for each component that a person can read', async () => {
    await publish(directory, profileAgent({ id: 'a', status: 'deprecated', description: 'Books hotels. Plans trips.' }))
    const { candidates: found } = await discover(directory, { query: 'plan cheap trips', include_evidence: true })
    const texts = found[0].explanation.map(({ component, text }: JsonObject) => [component, text])
    expect(Object.fromEntries(texts)).toEqual({
      words: 'plan, trips',
      policy: 'status deprecated',
      rank: 'others fit as well, or little matches',
    })
    const { words, policy, rank } = found[0].score_components
    expect([words > 0, policy < 0, rank < 0]).toEqual([true, true, true])
  })

  it('says whether an agent converts in the direction of the request', async () => {
    await publish(directory, profileAgent({ id: 'reader', description: 'Turns speech into text.' }))
    await publish(directory, profileAgent({ id: 'speaker', description: 'Turns text into speech.' }))
    const { candidates: found } = await discover(directory, { query: 'speech to text', include_evidence: true })
    const directions = found.map(({ id, explanation }: { id: string; explanation: JsonObject[] }) => [
      id,
      explanation.find(({ component }) => component === 'direction')?.text,
    ])
    expect(directions).toEqual([
      ['reader', 'converts in the direction of the request'],
      ['speaker', 'converts in the opposite direction'],
    ])
  })

  it('shows what words of other languages mean, and the sentences that say so', async () => {
    await publish(directory, profileAgent({ id: 'a', description: 'Assists. Translates each contract.' }))
    const { candidates: found } = await discover(directory, {
      query: 'einen Vertrag übersetzen',
      include_evidence: true,
    })
    expect(found[0].explanation[0].text).toBe('Vertrag (contract), übersetzen (translate)')
    expect(found[0].snippets).toEqual(['Translates each contract.'])
  })

  it('PROF-8-02 has snippets of operations and examples too, but of nothing private', async () => {
    const document = profileAgent({
      id: 'a',
      description: 'Assists.',
      capabilities: [
        { name: 'forecast', description: 'Predicts the weather by city.' },
        { name: 'museum', description: 'Predicts weather for museums.', private: true },
      ],
      examples: [{ text: 'Weather in Rome tomorrow?' }, { text: 'Weather at account 7', private: true }],
    })
    await publish(directory, document)
    const request = { query: 'weather museum account', include_evidence: true }
    const { text, json } = await directory.post('/discover', { as: 'tokC', body: request })
    expect(json.candidates[0].snippets).toEqual([
      'forecast: Predicts the weather by city.',
      'Weather in Rome tomorrow?',
    ])
    expect(text).not.toMatch(/museums|account 7/)
  })

  it('is the same in AIDIP searches with `explain`', async () => {
    await publish(directory, profileAgent({ id: 'a', description: 'Plans trips.' }))
    const query = 'plan trips'
    const { candidates: found } = await discover(directory, { query, include_evidence: true })
    const { score, explanation, snippets, matched_words } = found[0]
    const same = [{ id: 'a', score, explanation, snippets, matched_words }]
    expect((await directory.post('/agents/search', { body: { query, explain: true } })).json).toMatchObject(same)
    expect((await directory.get('/agents?q=plan+trips&explain=true')).json).toMatchObject(same)
    expect((await directory.post('/v0/agents/search', { body: { query, explain: true } })).json.results).toMatchObject(
      same,
    )
    expect((await directory.post('/agents/search', { body: { query } })).json[0]).not.toHaveProperty('explanation')
    expect((await directory.get('/agents?explain=true')).json[0]).not.toHaveProperty('explanation')
  })

  it('PROF-7.3-03 publishes the weights that the ranking uses', async () => {
    const { ranking } = (await directory.get('/discover')).json
    const query = { ...readQuery('translate into French'), semanticWeight: 1, language: 'en', namedLanguages: ['fr'] }
    const scoreOf = (candidate: Partial<Candidate>): number | undefined => {
      const plain = { number: 0, wordScore: 0, similarities: {}, languages: undefined }
      return rankCandidates(query, 1, [{ ...plain, ...candidate }])[0]?.score
    }
    // Word scores are the unit of the sum, so each weight can be compared with an agent that has this word score.
    const scoreOfWords = (wordScore: number): number => scoreOf({ wordScore }) ?? 0
    expect(scoreOf({ similarities: { model: 1 } })).toBeCloseTo(scoreOfWords(ranking.meaning_weight))
    expect(scoreOf({ similarities: { model: ranking.meaning_floor } })).toBeUndefined()
    expect(scoreOf({ similarities: { model: ranking.meaning_floor + 0.01 } })).toBeGreaterThan(0)
    const withLanguages = (...languages: string[]) => scoreOf({ wordScore: 1, languages })
    expect(withLanguages('fr')).toBeCloseTo(scoreOfWords(1 + ranking.named_language_weight))
    expect(withLanguages('de')).toBeCloseTo(scoreOfWords(ranking.other_language_factor))
    const withDirection = (direction: number) => scoreOf({ wordScore: 1, direction })
    expect(withDirection(1)).toBeCloseTo(scoreOfWords(1 + ranking.direction_weight))
    expect(withDirection(-1)).toBeCloseTo(scoreOfWords(ranking.opposite_direction_factor))
    expect(withLanguages('en')).toBeCloseTo(scoreOfWords(1))
  })

  it('PROF-8-01 shows the matched words and sentences of the description', async () => {
    const description = 'Books hotels everywhere. Plans trips for families. Knows no prices.'
    await publish(directory, profileAgent({ id: 'a', description }))
    const { candidates: found } = await discover(directory, { query: 'planning a family trip', include_evidence: true })
    expect(found[0].snippets).toEqual(['Plans trips for families.'])
    expect(found[0].matched_words).toEqual(expect.arrayContaining(['family', 'trip']))
  })

  it('shows how the status lowers the score, in the policy component', async () => {
    await publish(directory, profileAgent({ id: 'old', status: 'deprecated' }))
    await publish(directory, profileAgent({ id: 'new' }))
    const { candidates: found } = await discover(directory, { query: 'probe', include_evidence: true })
    expect(found.map(({ id }: { id: string }) => id)).toEqual(['new', 'old'])
    expect(found[0].score_components).not.toHaveProperty('policy')
    expect(found[1].score_components.policy).toBeLessThan(0)
  })

  it('PROF-5.1-03 shows that preferred tags raise scores and never lower them', async () => {
    await publish(directory, profileAgent({ id: 'plain', tags: ['y'] }))
    await publish(directory, profileAgent({ id: 'wished', tags: ['x'] }))
    const scores = async (body: { preferred_tags?: string[] }) => {
      const { candidates: found } = await discover(directory, { query: 'made for a test', ...body })
      return Object.fromEntries(found.map(({ id, score }: { id: string; score: number }) => [id, score]))
    }
    const [before, after] = [await scores({}), await scores({ preferred_tags: ['x'] })]
    expect(after.plain).toBe(before.plain)
    expect(after.wished).toBeGreaterThan(before.wished)
  })

  it('PROF-5.1-10 treats domain and locale as hints that exclude no agent', async () => {
    await publish(directory, profileAgent({ id: 'a', description: 'Answers questions.' }))
    await publish(directory, profileAgent({ id: 'b', description: 'Answers legal questions.' }))
    const idsFor = (client_context?: { domain?: string; locale?: string }) =>
      candidates(directory, { query: 'answer questions', ...(client_context && { client_context }) })
    expect(await idsFor()).toEqual(['a', 'b'])
    expect(await idsFor({ domain: 'legal' })).toEqual(['b', 'a'])
    expect((await idsFor({ locale: 'zh-CN' })).sort()).toEqual(['a', 'b'])
  })
})

describe('the ranking', () => {
  it('PROF-7.1-02 PROF-7.1-03 uses only text that the publisher wrote', async () => {
    await publish(directory, profileAgent({ id: 'a', description: 'Plans trips.' }))
    const { candidates: found } = await discover(directory, { query: 'plan trips abroad', include_evidence: true })
    expect(found[0].matched_words).toEqual(['plan', 'trips'])
    expect(await candidates(directory, { query: 'journey' })).toEqual([])
  })

  it('PROF-1-01 can be switched to another engine without changing the shape of the response', async () => {
    await publish(directory, profileAgent({ id: 'a' }))
    const shape = async () => Object.keys((await discover(directory, { query: 'probe' })).candidates[0]).sort()
    const before = await shape()
    await directory.restart({ search: { semantic: false } })
    expect(await shape()).toEqual(before)
    await directory.restart()
  })

  it('PROF-7.2-02 compares the configured number of candidates closely; the others follow by word score', async () => {
    for (let i = 0; i < 5; i++) await publish(directory, profileAgent({ id: `copy-${i}` }))
    const scores = async () => {
      const { json, headers } = await directory.post('/agents/search', { body: { query: 'probe' } })
      expect([json.length, headers.get('x-total-count')]).toEqual([5, '5'])
      return new Set(json.map(({ score }: { score: number }) => score)).size
    }
    // Each near-copy of a better result scores less, but only among the candidates compared closely.
    expect(await scores()).toBe(4)
    await directory.restart({ search: { rerankLimit: 2 } })
    expect(await scores()).toBe(2)
  })
})
