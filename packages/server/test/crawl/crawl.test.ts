import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Settings } from '../../src/config/settings.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { CARD, card, DESCRIPTOR, descriptor, INDEX, startSite, type TestSite } from './site.js'

const SETTINGS: Settings = {
  crawl: { enabled: true, urls: [], intervalSeconds: 3600, pauseMs: 0, maxAgentsPerSite: 5 },
}

const clock = createTestClock()
let directory: TestDirectory
let site: TestSite

beforeAll(async () => {
  directory = await startDirectory(SETTINGS, clock)
})
afterAll(() => directory.close())
beforeEach(async () => {
  site = await startSite()
})
afterEach(async () => {
  for (const { id } of await listed('admin')) await directory.delete(`/crawl/${id}`, { as: 'admin' })
  await directory.clear()
  await site.close()
})

const crawl = (url = site.url, as: 'tokA' | 'tokB' | 'tokC' | 'admin' = 'tokA'): Promise<TestResponse> =>
  directory.post('/crawl', { as, body: { url } })
const agent = (id: string): Promise<TestResponse> => directory.get(`/agents/${encodeURIComponent(id)}`)
const listed = async (as: 'tokA' | 'tokB' | 'admin' = 'tokA') => (await directory.get('/crawl', { as })).json.sites

/** Lets the interval pass and waits until the site has been visited again. */
async function nextVisit(seconds = 4000): Promise<void> {
  const visitedAt = async () =>
    (await listed('admin')).find(({ url }: { url: string }) => url.startsWith(site.url))?.crawled_at
  const before = await visitedAt()
  clock.advance(seconds)
  await vi.waitFor(async () => expect(await visitedAt()).not.toBe(before), 20_000)
}

