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

  it('PROF-4.4-04 satisfy a demand for a broader one, and for one that means the same; synonyms do not', async () => {
    const found = async (tag: string) => (await candidates(directory, { query: 'probe', required_tags: [tag] })).sort()
    expect(await found('finance')).toEqual(['finance', 'invoices'])
    expect(await found('urn:tax:work#finance')).toEqual(['finance', 'invoices'])
    expect(await found('invoicing')).toEqual(['invoices'])
    expect(await found('invoice-processing')).toEqual(['invoices'])
  })

  it('C-51 exclude what is narrower too', async () => {
    expect(await candidates(directory, { query: 'probe', excluded_tags: ['finance'] })).toEqual(['money'])
  })

  it('PROF-4.4-05 are told apart: what the agent has, and what follows from it', async () => {
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

  it('PROF-4.4-01 are recommended to publishers of other tags', async () => {
    const { headers } = await publish(directory, profileAgent({ id: 'stars', tags: ['money', 'astrology'] }))
    expect(headers.get('x-switchboard-warnings')).toContain(
      '/tags are not in the taxonomies of this directory: astrology',
    )
  })

  it('are named in the service description', async () => {
    expect((await directory.get('/discover')).json.taxonomies).toEqual(['urn:tax:work'])
  })
})

describe('evidence', () => {
  it('PROF-6.2-01 PROF-6.2-02 has the components that the draft names, and one of our own that is documented', async () => {
    await publish(directory, profileAgent({ id: 'a', tags: ['x'], description: 'Plans trips.' }))
    const { candidates: found } = await discover(directory, {
      query: 'plan a trip',
      preferred_tags: ['x'],
      protocols: ['https'],
      include_evidence: true,
    })
    const named = ['tag', 'context', 'example', 'protocol', 'freshness', 'policy'] // PROF §6.2
    expect(Object.keys(found[0].score_components).sort()).toEqual([...named, 'reputation'].sort())
    expect(found[0].score_components).toMatchObject({ tag: 1, protocol: 1, freshness: 1, policy: 1 })
    expect((await directory.get('/discover')).json.score_components).toEqual([...named, 'reputation'])
  })

  it('PROF-7.3-03 publishes the weights that the ranking uses', async () => {
    const { ranking } = (await directory.get('/discover')).json
    const query = { ...readQuery('translate into French'), semanticWeight: 1, language: 'en', namedLanguages: ['fr'] }
    const scoreOf = (candidate: Partial<Candidate>): number | undefined => {
      const plain = { number: 0, wordScore: 0, similarity: undefined, languages: undefined }
      return rankCandidates(query, 1, [{ ...plain, ...candidate }])[0]?.score
    }
    // Word scores are the unit of the sum, so that each weight can be read off an agent that has the same in words.
    const scoreOfWords = (wordScore: number): number => scoreOf({ wordScore }) ?? 0
    expect(scoreOf({ similarity: 1 })).toBeCloseTo(scoreOfWords(ranking.meaning_weight))
    expect(scoreOf({ similarity: ranking.meaning_floor })).toBeUndefined()
    expect(scoreOf({ similarity: ranking.meaning_floor + 0.01 })).toBeGreaterThan(0)
    const spoken = (...languages: string[]) => scoreOf({ wordScore: 1, languages })
    expect(spoken('fr')).toBeCloseTo(scoreOfWords(1 + ranking.named_language_weight))
    expect(spoken('de')).toBeCloseTo(scoreOfWords(ranking.other_language_factor))
    expect(spoken('en')).toBeCloseTo(scoreOfWords(1))
  })

  it('PROF-8-01 shows the words and the sentences of the description that answered', async () => {
    const description = 'Books hotels everywhere. Plans trips for families. Knows no prices.'
    await publish(directory, profileAgent({ id: 'a', description }))
    const { candidates: found } = await discover(directory, { query: 'planning a family trip', include_evidence: true })
    expect(found[0].snippets).toEqual(['Plans trips for families.'])
    expect(found[0].matched_words).toEqual(expect.arrayContaining(['family', 'trip']))
  })

  it('tells how status lowers a score, by the component that does it', async () => {
    await publish(directory, profileAgent({ id: 'old', status: 'deprecated' }))
    await publish(directory, profileAgent({ id: 'new' }))
    const { candidates: found } = await discover(directory, { query: 'probe', include_evidence: true })
    expect(found.map(({ id }: { id: string }) => id)).toEqual(['new', 'old'])
    expect(found[1].score_components.policy).toBeLessThan(found[0].score_components.policy)
  })

  it('PROF-5.1-03 raises agents with preferred tags and lowers no other', async () => {
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

  it('PROF-5.1-10 takes domain and locale for hints, which exclude nobody', async () => {
    await publish(directory, profileAgent({ id: 'a', description: 'Answers questions.' }))
    await publish(directory, profileAgent({ id: 'b', description: 'Answers legal questions.' }))
    const ask = (client_context?: { domain?: string; locale?: string }) =>
      candidates(directory, { query: 'answer questions', ...(client_context && { client_context }) })
    expect(await ask()).toEqual(['a', 'b'])
    expect(await ask({ domain: 'legal' })).toEqual(['b', 'a'])
    expect((await ask({ locale: 'zh-CN' })).sort()).toEqual(['a', 'b'])
  })
})

describe('the ranking', () => {
  it('PROF-7.1-02 PROF-7.1-03 uses no text that the publisher did not write: what is found is in the record', async () => {
    await publish(directory, profileAgent({ id: 'a', description: 'Plans trips.' }))
    const { candidates: found } = await discover(directory, { query: 'plan trips abroad', include_evidence: true })
    expect(found[0].matched_words).toEqual(['plan', 'trips'])
    expect(await candidates(directory, { query: 'journey' })).toEqual([])
  })

  it('PROF-1-01 can be another engine: the shape of the answer stays', async () => {
    await publish(directory, profileAgent({ id: 'a' }))
    const shape = async () => Object.keys((await discover(directory, { query: 'probe' })).candidates[0]).sort()
    const before = await shape()
    await directory.restart({ search: { semantic: false } })
    expect(await shape()).toEqual(before)
    await directory.restart()
  })

  it('PROF-7.2-02 compares as many candidates closely as the operator says; the others follow in order of their words', async () => {
    for (let i = 0; i < 5; i++) await publish(directory, profileAgent({ id: `copy-${i}` }))
    const scores = async () => {
      const { json, headers } = await directory.post('/agents/search', { body: { query: 'probe' } })
      expect([json.length, headers.get('x-total-count')]).toEqual([5, '5'])
      return new Set(json.map(({ score }: { score: number }) => score)).size
    }
    // Each copy of a better result counts less, as far as copies are looked for.
    expect(await scores()).toBe(4)
    await directory.restart({ search: { rerankLimit: 2 } })
    expect(await scores()).toBe(2)
  })
})
