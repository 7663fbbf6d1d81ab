import { isObject, type JsonObject, readKeySet, verifyDocument } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'

let clock: TestClock
let directory: TestDirectory

beforeEach(async () => {
  clock = createTestClock()
  directory = await startDirectory({}, clock)
  // Just after its start, a directory may not know all removals by other replicas.
  clock.advance(60)
})
afterEach(() => directory.close())

const register = (id: string, changes: JsonObject = {}) =>
  directory.post('/agents', { as: 'tokA', body: aidipAgent({ id, ...changes }) })

const read = async (query = '', key?: string) => {
  const { status, json, headers } = await directory.get(`/feed${query}`, key === undefined ? {} : { key })
  return { status, headers, ...json, ids: (json?.agents ?? []).map(idOf) }
}
const idOf = ({ record }: { record: JsonObject }) => record.id

describe('the change feed', () => {
  it('starts with a complete list in pages, and continues with what has changed', async () => {
    for (const id of ['a', 'b', 'c']) await register(id)
    const first = await read('?limit=2')
    expect(first).toMatchObject({ ids: ['a', 'b'], full: true, more: true, removed: [], service: directory.url })
    const second = await read(`?limit=2&since=${first.cursor}`)
    expect(second).toMatchObject({ ids: ['c'], full: true, more: false })
    clock.advance(60)
    const quiet = await read(`?since=${second.cursor}`)
    expect(quiet).toMatchObject({ full: false, more: false, removed: [] })
    await directory.put('/agents/b', { as: 'tokA', body: aidipAgent({ id: 'b', description: 'Another text.' }) })
    await directory.delete('/agents/a', { as: 'tokA' })
    await register('d')
    const third = await read(`?since=${quiet.cursor}`)
    expect(third).toMatchObject({ full: false, removed: ['a'], ids: expect.arrayContaining(['b', 'd']) })
    clock.advance(120)
    await register('e')
    const fourth = await read(`?since=${third.cursor}`)
    expect((await read(`?since=${fourth.cursor}`)).removed).toEqual([])
  })

  it('pages through many changes without losing one', async () => {
    const { cursor } = await read()
    clock.advance(60)
    const ids = Array.from({ length: 12 }, (_, i) => `agent-${i}`)
    await Promise.all(ids.map((id) => register(id)))
    const seen: string[] = []
    for (let page = await read(`?limit=5&since=${cursor}`); ; page = await read(`?limit=5&since=${page.cursor}`)) {
      seen.push(...page.ids)
      if (!page.more) break
    }
    expect(seen.toSorted()).toEqual(ids.toSorted())
  })

  it('tells refreshes, with the end of the lifetime', async () => {
    await directory.post('/ad/r?agent=sum&lt=600', { as: 'tokA', body: fixture('FX-SUM') })
    const { cursor, agents } = await read()
    expect(Date.parse(agents[0].record.expires_at) - clock.now()).toBeLessThanOrEqual(600_000)
    clock.advance(300)
    const [{ href }] = (await directory.get('/ad/l?agent=sum')).json.agents
    await directory.post(href, { as: 'tokA' })
    const later = await read(`?since=${cursor}`)
    expect(later.ids).toEqual(['sum'])
    expect(Date.parse(later.agents[0].record.expires_at)).toBeGreaterThan(Date.parse(agents[0].record.expires_at))
  })

  it('answers 304 if nothing has changed', async () => {
    await register('a')
    const { cursor } = await read()
    const quiet = await read(`?since=${cursor}`)
    expect(quiet.cursor).toBe(cursor)
    const etag = quiet.headers.get('etag') ?? ''
    const get = () => directory.get(`/feed?since=${cursor}`, { headers: { 'if-none-match': etag } })
    const again = await get()
    expect(again.status).toBe(304)
    expect(again.headers.get('cache-control')).toBe('no-cache')
    await register('b')
    expect((await get()).status).toBe(200)
  })

  it('starts again after a restart that may have hidden removals, and rejects other cursors', async () => {
    await register('a')
    const { cursor } = await read()
    await directory.restart()
    expect(await read(`?since=${cursor}`)).toMatchObject({ full: true, ids: ['a'] })
    for (const since of ['x', '1', 'e.', 'l.zzzzzzzzzzzzzz', 'e.a.b.c', '%00'])
      expect(await read(`?since=${since}`)).toMatchObject({ status: 400 })
  })

  it('is signed with the keys that the directory publishes', async () => {
    await register('a')
    const { agents } = await read()
    const keys = readKeySet((await directory.get('/.well-known/jwks.json')).json)
    await expect(verifyDocument(agents[0].record, keys)).resolves.toMatchObject({ algorithm: 'EdDSA' })
    const forged = { ...agents[0].record, expires_at: '2100-01-01T00:00:00.000Z' }
    await expect(verifyDocument(forged, keys)).rejects.toMatchObject({ code: 'bad_signature' })
  })

  it('has the same pages whether or not there are agents that the caller may not see', async () => {
    for (const id of ['a', 'b']) await register(id)
    await register('hidden', { visibility: 'private' })
    expect(await read('?limit=2')).toMatchObject({ ids: ['a', 'b'], more: false })
    await register('c')
    const page = await read('?limit=2')
    expect(page).toMatchObject({ ids: ['a', 'b'], more: true })
    expect(await read(`?limit=2&since=${page.cursor}`)).toMatchObject({ ids: ['c'], more: false })
  })

  it('contains only what the caller may see, and tells nobody else that it existed', async () => {
    await register('open', { private: ['publisher'], publisher: 'Secret Ltd' })
    await register('hidden', { visibility: 'private' })
    await register('closing')
    const owner = await directory.makeKey({ subject: 'tokA', scopes: ['discover'] })
    const start = await read()
    expect(start.ids).toEqual(['open', 'closing'])
    expect(JSON.stringify(start)).not.toContain('Secret')
    expect(start.agents[0].record).toMatchObject({ redacted: true })
    const own = await read('', owner)
    expect(own.ids).toEqual(['open', 'hidden', 'closing'])
    expect(isObject(own.agents[0].record.document) && own.agents[0].record.document.publisher).toBe('Secret Ltd')
    clock.advance(60)
    await directory.delete('/agents/hidden', { as: 'tokA' })
    await directory.put('/agents/closing', { as: 'tokA', body: aidipAgent({ id: 'closing', visibility: 'private' }) })
    expect((await read(`?since=${start.cursor}`)).removed).toEqual(['closing'])
    expect(await read(`?since=${own.cursor}`, owner)).toMatchObject({
      removed: ['hidden'],
      ids: expect.arrayContaining(['closing']),
    })
  })
})