describe('POST /crawl', () => {
  it('AIDIP00-5.4-02 registers the agent of a card by its URL, which then is listed', async () => {
    site.pages[CARD] = { body: card() }
    const response = await crawl(site.url + CARD)
    expect(response.status, response.text).toBe(201)
    const url = site.url + CARD
    expect(response.json).toMatchObject({ url, state: 'read', agents: [{ url, agent: url, status: 'created' }] })
    expect((await agent(url)).json).toMatchObject({ name: 'Translator', verification: { crawled: { url } } })
    expect((await directory.get('/agents')).json).toHaveLength(1)
    expect(site.takePaths()).toEqual(['/robots.txt', CARD])
    expect(await listed()).toEqual([expect.objectContaining({ url, next_at: expect.any(String) })])
    expect(await listed('tokB')).toEqual([])
    const { json: audit } = await directory.get('/admin/audit?action=crawl.request&limit=1', { as: 'admin' })
    expect(JSON.stringify(audit)).toContain(url)
  })

  it('tries the well-known paths of a host in order, and reads the first', async () => {
    site.pages[DESCRIPTOR] = { body: descriptor() }
    site.pages[INDEX] = { body: { agents: { other: '/other.json' } } }
    const { json } = await crawl()
    expect(json.agents).toEqual([{ url: site.url + DESCRIPTOR, agent: site.url + DESCRIPTOR, status: 'created' }])
    expect(site.takePaths()).toEqual(['/robots.txt', CARD, DESCRIPTOR])
  })

  it('reads every agent of an agents.json, up to a limit, and none of another host', async () => {
    const agents: Record<string, unknown> = {
      planner: '/planner.json',
      inline: descriptor({ name: 'inline', id: 'inline-agent' }),
      elsewhere: 'https://elsewhere.example/agent.json',
      broken: '/broken.json',
    }
    site.pages[INDEX] = { body: { agents } }
    site.pages['/planner.json'] = { body: descriptor() }
    site.pages['/broken.json'] = { body: '{' }
    const { status, json } = await crawl()
    expect(status).toBe(201)
    expect(json.agents).toEqual([
      { url: `${site.url}/planner.json`, agent: `${site.url}/planner.json`, status: 'created' },
      { url: `${site.url}${INDEX}#inline`, agent: 'inline-agent', status: 'created' },
      expect.objectContaining({ status: 'skipped', reason: expect.stringContaining('not a URL of this host') }),
      expect.objectContaining({ url: `${site.url}/broken.json`, status: 'failed' }),
    ])
    for (let i = 0; i < 5; i++) agents[`more-${i}`] = `/planner.json?${i}`
    await nextVisit()
    const [{ agents: pages }] = await listed()
    expect(pages).toHaveLength(6)
    expect(pages.at(-1)).toMatchObject({ status: 'skipped', reason: expect.stringContaining('lists 9 agents') })
  })

  it('resolves relative addresses against the URL of the card', async () => {
    site.pages['/cards/a.json'] = { body: aidipAgent({ id: 'relative', endpoint: '../run' }) }
    expect((await crawl(`${site.url}/cards/a.json`)).status).toBe(201)
    expect((await agent('relative')).json.endpoint).toBe(`${site.url}/run`)
  })

  it('names itself, with a contact', async () => {
    site.pages[CARD] = { body: card() }
    await crawl()
    for (const { headers } of site.requests)
      expect(headers['user-agent']).toMatch(/^Switchboard\/\d+\.\d+\.\d+ \(\+http:\/\/127\.0\.0\.1:\d+\)$/)
  })

  it('never overwrites the agent of another owner, and says so', async () => {
    await directory.post('/agents', { as: 'tokB', body: aidipAgent({ id: 'mine' }) })
    site.pages[CARD] = { body: aidipAgent({ id: 'mine', name: 'Stolen' }) }
    const { status, json } = await crawl()
    expect(status).toBe(201)
    expect(json.agents).toEqual([
      expect.objectContaining({ status: 'failed', code: 'conflict', reason: expect.stringContaining('"mine"') }),
    ])
    expect((await agent('mine')).json.name).not.toBe('Stolen')
  })

  it('refuses an id of another domain, which the site cannot speak for', async () => {
    site.pages[CARD] = { body: aidipAgent({ id: 'https://bank.example/agent' }) }
    expect((await crawl()).json.agents).toEqual([
      expect.objectContaining({
        status: 'failed',
        code: 'forbidden',
        reason: expect.stringContaining('another domain'),
      }),
    ])
  })

  it('keeps the users of a host apart: another page cannot replace an agent, a well-known one can', async () => {
    site.pages['/~ann/card.json'] = { body: aidipAgent({ id: 'shared', name: 'Ann' }) }
    site.pages['/~bob/card.json'] = { body: aidipAgent({ id: 'shared', name: 'Bob' }) }
    await crawl(`${site.url}/~ann/card.json`)
    const { json } = await crawl(`${site.url}/~bob/card.json`, 'tokB')
    expect(json.agents).toEqual([expect.objectContaining({ status: 'failed', code: 'conflict' })])
    expect((await agent('shared')).json.name).toBe('Ann')
    site.pages[CARD] = { body: aidipAgent({ id: 'shared', name: 'Operator' }) }
    expect((await crawl()).json.agents).toEqual([expect.objectContaining({ status: 'updated' })])
    expect((await agent('shared')).json.name).toBe('Operator')
  })

  it('is not for those who may not publish, or only under certain names', async () => {
    site.pages[CARD] = { body: card() }
    expectError(await crawl(site.url, 'tokC'), { status: 403 })
    expect((await directory.post('/crawl', { body: { url: site.url } })).status).toBe(401)
    const key = await directory.makeKey({ subject: 'limited', scopes: ['publish'], names: ['acme-*'] })
    expectError(await directory.post('/crawl', { key, body: { url: site.url } }), { status: 403 })
    expect(site.requests).toEqual([])
  })

  it.each([
    ['http://example.com/', 'https'],
    ['https://10.0.0.1/', 'IP address'],
    ['https://[::1%25lo]/', 'URL'],
    ['https://user:secret@example.com/', 'password'],
    ['ftp://example.com/', 'https'],
    [`https://example.com/${'a'.repeat(600)}`, '512 characters'],
  ])('refuses %s', async (url, reason) => {
    const response = await crawl(url)
    expectError(response, { status: 400 })
    expect(response.text).toContain(reason)
  })

  it('refuses itself, and what answers with nothing that describes an agent', async () => {
    expectError(await crawl(directory.url), { status: 400 })
    expectError(await crawl(), { status: 404 })
    expect((await crawl()).text).toContain('no agents were found')
    site.pages[CARD] = { status: 500 }
    expectError(await crawl(), { status: 502 })
    expect(await listed('admin')).toEqual([])
    site.pages[CARD] = { body: { hello: 'world' } }
    expect((await crawl()).json.agents).toEqual([expect.objectContaining({ status: 'failed' })])
  })

  it('does not visit a site again within a minute, however often that is requested', async () => {
    site.pages[CARD] = { body: card() }
    await crawl()
    const before = site.requests.length
    const again = await crawl(site.url, 'tokB')
    expect(again.status).toBe(200)
    expect(again.json.agents).toHaveLength(1)
    expect(site.requests).toHaveLength(before)
    expect(await listed('tokB')).toHaveLength(1)
    clock.advance(61)
    expect((await crawl()).json.agents).toEqual([expect.objectContaining({ status: 'unchanged' })])
    expect(site.requests.length).toBeGreaterThan(before)
  })

  it('visits a limited number of sites at once', async () => {
    const hanging = await Promise.all(
      Array.from({ length: 33 }, () => startSite({ '/robots.txt': { send: () => {} } })),
    )
    const last = hanging.pop()
    try {
      const waiting = hanging.map(({ url }) => crawl(url))
      const arrived = () => hanging.filter(({ requests }) => requests.length > 0)
      await vi.waitFor(() => expect(arrived()).toHaveLength(hanging.length), 30_000)
      expectError(await crawl(last?.url), { status: 503 })
      await Promise.all(hanging.splice(0).map((each) => each.close()))
      await Promise.all(waiting)
    } finally {
      await last?.close()
    }
  })

  it('is not there if the operator has switched it off', async () => {
    await directory.restart({ crawl: { enabled: false } })
    expect((await crawl()).status).toBe(404)
    await directory.restart()
  })
})

