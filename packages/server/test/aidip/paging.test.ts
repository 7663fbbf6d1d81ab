import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RequestOptions, startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { idsOf, nextOf, registerAll } from './requests.js'

const COUNT = 105
const all = Array.from({ length: COUNT }, (_, i) => `agent-${i}`)
const document = (id: string, changes: JsonObject = {}) =>
  aidipAgent({ id, name: `Name ${(7 * Number(id.slice(6))) % COUNT}`, tags: ['fleet'], ...changes })

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
  await registerAll(
    directory,
    // Two private agents lie between the public ones, so that a wrong count would show.
    all.flatMap((id, i) =>
      i % 50 === 10 ? [document(id), document(`hidden${i}`, { visibility: 'private' })] : [document(id)],
    ),
  )
})
afterAll(() => directory.close())

/** Ids on each page, following `next` to the end. */
async function pages(first: TestResponse, go: (next: string) => Promise<TestResponse>): Promise<string[][]> {
  const seen = [idsOf(first)]
  let answer = first
  for (let next = nextOf(answer) ?? answer.json.next; next !== undefined; next = nextOf(answer) ?? answer.json.next) {
    answer = await go(next)
    expect(answer.status).toBe(200)
    expect(Array.isArray(answer.json)).toBe(Array.isArray(first.json))
    seen.push(idsOf(answer))
  }
  return seen
}

const follow = async (path: string, options?: RequestOptions) =>
  pages(await directory.get(path, options), (next) => directory.get(next, options))

describe('C-47 the page size', () => {
  it('defaults to 10', async () => {
    expect((await directory.get('/agents')).json).toHaveLength(10)
    expect((await directory.post('/agents/search', { body: {} })).json).toHaveLength(10)
    expect((await directory.get('/agents/public')).json.top).toBe(10)
  })

  it('is at most 100, even if more are requested', async () => {
    for (const top of [100, 101, 5000, 123_456_789]) {
      expect((await directory.get(`/agents?top=${top}`)).json).toHaveLength(100)
      expect((await directory.post('/agents/search', { body: { top } })).json).toHaveLength(100)
    }
    const { json } = await directory.post('/v0/agents/search', { body: { top: 1e20 } })
    expect(json.top).toBe(100)
    expect(json.results).toHaveLength(100)
  })

  it.each(['top=0', 'top=-1', 'top=1.5', 'top=ten', 'top=', 'skip=-1', 'skip=x'])(
    'must not be %s: 400',
    async (query) => {
      const { status, json } = await directory.get(`/agents?${query}`)
      expect(status).toBe(400)
      expect(json.error.message).toContain(`?${query.split('=')[0]}`)
    },
  )

  it('is 0 when skip is past the last agent', async () => {
    const { json } = await directory.get(`/agents/public?skip=${COUNT}`)
    expect(json).toMatchObject({ agents: [], count: COUNT, skip: COUNT })
    expect(json).not.toHaveProperty('next')
    expect((await directory.post('/v0/agents/search', { body: { skip: 1e300 } })).json.results).toEqual([])
  })
})

describe('C-47 pages', () => {
  it('of GET /agents list every agent once, in order of registration', async () => {
    const seen = await follow('/agents?top=20')
    expect(seen.map(({ length }) => length)).toEqual([20, 20, 20, 20, 20, 5])
    expect(seen.flat()).toEqual(all)
  })

  it('keep the filters', async () => {
    const seen = await follow('/agents?tags=fleet&id=agent-3&top=1')
    expect(seen).toEqual([['agent-3']])
    expect((await follow('/agents?tag=FLEET&top=50')).flat()).toEqual(all)
  })

  it('of POST /agents/search need the same body again', async () => {
    const body = { filters: { tags: ['fleet'] }, top: 40 }
    const first = await directory.post('/agents/search', { body })
    const seen = await pages(first, (next) => directory.post(next, { body }))
    expect(seen.flat()).toEqual(all)
  })

  it('of a text search list every agent once, even if all have the same score', async () => {
    const body = { query: 'probe', top: 40 }
    const first = await directory.post('/agents/search', { body })
    const seen = await pages(first, (next) => directory.post(next, { body }))
    expect(seen.flat()).toEqual(all)
  })

  it('of revision 00 lists are linked in the body', async () => {
    const seen = await follow('/v0/agents?top=50')
    expect(seen.flat()).toEqual(all)
    const first = await directory.get('/v0/agents?top=50')
    expect(first.json.next).toMatch(/^\/v0\/agents\?/)
    expect(first.headers.get('link')).toBeNull()
    expect((await follow('/agents/public?top=50')).flat()).toEqual(all)
  })

  it('sorted by name stay sorted across pages', async () => {
    const seen = (await follow('/agents?ranked=false&top=30')).flat()
    expect(seen).toHaveLength(COUNT)
    const names = await Promise.all(seen.map(async (id) => (await directory.get(`/agents/${id}`)).json.name))
    expect(names).toEqual([...names].sort())
  })

  it('C-55 are linked relative to the server, below /v1 too', async () => {
    expect(nextOf(await directory.get('/agents?top=20'))).toMatch(/^\/agents\?/)
    expect(nextOf(await directory.get('/v1/agents?top=20'))).toMatch(/^\/v1\/agents\?/)
    expect((await directory.get('/agents?top=100&skip=5&shape=array')).headers.get('link')).toBeNull()
  })
})

describe('C-53 totals', () => {
  it.each([
    ['anon', COUNT],
    ['tokC', COUNT],
    ['admin', COUNT + 2],
  ] as const)('count the agents visible to %s', async (as, count) => {
    expect((await directory.get('/agents?top=1', { as })).headers.get('x-total-count')).toBe(String(count))
    const { headers } = await directory.post('/agents/search', { as, body: { filters: { tags: ['fleet'] } } })
    expect(headers.get('x-total-count')).toBe(String(count))
    expect((await directory.post('/v0/agents/search', { as, body: {} })).json.count).toBe(count)
    expect((await directory.get('/v0/agents', { as })).json.count).toBe(count)
    expect((await follow('/agents?top=50', { as })).flat()).toHaveLength(count)
  })

  it('and pages have no gaps for hidden agents', async () => {
    const page = await directory.get('/agents?top=5&skip=8&shape=array')
    expect(idsOf(page)).toEqual(['agent-8', 'agent-9', 'agent-10', 'agent-11', 'agent-12'])
  })
})
