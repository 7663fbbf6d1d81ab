import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestCaller, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({ search: { embedder: 'none' } })
})
beforeEach(() => directory.clear())
afterAll(() => directory.close())

const register = async (id: string, members: JsonObject = {}, as: TestCaller = 'tokA'): Promise<void> => {
  const body = aidipAgent({ id, name: id, description: 'Forecasts the weather.', ...members })
  expect((await directory.post('/agents', { as, body })).status).toBe(201)
}

const search = async (as: TestCaller = 'anon', members: JsonObject = {}) => {
  const body = { query: 'weather forecast', explain: true, ...members }
  const { json, headers } = await directory.post('/agents/search', { as, body })
  if (members.top === undefined) expect(headers.get('x-total-count')).toBe(String(json.length))
  return json as (JsonObject & { id: string; score: number })[]
}
const idsFor = async (as?: TestCaller, members?: JsonObject): Promise<string[]> =>
  (await search(as, members)).map(({ id }) => id).toSorted()

/** How many searches were answered from earlier ones while `work` runs. */
async function repeatedIn(work: () => Promise<unknown>): Promise<number> {
  const count = async (): Promise<number> => {
    const { text } = await directory.get('/metrics', { as: 'admin' })
    return Number(/^switchboard_search_repeated_total (\d+)/m.exec(text)?.[1])
  }
  const before = await count()
  await work()
  return (await count()) - before
}

describe('a search that is made again', () => {
  it('has the same results without being made, for everybody who sees the same', async () => {
    await register('one')
    await register('two', { description: 'Weather forecasts for sailors.' })
    const first = await search('anon')
    expect(first).toHaveLength(2)
    expect(await repeatedIn(async () => expect(await search('anon')).toEqual(first))).toBe(1)
    expect(await repeatedIn(async () => expect(await search('tokB')).toEqual(first))).toBe(1)
    expect(await repeatedIn(() => search('anon', { top: 1 }))).toBe(0)
    expect(await repeatedIn(() => search('anon', { filters: { tags: ['x'] } }))).toBe(0)
  })

  it('finds what was registered and changed since, and nothing that was removed', async () => {
    await register('one')
    expect(await idsFor()).toEqual(['one'])
    await register('two')
    expect(await idsFor()).toEqual(['one', 'two'])
    const changed = aidipAgent({ id: 'one', name: 'one', description: 'Brews coffee.' })
    await directory.put('/agents/one', { as: 'tokA', body: changed })
    expect(await idsFor()).toEqual(['two'])
    await directory.delete('/agents/two', { as: 'tokA' })
    expect(await idsFor()).toEqual([])
  })

  it('ranks by score factors as they are now', async () => {
    await register('one')
    await register('two')
    const [first] = await search()
    const marks = { unsafe: true }
    const { status } = await directory.patch(`/admin/agents/${first?.id}`, { as: 'admin', body: marks })
    expect(status).toBe(200)
    expect((await search())[0]?.id).not.toBe(first?.id)
  })

  it('never shows a private agent to others: a grant counts at once, and so does its end', async () => {
    await register('open')
    await register('secret', { visibility: 'private' })
    expect(await idsFor('tokA')).toEqual(['open', 'secret'])
    expect(await idsFor('anon')).toEqual(['open'])
    expect(await idsFor('tokB')).toEqual(['open'])
    const grant = { subject: 'tokB', agent: 'secret', scopes: ['discover'] }
    const { json } = await directory.post('/admin/grants', { as: 'admin', body: grant })
    expect(await idsFor('tokB')).toEqual(['open', 'secret'])
    expect(await idsFor('tokC')).toEqual(['open'])
    await directory.delete(`/admin/grants/${json.id}`, { as: 'admin' })
    expect(await idsFor('tokB')).toEqual(['open'])
  })

  it('shows private members to the owner only, also to those who see the agent', async () => {
    await register('secret', { visibility: 'private', tags: ['quokka'], private: ['tags'] })
    const grant = { subject: 'tokB', agent: 'secret', scopes: ['discover'] }
    await directory.post('/admin/grants', { as: 'admin', body: grant })
    const byTag = { filters: { tags: ['quokka'] } }
    expect(await idsFor('tokA', byTag)).toEqual(['secret'])
    expect(await idsFor('tokB', byTag)).toEqual([])
    expect(await idsFor('tokB')).toEqual(['secret'])
  })
})