describe('a crawled site', () => {
  it('AIDIP00-4-13 is read again: a changed card changes the agent, an unchanged one only renews it', async () => {
    site.pages[CARD] = { body: card(), headers: { etag: '"1"' } }
    await crawl()
    const id = site.url + CARD
    const { expires_at: end, ...before } = (await agent(id)).json
    await nextVisit()
    const { expires_at: laterEnd, ...after } = (await agent(id)).json
    expect(after).toEqual(before)
    expect(Date.parse(laterEnd)).toBeGreaterThan(Date.parse(end))
    expect((await listed())[0].agents).toEqual([{ url: id, agent: id, status: 'unchanged' }])
    site.pages[CARD] = { body: card({ version: '0.9.0', name: 'Translator, improved' }), headers: { etag: '"2"' } }
    await nextVisit()
    expect((await agent(id)).json.name).toBe('Translator, improved')
    expect((await listed())[0].agents).toEqual([{ url: id, agent: id, status: 'updated' }])
  })

  it('AIDIP00-5.4-03 is asked conditionally; a card that is gone makes its agent stale, which ends with its lifetime', async () => {
    site.pages[CARD] = { body: card(), headers: { etag: '"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' } }
    await crawl()
    const id = site.url + CARD
    site.requests.length = 0
    await nextVisit()
    expect(site.requests.find(({ path }) => path === CARD)).toMatchObject({
      status: 304,
      headers: { 'if-none-match': '"1"', 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' },
    })
    delete site.pages[CARD]
    await nextVisit()
    expect((await agent(id)).json.verification.crawled).toEqual({ url: id, stale_since: expect.any(String) })
    expect((await listed())[0].agents).toEqual([expect.objectContaining({ agent: id, status: 'stale' })])

    // It comes back …
    site.pages[CARD] = { body: card() }
    await nextVisit()
    expect((await agent(id)).json.verification.crawled).toEqual({ url: id })
    // … and goes for good.
    delete site.pages[CARD]
    await nextVisit()
    clock.advance(3 * 3600)
    await vi.waitFor(async () => expect((await agent(id)).status).toBe(404), 20_000)
  })

  it('makes an agent stale that its agents.json no longer lists, and reads the others without asking for the list twice', async () => {
    const planner = { body: descriptor(), headers: { etag: '"p"' } }
    site.pages = {
      [INDEX]: { body: { agents: { a: '/a.json', b: '/b.json' } }, headers: { etag: '"i"' } },
      '/a.json': planner,
      '/b.json': planner,
    }
    await crawl(site.url + INDEX)
    site.requests.length = 0
    await nextVisit()
    expect(site.requests.map(({ path, status }) => [path, status])).toEqual([
      [INDEX, 304],
      ['/a.json', 304],
      ['/b.json', 304],
    ])
    site.pages[INDEX] = { body: { agents: { a: '/a.json' } } }
    await nextVisit()
    expect((await listed())[0].agents).toEqual([
      expect.objectContaining({ agent: `${site.url}/a.json`, status: 'unchanged' }),
      expect.objectContaining({ agent: `${site.url}/b.json`, status: 'stale' }),
    ])
  })

  it('loses its agent at once if it says 410 Gone', async () => {
    site.pages[CARD] = { body: card() }
    await crawl()
    site.pages[CARD] = { status: 410 }
    await nextVisit()
    expect((await agent(site.url + CARD)).status).toBe(404)
    expect((await listed())[0].agents).toEqual([expect.objectContaining({ status: 'removed' })])
  })

  it('AIDIP00-5.4-03 may be listed in the config: its agents appear without a request', async () => {
    site.pages[CARD] = { body: card() }
    await directory.restart({ crawl: { ...SETTINGS.crawl, urls: [site.url] } })
    await vi.waitFor(async () => expect(await listed('admin')).toHaveLength(1), 20_000)
    expect((await agent(site.url + CARD)).status).toBe(200)
    const [{ id }] = await listed('admin')
    expectError(await directory.delete(`/crawl/${id}`, { as: 'admin' }), { status: 409 })
    await directory.restart()
    // It is no longer visited, and its agents age out.
    site.requests.length = 0
    clock.advance(4000)
    await expect(vi.waitUntil(() => site.requests.length > 0, 2500)).rejects.toThrow()
  })

  it('survives a restart of the directory', async () => {
    site.pages[CARD] = { body: card() }
    await crawl()
    await directory.restart()
    expect(await listed()).toHaveLength(1)
    site.pages[CARD] = { body: card({ name: 'After the restart' }) }
    await nextVisit()
    expect((await agent(site.url + CARD)).json.name).toBe('After the restart')
  })

  it('can be removed by the operator, with its agents', async () => {
    site.pages[CARD] = { body: card() }
    const { id } = (await crawl()).json
    expectError(await directory.delete(`/crawl/${id}`, { as: 'tokA' }), { status: 403 })
    expect((await directory.delete(`/crawl/${id}`, { as: 'admin' })).status).toBe(204)
    expectError(await directory.delete(`/crawl/${id}`, { as: 'admin' }), { status: 404 })
    expect((await agent(site.url + CARD)).status).toBe(404)
    expect(await listed('admin')).toEqual([])
  })
})
