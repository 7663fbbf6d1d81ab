import type { JsonObject } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { type PublisherHost, startPublisherHost } from './publisher-host.js'

let clock: TestClock
let directory: TestDirectory
let host: PublisherHost

beforeEach(async () => {
  clock = createTestClock()
  host = await startPublisherHost()
  directory = await startDirectory({}, clock)
})
afterEach(async () => {
  await directory.close()
  await host.close()
})

const claim = (as: 'tokA' | 'tokB' | 'tokC' = 'tokA', domain = host.authority): Promise<TestResponse> =>
  directory.post('/domains', { as, body: { domain } })

/** Does what the directory asks for. */
function publish({ json }: TestResponse): void {
  host.pages[new URL(json.publish.http.url).pathname] = `${json.publish.http.content}\n`
}

/** Claims the domain, publishes the token and has it checked. */
async function prove(as: 'tokA' | 'tokB' = 'tokA'): Promise<TestResponse> {
  publish(await claim(as))
  return claim(as)
}

const idOfAgent = (): string => `${host.url}/agent`
const path = (): string => `/agents/${encodeURIComponent(idOfAgent())}`
const register = (as: 'tokA' | 'tokB' = 'tokA'): Promise<TestResponse> =>
  directory.post('/agents', { as, body: aidipAgent({ id: idOfAgent() }) })
const shown = async (): Promise<JsonObject | undefined> => (await directory.get(path())).json.verification.domain

describe('a domain', () => {
  it('is proven by publishing what the directory says, and every view of the owner’s agents shows it', async () => {
    await register()
    expect(await shown()).toBeUndefined()
    const before = (await directory.get(path())).headers.get('etag')

    const claimed = await claim()
    expect(claimed.status, claimed.text).toBe(201)
    expect(claimed.json).toMatchObject({
      domain: host.authority,
      state: 'pending',
      publish: { dns: { name: '_switchboard-challenge.127.0.0.1', type: 'TXT', value: expect.any(String) } },
    })
    expect((await claim()).json.state).toBe('pending')
    expect(await shown()).toBeUndefined()

    publish(claimed)
    clock.advance(4)
    const proven = await claim()
    expect(proven.json).toMatchObject({ state: 'proven', method: 'http', since: expect.any(String) })
    for (const prefix of ['/agents', '/v0/agents', '/discover/agents']) {
      const { json } = await directory.get(`${prefix}/${encodeURIComponent(idOfAgent())}`)
      expect(json.verification.domain, prefix).toMatchObject({ name: host.authority, state: 'proven', method: 'http' })
    }
    expect((await directory.get(path())).headers.get('etag')).not.toBe(before)
    const filters = { verification: { domain: { state: 'proven' } } }
    expect((await directory.post('/agents/search', { body: { filters } })).json).toHaveLength(1)
  })

  it('is checked in the background, and stays proven after a restart', async () => {
    await register()
    publish(await claim())
    clock.advance(16)
    await vi.waitFor(async () => expect(await shown()).toMatchObject({ state: 'proven' }), 10_000)
    await directory.restart()
    expect(await shown()).toMatchObject({ state: 'proven' })
  })

  it('is no longer proven after three failed checks', async () => {
    await register()
    await prove()
    host.pages = {}
    for (let hours = 24; (await shown()) !== undefined; hours = 2) {
      const { checked_at: before } = (await directory.get('/domains', { as: 'tokA' })).json.domains[0]
      clock.advance(hours * 3600 + 60)
      await vi.waitFor(async () => {
        const { json } = await directory.get('/domains', { as: 'tokA' })
        expect(json.domains[0].checked_at).not.toBe(before)
      }, 10_000)
    }
    expect((await directory.get('/domains', { as: 'tokA' })).json.domains[0].state).toBe('pending')
    const checks = host.requests.filter((each) => each.startsWith('/.well-known/switchboard-challenge/'))
    expect(checks).toHaveLength(4)
  })

  it('is proven for its owner only: the token of another one does not count, and is not shown', async () => {
    await register('tokB')
    await prove('tokA')
    expect(await shown()).toBeUndefined()
    const other = await claim('tokB')
    expect(other.json.state).toBe('pending')
    clock.advance(4)
    expect((await claim('tokB')).json.state).toBe('pending')
    const { json } = await directory.get('/domains', { as: 'tokB' })
    expect(json.domains).toHaveLength(1)
  })

  it('is no longer shown for an agent that gets another owner', async () => {
    await register()
    await prove()
    expect(await shown()).toMatchObject({ state: 'proven' })
    await directory.post('/transfers', { as: 'admin', body: { agent: idOfAgent(), to: 'tokB' } })
    expect(await shown()).toBeUndefined()
    await prove('tokB')
    expect(await shown()).toMatchObject({ state: 'proven' })
  })

  it('is not proven by a page that repeats its path', async () => {
    const { json } = await claim()
    const { pathname } = new URL(json.publish.http.url)
    expect(pathname).not.toContain(json.publish.http.content)
    host.pages[pathname] = pathname
    clock.advance(4)
    expect((await claim()).json.state).toBe('pending')
  })

  it('that was never proven is forgotten after a week, and can be claimed again', async () => {
    const first = await claim()
    clock.advance(8 * 86_400)
    expect((await directory.get('/domains', { as: 'tokA' })).json.domains).toEqual([])
    // A restart prunes what has expired.
    await directory.restart()
    const again = await claim()
    expect(again.status).toBe(201)
    expect(again.json.publish.http.content).not.toBe(first.json.publish.http.content)
    publish(again)
    clock.advance(4)
    expect((await claim()).json.state).toBe('proven')
  })

  it('can be withdrawn', async () => {
    await register()
    await prove()
    clock.advance(4)
    const path = `/domains/${encodeURIComponent(host.authority)}`
    expectError(await directory.delete(path, { as: 'tokB' }), { status: 404 })
    expect((await directory.delete(path, { as: 'tokA' })).status).toBe(204)
    expect(await shown()).toBeUndefined()
    expect((await directory.get('/domains', { as: 'tokA' })).json.domains).toEqual([])
  })

  it.each(['192.0.2.1', 'https://example.com', 'example.com/path', ''])('cannot be "%s"', async (domain) => {
    expectError(await claim('tokA', domain), { status: 400, member: '/domain' })
  })

  it('needs the publish scope', async () => {
    expectError(await claim('tokC'), { status: 403, says: 'publish' })
    expectError(await directory.get('/domains'), { status: 401 })
  })

  it('leaves entries in the audit log', async () => {
    await prove()
    const { json } = await directory.get('/admin/audit?subject=tokA', { as: 'admin' })
    const entries = json.entries.filter(({ action }: { action: string }) => action.startsWith('domain.'))
    expect(entries).toMatchObject([
      { action: 'domain.prove', detail: host.authority, before: { state: 'pending' }, after: { state: 'proven' } },
      { action: 'domain.claim', detail: host.authority, after: { state: 'pending' } },
    ])
  })
})

describe('policy.requireDomainProof', () => {
  it('rejects new agents whose id names a domain that is not proven, except for administrators', async () => {
    await directory.restart({ policy: { ...DEFAULTS.policy, requireDomainProof: true } })
    expectError(await register(), { status: 403, says: `POST /domains with {"domain":"${host.authority}"}` })
    expect((await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'plain' }) })).status).toBe(201)
    await prove()
    expect((await register()).status).toBe(201)
    expectError(await register('tokB'), { status: 409 })
    await directory.delete(`/domains/${encodeURIComponent(host.authority)}`, { as: 'tokA' })
    expect((await register()).status).toBe(200)
  })
})
