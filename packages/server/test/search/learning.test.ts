import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fixed, startAgent, type TestAgent } from '../invoke/agent.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'

const CALLERS = Array.from({ length: 12 }, (_, i) => `caller-${i}`)

describe('searches followed by calls', () => {
  let directory: TestDirectory
  let agent: TestAgent
  let keys: string[]

  beforeAll(async () => {
    agent = await startAgent()
    directory = await startDirectory()
    keys = await Promise.all(
      CALLERS.map((subject) => directory.makeKey({ subject, scopes: ['discover', 'invoke'], expires_in: 3600 })),
    )
    const register = (as: 'tokA' | 'tokB', id: string, description: string) =>
      directory.post('/agents', { as, body: agent.document({ id, name: id, description }) })
    await register('tokA', 'first', 'Translates contracts between languages.')
    await register('tokB', 'second', 'Translates contracts for law offices.')
  })
  afterAll(async () => {
    await directory.close()
    await agent.close()
  })

  const query = 'translate contracts'
  const search = (body = {}) => directory.post('/agents/search', { body: { query, ...body } })
  const discover = (body = {}) => directory.post('/discover', { body: { query, ...body } })
  const idsOf = async () => (await search()).json.map(({ id }: { id: string }) => id)
  /** Restarts the directory and waits until the agents are found: their words are indexed in the background. */
  const restart = async (config?: Parameters<TestDirectory['restart']>[0]): Promise<void> => {
    await directory.restart(config)
    await vi.waitFor(async () => expect(await idsOf()).toHaveLength(2), { timeout: 30_000, interval: 50 })
  }
  const call = (key: string, searchId: string) =>
    directory.post('/agents/second/invoke', { key, body: { text: 'x' }, headers: { 'x-search-id': searchId } })

  it('have an id in every shape of the response, the same for every caller', async () => {
    const id = (await search()).headers.get('x-search-id')
    expect(id).toMatch(/^[\w-]{60,150}$/)
    expect((await directory.post('/agents/search', { as: 'tokC', body: { query } })).headers.get('x-search-id')).toBe(
      id,
    )
    expect((await discover()).json.search_id).toBe(id)
    expect((await search({ skip: 0 })).headers.get('x-search-id')).toBe(id)
    expect((await directory.get(`/agents?q=${encodeURIComponent(query)}`)).headers.get('x-search-id')).toBe(id)
    expect((await directory.post('/resolve', { body: { intent: query } })).json.search_id).toBe(id)
    expect((await search({ ranked: false })).headers.get('x-search-id')).toBeNull()
    expect((await directory.get('/agents')).headers.get('x-search-id')).toBeNull()
  })

  it('raise the agent that callers choose, shown in the evidence, and keep nothing about the callers', async () => {
    expect(await idsOf()).toEqual(['first', 'second'])
    const id = (await discover()).json.search_id
    for (const key of keys) expect((await call(key, id)).status).toBe(200)
    expect(agent.calls.some(({ headers }) => 'x-search-id' in headers)).toBe(false)
    await restart()
    expect(await idsOf()).toEqual(['second', 'first'])
    const [raised, lowered] = (await discover({ include_evidence: true })).json.candidates
    /** Of what the agent scores on its own, before it is compared with others. */
    const shareOfChoice = ({ score, score_components: { choice, rank = 0 } }: typeof raised): number =>
      choice / (score - rank)
    expect(shareOfChoice(raised)).toBeGreaterThan(0.01)
    expect(shareOfChoice(raised)).toBeLessThanOrEqual(0.05)
    expect(shareOfChoice(lowered)).toBeLessThan(0)
    expect(shareOfChoice(lowered)).toBeGreaterThanOrEqual(-0.031)
    expect(raised.explanation).toContainEqual(
      expect.objectContaining({ text: 'often chosen after searches with these words' }),
    )
  })

  it('AURI-10.1-01 are not about subjects: erasing one changes nothing, and an export has nothing of it', async () => {
    const subject = `/admin/subjects/${CALLERS[0]}`
    const exported = await directory.get(`${subject}/export`, { as: 'admin' })
    expect(exported.text).not.toContain('choice')
    await directory.delete(subject, { as: 'admin' })
    await restart()
    expect(await idsOf()).toEqual(['second', 'first'])
  })

  it('are not learned from if the operator has switched it off', async () => {
    await restart({ search: { learn: false } })
    expect(await idsOf()).toEqual(['first', 'second'])
    expect((await search()).headers.get('x-search-id')).toBeNull()
    expect((await call(keys[1] ?? '', 'anything')).status).toBe(200)
    await restart()
  })

  it('count feedback too, and never fail because of the id', async () => {
    agent.reply = fixed({ error: { code: 'Broken', message: 'no' } }, 500)
    expect((await call(keys[1] ?? '', 'not an id')).status).toBe(500)
    const rate = (key: string, rating: number, searchId: string) =>
      directory.post('/agents/first/feedback', { key, body: { rating }, headers: { 'x-search-id': searchId } })
    const choice = async (): Promise<number | undefined> =>
      (await discover({ query: 'languages', include_evidence: true })).json.candidates[0].score_components.choice
    expect(await choice()).toBeUndefined()
    const id = (await discover({ query: 'languages' })).json.search_id
    for (const key of keys.slice(1)) expect((await rate(key, 5, id)).status).toBe(201)
    await restart()
    expect(await choice()).toBeGreaterThan(0)
    expect((await rate(keys[2] ?? '', 1, 'x'.repeat(5000))).status).toBe(201)
  })
})
