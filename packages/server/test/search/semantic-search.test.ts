import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { register, search } from '../aidip/requests.js'
import { discover, profileAgent, publish } from '../profile/publish.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { settle } from './settle.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({ search: { embedder: 'builtin' } })
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const TOPICS = [
  { id: 'law', name: 'Lex', description: 'Summarises long contracts and court rulings.' },
  { id: 'pictures', name: 'PixelSort', description: 'Labels pictures by what they show.' },
  { id: 'weather', name: 'Nimbus', description: 'Tells how warm it will be tomorrow and whether it rains.' },
  { id: 'money', name: 'Ledger', description: 'Reads bills and enters them into the books.' },
]

const registerTopics = async (): Promise<void> => {
  for (const topic of TOPICS) await register(directory, aidipAgent(topic))
  await settle(directory)
}

describe('semantic search', () => {
  it('AIDIP-4.3.2-01 finds agents that share no word with the query, from the first start', async () => {
    await registerTopics()
    const first = async (query: string) => (await search(directory, { query }))[0]
    expect(await first('legal agreements condensed')).toBe('law')
    expect(await first('recognise a kitten in a photograph')).toBe('pictures')
    expect(await first('temperature forecast')).toBe('weather')
    expect(await first('bookkeeping of invoices')).toBe('money')
  })

  it('AIDIP00-5.3-03 returns scores from 0 to 1 for any query', async () => {
    await registerTopics()
    const strange = [
      '',
      ' ',
      '?',
      'a',
      '。',
      '🦄'.repeat(50),
      'x'.repeat(5000),
      'null',
      '{"query":1}',
      'court '.repeat(800),
    ]
    for (const query of [...strange, ...TOPICS.map(({ description }) => description)]) {
      const { status, json } = await directory.post('/v0/agents/search', { body: { query } })
      expect(status).toBe(200)
      for (const { score } of json.results) if (score !== undefined) expect(score >= 0 && score <= 1).toBe(true)
    }
  })

  it('AIDIP00-5.3-05 sorts by descending score in every draft’s response', async () => {
    await registerTopics()
    const { json } = await directory.post('/agents/search', { body: { query: 'sum up documents and bills' } })
    const { candidates } = await discover(directory, { query: 'sum up documents and bills' })
    for (const list of [json, candidates]) {
      const scores = list.map(({ score }: { score: number }) => score)
      expect(scores.length).toBeGreaterThan(1)
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
    }
  })

  it('AIDIP00-5.4-04 ranks agents that support the language named in the query higher', async () => {
    const translator = { description: 'Translates product descriptions.', capabilities: ['translation'] }
    await register(
      directory,
      aidipAgent({ id: 'french', name: 'Translator A', ...translator, supported_languages: ['en', 'fr'] }),
    )
    await register(
      directory,
      aidipAgent({ id: 'chinese', name: 'Translator B', ...translator, supported_languages: ['en', 'zh'] }),
    )
    await settle(directory)
    const found = async (language: string) =>
      (await search(directory, { query: `translate product descriptions to ${language}` }))[0]
    expect(await found('Chinese')).toBe('chinese')
    expect(await found('French')).toBe('french')
  })

  it('AIDIP00-5.3-01 ranks an agent with the tag above one that only mentions the word at the end', async () => {
    const filler = 'Answers letters, sorts mail, plans meetings, books rooms and keeps the calendar; also does some'
    await register(
      directory,
      aidipAgent({ id: 'mentions', name: 'Office helper', description: `${filler} translation.` }),
    )
    await register(
      directory,
      aidipAgent({ id: 'tagged', name: 'Office aide', description: `${filler} typing.`, tags: ['translation'] }),
    )
    await settle(directory)
    expect((await search(directory, { query: 'translation' }))[0]).toBe('tagged')
  })

  it('PROF-7.1-01 finds an agent by one of its examples alone', async () => {
    await registerTopics()
    await publish(
      directory,
      profileAgent({
        id: 'dm',
        name: 'Agent Nine',
        description: 'Assists.',
        examples: [{ id: 'e1', text: 'Who owes me for the shared taxi?' }],
      }),
    )
    await settle(directory)
    const { candidates } = await discover(directory, {
      query: 'Who owes me for the shared taxi?',
      include_evidence: true,
    })
    expect(candidates[0]).toMatchObject({
      id: 'dm',
      matched_examples: [{ id: 'e1', text: 'Who owes me for the shared taxi?' }],
    })
    expect(candidates[0].score_components.example).toBeGreaterThan(0.1)
    expect(candidates[0].explanation).toContainEqual({
      component: 'example',
      value: candidates[0].score_components.example,
      text: 'Who owes me for the shared taxi?',
    })
  })

  it('PROF-7.3-01 PROF-7.3-02 matches examples one by one, and names the best match', async () => {
    await registerTopics()
    const things = [
      'boil an egg',
      'tune a guitar',
      'mend a bicycle',
      'prune roses',
      'fold a shirt',
      'sharpen a knife',
      'descale a kettle',
      'wax a surfboard',
      'train a puppy',
      'plant tomatoes',
    ]
    const examples = things.map((thing, i) => ({ id: `e${i}`, text: `How do I ${thing}?` }))
    await publish(
      directory,
      profileAgent({ id: 'handy', name: 'Handy', description: 'Knows all sorts of things.', examples }),
    )
    await settle(directory)
    const { candidates } = await discover(directory, { query: 'How do I repair my bike?', include_evidence: true })
    expect(candidates[0].id).toBe('handy')
    expect(candidates[0].matched_examples[0]).toMatchObject({ id: 'e2', text: 'How do I mend a bicycle?' })
    const scores = candidates[0].matched_examples.map(({ score }: { score: number }) => score)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
  })

  it('PROF-7.4-02 does not search private examples', async () => {
    await registerTopics()
    const body = profileAgent({
      id: 'secretive',
      name: 'Quiet',
      description: 'Assists.',
      examples: [{ text: 'Launch the submarine', private: true }],
    })
    await publish(directory, body, 'tokA')
    await settle(directory)
    const candidatesFor = async (as: 'anon' | 'tokA') => {
      const { json } = await directory.post('/discover', {
        as,
        body: { query: 'Launch the submarine', include_evidence: true },
      })
      return JSON.stringify(json.candidates)
    }
    expect(await candidatesFor('anon')).not.toContain('submarine')
    expect(await candidatesFor('tokA')).not.toContain('matched_examples":[{')
  })

  it('drops the old embeddings when an agent changes', async () => {
    await registerTopics()
    const body = aidipAgent({ ...TOPICS[0], description: 'Plays chess against people.' })
    expect((await directory.put('/agents/law', { as: 'tokA', body })).status).toBe(200)
    await settle(directory)
    expect((await search(directory, { query: 'a game of strategy with kings and pawns' }))[0]).toBe('law')
    expect((await search(directory, { query: 'legal agreements condensed' }))[0]).not.toBe('law')
  })

  it('stores embeddings, so that a restart does not have to create them again', async () => {
    await registerTopics()
    const before = await directory.post('/agents/search', { body: { query: 'temperature forecast' } })
    await directory.restart()
    await settle(directory)
    const after = await directory.post('/agents/search', { body: { query: 'temperature forecast' } })
    expect(after.json).toEqual(before.json)
  })
})
