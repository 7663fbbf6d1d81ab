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
    const named = ['tag', 'context', 'example', 'protocol', 'freshness', 'policy'] // PROF §6.2
    expect(Object.keys(found[0].score_components).sort()).toEqual([...named, 'reputation', 'availability'].sort())
    expect(found[0].score_components).toMatchObject({ tag: 1, protocol: 1, freshness: 1, policy: 1 })
    expect((await directory.get('/discover')).json.score_components).toEqual([...named, 'reputation', 'availability'])
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
    expect(found[1].score_components.policy).toBeLessThan(found[0].score_components.policy)
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
