import { describe, expect, it } from 'vitest'
import { setUp } from '../invoke/setup.js'

// Learning from calls would change scores between the rounds.
const setup = setUp({ search: { learn: false } })

/** Responses to clients that do not use resolution, without members that differ in every response. */
async function traffic(): Promise<unknown[]> {
  const { directory } = setup
  const answers = [
    await directory.post('/agents/search', {
      as: 'tokC',
      body: { query: 'a probe', filters: { capabilities: ['probe'] } },
    }),
    await directory.post('/discover', { as: 'tokC', body: { query: 'a probe', include_evidence: true } }),
    await directory.get('/agents/x', { as: 'tokC' }),
    await setup.call({ text: 'hello' }),
  ]
  return answers.map(({ status, json }) => {
    const { request_id: _id, generated_at: _at, ...rest } = Array.isArray(json) ? { json } : json
    return { status, rest }
  })
}

describe('resolution', () => {
  it('AIDIP-1-03 AIDIP-8-02 AIDIP-8-03 is optional: no other response changes', async () => {
    await setup.register()
    const before = await traffic()
    await setup.directory.restart({ resolution: { enabled: false } })
    expect((await setup.directory.post('/resolve', { as: 'tokC', body: { intent: 'probe' } })).status).toBe(404)
    expect(await traffic()).toEqual(before)
    await setup.directory.restart()
    expect((await setup.directory.post('/resolve', { as: 'tokC', body: { intent: 'probe' } })).status).toBe(200)
    expect(await traffic()).toEqual(before)
  })

  it('AIDIP-7-02 does not change calls: the agent gets the same request with and without it', async () => {
    await setup.register()
    await setup.call({ text: 'hello' })
    const { candidates } = (await setup.directory.post('/resolve', { as: 'tokC', body: { intent: 'probe' } })).json
    expect(setup.agent.calls).toHaveLength(1)
    const { url, method } = candidates[0].invocation
    expect([url, method]).toEqual([`${setup.directory.url}/agents/x/invoke`, 'POST'])
    await setup.call({ text: 'hello' })
    const [plain, resolved] = setup.agent.calls
    expect(resolved?.body).toEqual(plain?.body)
    expect(Object.keys(resolved?.headers ?? {})).toEqual(Object.keys(plain?.headers ?? {}))
  })
})
