import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestClock, type TestClock } from './support/clock.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'

interface Entry {
  at: string
  actor: string
  action: string
  outcome: string
  agent?: string
  format?: string
  detail?: string
  request_id?: string
  address?: string
  count?: number
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

const DAY = 86_400

let clock: TestClock
let directory: TestDirectory
beforeAll(async () => {
  clock = createTestClock()
  directory = await startDirectory({ audit: { retentionDays: 2 } }, clock)
})
afterAll(() => directory.close())

const entries = async (query = ''): Promise<Entry[]> =>
  (await directory.get(`/admin/audit?limit=1000${query}`, { as: 'admin' })).json.entries

const untilGone = (path: string): Promise<void> =>
  expect.poll(async () => (await directory.get(path)).status, { timeout: 5000 }).toBe(404)

describe('the audit log', () => {
  it('AD-8.2-07 AIDIP-9-15 has an entry for every change, with actor, time and outcome', async () => {
    const headers = { 'x-request-id': 'request-of-the-audit' }
    const a = { as: 'tokA' as const, headers }
    const secret = 'payload-that-nobody-logs'
    const began = clock.now()
    const body = aidipAgent({ id: 'audited', description: secret, tags: [secret] })
    await directory.post('/agents', { ...a, body })
    await directory.put('/agents/audited', { ...a, body: { ...body, version: '2' } })
    await directory.post('/agents', { ...a, body: { ...body, version: '2' } })
    const registered = await directory.post('/ad/r?agent=soft&lt=60', {
      ...a,
      body: fixture('FX-SUM', { description: secret }),
    })
    const href = registered.headers.get('location') ?? ''
    await directory.post(href, a)
    await directory.post(href, { ...a, body: { description: `${secret} again` } })
    await directory.post('/discover/agents', { ...a, body: fixture('FX-D0', { id: 'profiled', description: secret }) })
    const admin = { as: 'admin' as const, headers }
    await directory.patch('/admin/agents/audited', { ...admin, body: { unsafe: true, certification: { secret } } })
    const key = await directory.post('/admin/keys', { ...admin, body: { subject: 'keyed', scopes: ['discover'] } })
    await directory.delete(`/admin/keys/${key.json.id}`, admin)
    const grant = await directory.post('/admin/grants', {
      ...admin,
      body: { subject: 'granted', agent: 'audited', scopes: ['discover'] },
    })
    await directory.delete(`/admin/grants/${grant.json.id}`, admin)
    await directory.post('/admin/import', {
      ...admin,
      body: { document: aidipAgent({ id: 'imported', description: secret }), owner: 'tokA' },
    })
    await directory.delete('/agents/audited', a)
    await directory.delete('/agents/imported', { as: 'admin', headers })
    clock.advance(61)
    await untilGone(href)

    const all = await entries()
    const summaries = all
      .filter(({ action }) => action !== 'sign-in')
      .filter(({ request_id, action }) => request_id === 'request-of-the-audit' || action === 'expire')
      .map(({ actor, action, outcome, agent, format }) =>
        [actor, action, outcome, agent, format].filter((part) => part !== undefined).join(' '),
      )
      .reverse()
    expect(summaries).toEqual([
      'tokA register ok audited aidip',
      'tokA update ok audited aidip',
      'tokA refresh ok audited aidip',
      'tokA register ok soft directory',
      'tokA refresh ok soft directory',
      'tokA update ok soft directory',
      'tokA register ok profiled profile',
      'admin mark ok audited',
      'admin key.create ok',
      'admin key.revoke ok',
      'admin grant.create ok audited',
      'admin grant.revoke ok audited',
      'admin register ok imported aidip',
      'tokA remove ok audited',
      'admin remove ok imported',
      'switchboard expire ok soft',
    ])
    for (const { at } of all) expect(Date.parse(at)).toBeGreaterThanOrEqual(began - 60_000)
    const text = JSON.stringify(all)
    expect(text).not.toContain(secret)
    expect(text).not.toContain(key.json.key)
    expect(text).not.toContain('https://')
    const detail = (action: string) => all.find((entry) => entry.action === action)?.detail
    expect(detail('key.create')).toContain('keyed')
    expect(detail('grant.create')).toContain('granted')
    expect(detail('mark')).toBe('certification unsafe')
  })

  it('has the state of an agent before and after each change, without its document', async () => {
    const as = 'tokA' as const
    const body = aidipAgent({ id: 'stated', version: '1', description: 'Text that is not in the log.' })
    await directory.post('/agents', { as, body })
    await directory.put('/agents/stated', {
      as,
      body: { ...body, version: '2', tags: ['new'], added: 'not in the log' },
    })
    await directory.patch('/admin/agents/stated', {
      as: 'admin',
      body: { quality_score: 4, certification: { by: 'x' } },
    })
    await directory.patch('/admin/agents/stated', { as: 'admin', body: { quality_score: null } })
    await directory.delete('/agents/stated', { as })
    const log = (await entries('&agent=stated')).reverse()
    const [registered, updated, marked, unmarked, removed] = log
    expect(log.map(({ action }) => action)).toEqual(['register', 'update', 'mark', 'mark', 'remove'])
    const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/)
    expect([registered?.before, registered?.after]).toEqual([
      undefined,
      { owner: 'tokA', digest, visibility: 'public', version: '1' },
    ])
    expect(updated?.before).toEqual({ revision: expect.any(Number), ...registered?.after })
    expect(updated?.after).toMatchObject({ digest, version: '2', changed: ['added', 'tags', 'version'] })
    expect(updated?.after?.digest).not.toBe(registered?.after?.digest)
    expect([marked?.before, marked?.after]).toEqual([{}, { quality_score: 4, certification: digest }])
    expect([unmarked?.before, unmarked?.after]).toEqual([{ quality_score: 4 }, {}])
    expect(removed?.before).toMatchObject({ digest: updated?.after?.digest, version: '2', owner: 'tokA' })
    expect(JSON.stringify(log)).not.toContain('not in the log')
  })

  it('has the state of keys, grants, leases and credentials before and after, without secrets', async () => {
    const admin = { as: 'admin' as const }
    const { json: key } = await directory.post('/admin/keys', {
      ...admin,
      body: { subject: 'stateful', scopes: ['publish'], names: ['s-*'] },
    })
    await directory.delete(`/admin/keys/${key.id}`, admin)
    const registered = await directory.post('/ad/r?agent=leased&lt=60', { as: 'tokA', body: fixture('FX-SUM') })
    await directory.post(registered.headers.get('location') ?? '', { as: 'tokA' })
    const { json: grant } = await directory.post('/admin/grants', {
      ...admin,
      body: { subject: 'granted', agent: 'leased', scopes: ['invoke'] },
    })
    await directory.delete(`/admin/grants/${grant.id}`, admin)
    for (const token of ['first-secret', 'second-secret']) {
      await directory.put('/admin/agents/leased/credential', { ...admin, body: { type: 'bearer', token } })
    }
    await directory.delete('/admin/agents/leased/credential', admin)
    const statesOf = async (action: string) => {
      const [entry] = await entries(`&action=${action}&limit=1`)
      return [entry?.before, entry?.after]
    }
    const shownKey = { id: key.id, subject: 'stateful', scopes: ['publish'], names: ['s-*'] }
    expect(await statesOf('key.create')).toEqual([undefined, shownKey])
    expect(await statesOf('key.revoke')).toEqual([shownKey, undefined])
    const shownGrant = { id: grant.id, subject: 'granted', scopes: ['invoke'], agent: 'leased' }
    expect(await statesOf('grant.create')).toEqual([undefined, shownGrant])
    expect(await statesOf('grant.revoke')).toEqual([shownGrant, undefined])
    const end = { expires_at: expect.any(String) }
    expect(await statesOf('refresh')).toEqual([end, end])
    const credential = { type: 'bearer', set_at: expect.any(String) }
    expect(await statesOf('credential.set')).toEqual([credential, credential])
    expect(await statesOf('credential.remove')).toEqual([credential, undefined])
    expect(JSON.stringify(await entries())).not.toMatch(/-secret|sb_/)
  })

  it('lists the newest entry first, and can be filtered by subject, agent, action and time', async () => {
    await directory.post('/agents', { as: 'tokB', body: aidipAgent({ id: 'first' }) })
    clock.advance(10)
    const between = new Date(clock.now() - 5000).toISOString()
    await directory.post('/agents', { as: 'tokB', body: aidipAgent({ id: 'second' }) })
    await directory.delete('/agents/second', { as: 'admin' })
    const all = await entries()
    expect(all.map(({ at }) => Date.parse(at))).toEqual(all.map(({ at }) => Date.parse(at)).sort((x, y) => y - x))
    expect((await entries('&subject=tokB&outcome=ok&action=register')).map(({ agent }) => agent)).toEqual([
      'second',
      'first',
    ])
    expect((await entries('&agent=second')).map(({ action }) => action)).toEqual(['remove', 'register'])
    expect((await entries('&action=remove')).map(({ agent }) => agent)).toContain('second')
    expect(await entries('&subject=tokB&action=register&agent=first')).toHaveLength(1)
    expect((await entries(`&since=${between}`)).map(({ agent }) => agent)).toEqual(['second', 'second'])
    expect(await entries('&subject=nobody')).toEqual([])
    expect((await directory.get('/admin/audit?limit=2', { as: 'admin' })).json.entries).toEqual(all.slice(0, 2))
  })

  it('AIDIP-9-15 contains no search terms, not even of rejected searches', async () => {
    await directory.get('/agents?q=secretsearch', { as: 'tokC' })
    await directory.get('/agents?q=secretsearch', { key: 'sb_wrong' })
    await directory.get('/admin/audit?subject=secretsearch', { as: 'tokC' })
    await directory.post('/resolve', {
      as: 'tokC',
      body: { intent: 'secretsearch', policy: { region: 'secretsearch' } },
    })
    await directory.post('/agents/search', { as: 'tokC', body: { query: ['secretsearch'] } })
    await directory.post('/agents/none/invoke', { as: 'tokC', body: { text: 'secretsearch' } })
    await directory.post('/agents/search', {
      as: 'tokC',
      body: { query: 'secretsearch', filters: { tags: ['secretsearch'] } },
    })
    await directory.post('/discover', { as: 'tokC', body: { query: 'secretsearch', required_tags: ['secretsearch'] } })
    await directory.get('/ad/l?agent=secretsearch', { as: 'tokC' })
    expect(JSON.stringify(await entries())).not.toContain('secretsearch')
  })

  it('is for administrators only', async () => {
    expectError(await directory.get('/admin/audit'), { status: 401 })
    expectError(await directory.get('/admin/audit', { as: 'tokA' }), { status: 403 })
  })

  it('AIDIP-9-15 AIDIP00-7-05 deletes entries older than the operator’s retention period', async () => {
    const old = (await entries()).length
    expect(old).toBeGreaterThan(5)
    clock.advance(3 * DAY)
    await directory.post('/agents', { as: 'tokB', body: aidipAgent({ id: 'recent' }) })
    await directory.restart()
    await expect
      .poll(async () => (await entries('&subject=tokB&action=register')).map(({ agent }) => agent), { timeout: 5000 })
      .toEqual(['recent'])
    expect((await entries()).every(({ at }) => Date.parse(at) > clock.now() - 2 * DAY * 1000)).toBe(true)
  })
})
