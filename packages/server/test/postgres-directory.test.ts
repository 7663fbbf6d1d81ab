import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_POSTGRES, testDatabase } from './postgres.js'
import { createTestClock, type TestClock } from './support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'
import { startPublisherHost } from './trust/publisher-host.js'

const database = await testDatabase()

/** How quickly one server must see the changes of another. */
const SOON = { timeout: 1000, interval: 20 }

describe.skipIf(!database)(database ? 'two servers on one PostgreSQL database' : `two servers, ${NO_POSTGRES}`, () => {
  let clock: TestClock
  let one: TestDirectory
  let two: TestDirectory
  beforeAll(async () => {
    clock = createTestClock()
    const start = () => startDirectory({ database: database?.url ?? '' }, clock)
    one = await start()
    two = await start()
  })
  beforeEach(async () => {
    await one.clear()
    await expect.poll(() => statuses('/agents', two), SOON).toEqual([200])
    await expect.poll(async () => (await two.get('/ad/l', { as: 'admin' })).json.agents, SOON).toEqual([])
  })
  afterAll(async () => {
    await Promise.all([one.close(), two.close()])
    await database?.drop()
  })

  const statuses = (path: string, ...servers: TestDirectory[]): Promise<number[]> =>
    Promise.all(servers.map(async (server) => (await server.get(path)).status))

  it('can register, read, update, look up and remove through every format', async () => {
    const agent = aidipAgent({ id: 'a', tags: ['x'] })
    expect((await one.post('/agents', { as: 'tokA', body: agent })).status).toBe(201)
    expect((await one.get('/agents/a')).json).toMatchObject(agent)
    expect((await one.put('/agents/a', { as: 'tokA', body: aidipAgent({ version: '2' }) })).json.version).toBe('2')
    const registered = await one.post('/ad/r?agent=b', { as: 'tokA', body: fixture('FX-CDN') })
    expect(registered.status).toBe(201)
    const href = registered.headers.get('location') ?? ''
    expect((await one.post(href, { as: 'tokA', body: { description: 'new' } })).status).toBe(204)
    expect((await one.get(href)).json).toMatchObject({ agent: 'b', description: 'new', lt: 86_400 })
    expect((await one.post('/discover/agents', { as: 'tokA', body: fixture('FX-HR', { id: 'c' }) })).status).toBe(201)
    const listed = (await one.get('/ad/l')).json.agents.map((entry: { agent: string }) => entry.agent)
    expect(listed).toEqual(['a', 'b', 'c'])
    expect((await one.post('/agents/search', { body: { query: 'probe' } })).json[0].id).toBe('a')
    for (const path of ['/agents/a', href, '/agents/c'])
      expect((await one.delete(path, { as: 'tokA' })).status).toBe(204)
    expect(await statuses('/agents/a', one)).toEqual([404])
  })

  it('share proofs of domains and offers of agents, and a transfer drops the proof on both', async () => {
    const host = await startPublisherHost()
    try {
      const id = `${host.url}/agent`
      const path = `/agents/${encodeURIComponent(id)}`
      const domainOn = async (server: TestDirectory): Promise<unknown> =>
        (await server.get(path)).json.verification?.domain?.state
      await one.post('/agents', { as: 'tokA', body: aidipAgent({ id }) })
      await expect.poll(() => statuses(path, two), SOON).toEqual([200])
      const claim = () => one.post('/domains', { as: 'tokA', body: { domain: host.authority } })
      const { url, content } = (await claim()).json.publish.http
      host.pages[new URL(url).pathname] = content
      clock.advance(4)
      expect((await claim()).json.state).toBe('proven')
      await expect.poll(() => domainOn(two), SOON).toBe('proven')
      await one.post('/transfers', { as: 'tokA', body: { agent: id, to: 'tokB' } })
      const accepted = await two.post(`/transfers/${encodeURIComponent(id)}/accept`, { as: 'tokB' })
      expect(accepted.json).toEqual({ agent: id, owner: 'tokB' })
      for (const server of [one, two]) await expect.poll(() => domainOn(server), SOON).toBeUndefined()
    } finally {
      await host.close()
    }
  })

  it('share the limits that an operator sets', async () => {
    const key = await one.makeKey({ subject: 'limited', scopes: ['publish'] })
    const maxAgents = async (server: TestDirectory): Promise<unknown> => {
      const { json } = await server.get('/limits', { key })
      return json.limits?.find(({ name }: { name: string }) => name === 'agents')?.limit
    }
    await one.post('/admin/limits', { as: 'admin', body: { subject: 'limited', limits: { agents: 0 } } })
    await expect.poll(() => maxAgents(two), SOON).toBe(0)
    const body = aidipAgent({ id: 'limited' })
    expect((await two.post('/agents', { key, body })).status).toBe(403)
    await two.delete('/admin/limits/subject:limited', { as: 'admin' })
    await expect.poll(() => maxAgents(one), SOON).toBeGreaterThan(0)
    expect((await one.post('/agents', { key, body })).status).toBe(201)
  })

  it('a change on one server is visible on the other within a second', async () => {
    const body = aidipAgent({ id: 'shared', description: 'Zebracrossing' })
    await one.post('/agents', { as: 'tokA', body })
    await expect.poll(() => statuses('/agents/shared', two), SOON).toEqual([200])
    expect((await two.post('/agents/search', { body: { query: 'zebracrossing' } })).json).toHaveLength(1)
    expect((await two.get('/agents/shared')).text.replace(two.url, '')).toBe(
      (await one.get('/agents/shared')).text.replace(one.url, ''),
    )
    expect((await two.get('/ad/l')).text).toBe((await one.get('/ad/l')).text)

    await two.put('/agents/shared', { as: 'tokA', body: aidipAgent({ version: '2' }) })
    await expect.poll(async () => (await one.get('/agents/shared')).json.version, SOON).toBe('2')
    expect((await one.post('/agents/search', { body: { query: 'zebracrossing' } })).json).toEqual([])

    await one.patch('/admin/agents/shared', { as: 'admin', body: { status: 'suspended' } })
    await expect.poll(async () => (await two.get('/ad/l')).json.agents, SOON).toEqual([])

    await one.delete('/agents/shared', { as: 'tokA' })
    await expect.poll(() => statuses('/agents/shared', two), SOON).toEqual([404])
  })

  it('a key revoked on one server is rejected by the other within a second', async () => {
    const { json } = await one.post('/admin/keys', { as: 'admin', body: { subject: 'x', scopes: ['discover'] } })
    await expect.poll(async () => (await two.get('/agents', { key: json.key })).status, SOON).toBe(200)
    await one.delete(`/admin/keys/${json.id}`, { as: 'admin' })
    await expect.poll(async () => (await two.get('/agents', { key: json.key })).status, SOON).toBe(401)
  })

  it('a grant created or deleted on one server takes effect on the other within a second', async () => {
    await one.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'private', visibility: 'private' }) })
    const body = { subject: 'tokC', agent: 'private', scopes: ['discover'] }
    const { json } = await one.post('/admin/grants', { as: 'admin', body })
    await expect.poll(async () => (await two.get('/agents/private', { as: 'tokC' })).status, SOON).toBe(200)
    await one.delete(`/admin/grants/${json.id}`, { as: 'admin' })
    await expect.poll(async () => (await two.get('/agents/private', { as: 'tokC' })).status, SOON).toBe(404)
  })

  it('a request with Min-Revision sees what the other server has acknowledged, at once', async () => {
    const revisionOf = ({ headers }: TestResponse): Record<string, string> => ({
      'min-revision': headers.get('x-directory-revision') ?? '',
    })
    for (let round = 0; round < 10; round++) {
      const path = `/agents/seen-${round}`
      const written = await one.post('/agents', { as: 'tokA', body: aidipAgent({ id: `seen-${round}` }) })
      expect((await two.get(path, { headers: revisionOf(written) })).status).toBe(200)
      const removed = await two.delete(path, { as: 'tokA' })
      expect((await one.get(path, { headers: revisionOf(removed) })).status).toBe(404)
    }
    const created = await one.post('/admin/keys', { as: 'admin', body: { subject: 'new', scopes: ['discover'] } })
    const { key } = created.json
    expect((await two.get('/limits', { key, headers: revisionOf(created) })).status).toBe(200)
    const revoked = await one.delete(`/admin/keys/${created.json.id}`, { as: 'admin' })
    expect((await two.get('/limits', { key, headers: revisionOf(revoked) })).status).toBe(401)
    const unknown = await one.get('/agents', { headers: { 'min-revision': '7' } })
    expectError(unknown, { status: 400 })
    expect(unknown.text).toContain('X-Directory-Revision')
  })

  it('of two concurrent claims on a name exactly one succeeds', async () => {
    for (let round = 0; round < 10; round++) {
      const claim = (server: TestDirectory, as: 'tokA' | 'tokB', version: string): Promise<TestResponse> =>
        server.post('/agents', { as, body: aidipAgent({ id: `contested-${round}`, version }) })
      const answers = await Promise.all([claim(one, 'tokA', 'A'), claim(two, 'tokB', 'B')])
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
      const winner = answers[0]?.status === 201 ? 'A' : 'B'
      for (const server of [one, two]) {
        await expect.poll(async () => (await server.get(`/agents/contested-${round}`)).json.version, SOON).toBe(winner)
      }
    }
  })

  it('concurrent updates of an agent on both servers are all applied, one after the other', async () => {
    await one.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'busy' }) })
    await expect.poll(() => statuses('/agents/busy', two), SOON).toEqual([200])
    const updates = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? one : two).put('/agents/busy', { as: 'tokA', body: aidipAgent({ version: String(i) }) }),
    )
    for (const { status, text } of await Promise.all(updates)) expect(status, text).toBe(200)
    const version = async (server: TestDirectory): Promise<string> => (await server.get('/agents/busy')).json.version
    await expect.poll(async () => (await version(one)) === (await version(two)), SOON).toBe(true)
    const audit = await one.get('/admin/audit?agent=busy&action=update', { as: 'admin' })
    expect(audit.json.entries).toHaveLength(20)
  })

  it('both servers reject a stale If-Match', async () => {
    await one.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'tagged' }) })
    await expect.poll(() => statuses('/agents/tagged', two), SOON).toEqual([200])
    const tag = (await two.get('/agents/tagged')).headers.get('etag') ?? ''
    await one.put('/agents/tagged', { as: 'tokA', body: aidipAgent({ version: '2' }), headers: { 'if-match': tag } })
    const late = { as: 'tokA' as const, body: aidipAgent({ version: '3' }), headers: { 'if-match': tag } }
    // Immediately: the other server may not have seen the change yet, and must still not overwrite it.
    expectError(await two.put('/agents/tagged', late), { status: 412 })
    expect((await one.get('/agents/tagged')).json.version).toBe('2')
  })

  it('a lease renewed on one server is not expired by the other', async () => {
    const { headers } = await one.post('/ad/r?agent=leased&lt=60', { as: 'tokA', body: fixture('FX-SUM') })
    const href = headers.get('location') ?? ''
    await expect.poll(() => statuses(href, two), SOON).toEqual([200])
    clock.advance(40)
    expect((await two.post(href, { as: 'tokA' })).status).toBe(204)
    clock.advance(30)
    // Both servers check for expired leases once a second.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(await statuses(href, one, two)).toEqual([200, 200])
    clock.advance(31)
    await expect.poll(() => statuses(href, one, two), { timeout: 4000 }).toEqual([404, 404])
    const { json } = await one.get('/admin/audit?agent=leased&action=expire', { as: 'admin' })
    expect(json.entries).toHaveLength(1)
  })

  it('many leases that end together are expired once each', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `short-${i}`)
    const register = (id: string, i: number) =>
      (i % 2 ? one : two).post(`/ad/r?agent=${id}&lt=60`, { as: 'tokA', body: fixture('FX-SUM') })
    await Promise.all(ids.map(register))
    const listedOn = async (server: TestDirectory): Promise<number> => (await server.get('/ad/l')).json.agents.length
    for (const server of [one, two]) await expect.poll(() => listedOn(server), SOON).toBe(ids.length)
    clock.advance(61)
    for (const server of [one, two]) await expect.poll(() => listedOn(server), { timeout: 10_000 }).toBe(0)
    const { json } = await one.get('/admin/audit?action=expire&limit=1000', { as: 'admin' })
    const expired = json.entries.map(({ agent }: { agent: string }) => agent).filter((id: string) => ids.includes(id))
    expect(expired.toSorted()).toEqual(ids.toSorted())
  })

  it('C-68 without the database, writes return 503 and reads still work', async () => {
    const doomed = await testDatabase()
    const server = await startDirectory({ database: doomed?.url ?? '' })
    try {
      await server.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'kept' }) })
      await doomed?.drop()
      const answer = await server.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'lost' }) })
      expectError(answer, { status: 503, code: 'unavailable' })
      expect(answer.headers.get('retry-after')).toBe(String(answer.json.retry_after))
      expect(answer.text).not.toMatch(/postgres:|does not exist|switchboard@/)
      expect(await statuses('/agents/kept', server)).toEqual([200])
      expect(await statuses('/health/live', server)).toEqual([200])
    } finally {
      await server.close()
    }
  })

  it('a server that starts later serves all existing agents', async () => {
    await one.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'early' }) })
    const three = await startDirectory({ database: database?.url ?? '' }, clock)
    try {
      expect((await three.get('/agents/early')).json).toMatchObject(aidipAgent({ id: 'early' }))
      expect((await three.get('/health/ready')).json).toMatchObject({ status: 'ready', index: { agents: 1 } })
    } finally {
      await three.close()
    }
  })
})
