import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { CARD, startSite, type TestSite } from './site.js'

const clock = createTestClock()
let directory: TestDirectory
let site: TestSite

beforeAll(async () => {
  directory = await startDirectory({ crawl: { intervalSeconds: 3600, pauseMs: 0 } }, clock)
})
afterAll(() => directory.close())
beforeEach(async () => {
  site = await startSite({ [CARD]: { body: aidipAgent({ id: 'found', name: 'Found' }) } })
  await directory.post('/crawl', { as: 'tokB', body: { url: site.url } })
})
afterEach(async () => {
  const { json } = await directory.get('/crawl', { as: 'admin' })
  for (const { id } of json.sites) await directory.delete(`/crawl/${id}`, { as: 'admin' })
  await directory.clear()
  await site.close()
})

const takeOver = (as: 'tokA' | 'tokB', changes = {}): Promise<TestResponse> =>
  directory.post('/agents', { as, body: aidipAgent({ id: 'found', name: 'Taken over', ...changes }) })

async function prove(as: 'tokA' | 'tokB'): Promise<void> {
  const { json } = await directory.post('/domains', { as, body: { domain: site.authority } })
  site.pages[new URL(json.publish.http.url).pathname] = { body: json.publish.http.content }
  const proven = await directory.post('/domains', { as, body: { domain: site.authority } })
  expect(proven.json.state).toBe('proven')
}

describe('a crawled agent', () => {
  it('belongs to its domain: nobody else can replace, change or remove it, not even who asked for the crawl', async () => {
    for (const as of ['tokA', 'tokB'] as const) {
      const response = await takeOver(as)
      expectError(response, { status: 409 })
      expect(response.text).toContain('prove that you control it')
      const body = aidipAgent({ id: 'found', name: 'Changed' })
      expectError(await directory.put('/agents/found', { as, body }), { status: 403 })
      expectError(await directory.delete('/agents/found', { as }), { status: 403 })
    }
    expect((await directory.get('/agents/found')).json.name).toBe('Found')
  })

  it('is taken over by whoever proves the domain, and the crawler then leaves it alone', async () => {
    await prove('tokA')
    expectError(await takeOver('tokB'), { status: 409 })
    const taken = await takeOver('tokA')
    expect(taken.status, taken.text).toBe(200)
    const { json } = await directory.get('/agents/found')
    expect(json).toMatchObject({ name: 'Taken over' })
    expect(json.verification.crawled).toBeUndefined()
    // It is a registration like any other: it does not end with the lifetime of what was crawled.
    expect(json.expires_at).toBeUndefined()

    clock.advance(4000)
    await vi.waitFor(async () => {
      const [crawled] = (await directory.get('/crawl', { as: 'tokB' })).json.sites
      expect(crawled.agents).toEqual([expect.objectContaining({ status: 'failed', code: 'conflict' })])
    }, 20_000)
    expect((await directory.get('/agents/found')).json.name).toBe('Taken over')
    clock.advance(86_400)
    expect((await directory.delete('/agents/found', { as: 'tokA' })).status).toBe(204)
  })

  it('can be taken over with the very document that was found', async () => {
    await prove('tokA')
    expect((await takeOver('tokA', { name: 'Found' })).status).toBe(200)
    expect((await directory.delete('/agents/found', { as: 'tokA' })).status).toBe(204)
  })

  it('stays when it is transferred by the operator', async () => {
    await directory.post('/transfers', { as: 'admin', body: { agent: 'found', to: 'tokA' } })
    const { json } = await directory.get('/agents/found')
    expect(json.expires_at).toBeUndefined()
    expect(json.verification.crawled).toBeUndefined()
  })

  it('needs no proof of its domain where ids with a domain do', async () => {
    const id = `${site.url}/agent`
    site.pages['/agent.json'] = { body: aidipAgent({ id }) }
    await directory.restart({ policy: { ...DEFAULTS.policy, requireDomainProof: true } })
    const crawled = await directory.post('/crawl', { as: 'tokB', body: { url: `${site.url}/agent.json` } })
    expect(crawled.json.agents, crawled.text).toEqual([expect.objectContaining({ status: 'created' })])
    expect((await directory.get(`/agents/${encodeURIComponent(id)}`)).status).toBe(200)
    await directory.restart()
  })
})
