import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { lookUp, register } from './register.js'

const clock = createTestClock()
let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({}, clock)
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const
const BASE = 'https://agents.example.com/a'

/** Resolves when the resource is gone; fails after a second. */
const untilGone = (path: string): Promise<void> =>
  vi.waitFor(async () => expect((await directory.get(path, { as: 'admin' })).status, path).toBe(404), {
    timeout: 1000,
    interval: 20,
  })

/** Longer than the directory takes to notice that the clock has moved. */
const waitForClock = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 400))

const lifetimeOf = async (path: string): Promise<number> => (await directory.get(path)).json.lt

describe('the requested lifetime', () => {
  it('AD-4.1-07 defaults to a day', async () => {
    expect(await lifetimeOf(await register(directory, 'a', { base: BASE }))).toBe(86400)
  })

  it('AD-4.1-08 must be a whole number from 60 to 4294967295', async () => {
    for (const lt of ['59', '0', '-1', '4294967296', '99999999999', '1.5', '60.0', '1e3', '0x60', 'abc', '', ' 60']) {
      const answer = await directory.post(`/ad/r?agent=a&lt=${encodeURIComponent(lt)}`, {
        ...tokA,
        body: { base: BASE },
      })
      expectError(answer, { status: 400, member: '?lt' }, lt)
    }
    expect(await lookUp(directory)).toEqual([])
    expect(await lifetimeOf(await register(directory, 'a', { base: BASE }, { lt: 60 }))).toBe(60)
  })

  it('AD-4.1-09 AD-4.2-08 AD-4.2-09 is capped at a week; the resource shows the granted lifetime', async () => {
    expect(await lifetimeOf(await register(directory, 'a', { base: BASE }, { lt: 604_800 }))).toBe(604_800)
    expect(await lifetimeOf(await register(directory, 'b', { base: BASE }, { lt: 604_801 }))).toBe(604_800)
    expect(await lifetimeOf(await register(directory, 'c', { base: BASE }, { lt: 4_294_967_295 }))).toBe(604_800)
  })

  it('AD-4.4-03 can be changed by an update, within the same limits', async () => {
    const href = await register(directory, 'a', { base: BASE })
    const updated = await directory.post(`${href}?lt=3600`, tokA)
    expect({ status: updated.status, text: updated.text }).toEqual({ status: 204, text: '' })
    expect(await lifetimeOf(href)).toBe(3600)
    for (const lt of ['5', 'x', '4294967296']) {
      expectError(await directory.post(`${href}?lt=${lt}`, tokA), { status: 400, member: '?lt' }, lt)
    }
    expect(await lifetimeOf(href)).toBe(3600)
    await directory.post(`${href}?lt=4294967295`, tokA)
    expect(await lifetimeOf(href)).toBe(604_800)
  })

  it('AD-4.1-09 AD-4.2-08 is capped at the operator’s maximum', async () => {
    await directory.restart({ lifetimes: { max: 120 } })
    expect(await lifetimeOf(await register(directory, 'a', { base: BASE }))).toBe(120)
    expect(await lifetimeOf(await register(directory, 'b', { base: BASE }, { lt: 3600 }))).toBe(120)
    await directory.restart()
  })
})

describe('expiry', () => {
  it('AD-4.5-02 removes a registration that was not refreshed, within a second but not early', async () => {
    const href = await register(directory, 'a', { base: BASE }, { lt: 60 })
    clock.advance(59)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['a'])
    clock.advance(0.7)
    await untilGone(href)
    expect(await lookUp(directory)).toEqual([])
    for (const path of ['/agents/a', '/discover/agents/a', '/agents/a/agent.json']) {
      expect((await directory.get(path)).status, path).toBe(404)
    }
  })

  it('AD-4.4-01 AD-4.4-02 is postponed by an empty POST', async () => {
    const href = await register(directory, 'a', { base: BASE }, { lt: 60 })
    clock.advance(40)
    const refreshed = await directory.post(href, tokA)
    expect({ status: refreshed.status, text: refreshed.text }).toEqual({ status: 204, text: '' })
    clock.advance(40)
    await waitForClock()
    expect((await directory.get(href)).json).toMatchObject({ agent: 'a', lt: 60 })
    clock.advance(21)
    await untilGone(href)
  })

  it('AD-4.4-02 is also postponed by a registration or an update with a body', async () => {
    const again = await register(directory, 'again', { base: BASE }, { lt: 60 })
    const changed = await register(directory, 'changed', { base: BASE }, { lt: 60 })
    clock.advance(50)
    await directory.post('/ad/r?agent=again&lt=60', { ...tokA, body: { base: BASE } })
    await directory.post(changed, { ...tokA, body: { description: 'Now with a description.' } })
    clock.advance(50)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['again', 'changed'])
    clock.advance(11)
    await Promise.all([untilGone(again), untilGone(changed)])
  })

  it('AD-4.4-02 stays postponed if the agent is updated and marked at the same time', async () => {
    const href = await register(directory, 'a', { base: BASE }, { lt: 60 })
    clock.advance(50)
    const [marked, refreshed, changed] = await Promise.all([
      directory.patch('/admin/agents/a', { as: 'admin', body: { quality_score: 3 } }),
      directory.post(href, tokA),
      directory.put('/agents/a', { ...tokA, body: aidipAgent() }),
    ])
    expect([marked.status, refreshed.status, changed.status]).toEqual([200, 204, 200])
    clock.advance(40)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['a'])
  })

  it('AD-4.4-03 comes sooner after the lifetime is shortened', async () => {
    const href = await register(directory, 'a', { base: BASE }, { lt: 3600 })
    await directory.post(`${href}?lt=60`, tokA)
    clock.advance(61)
    await untilGone(href)
  })

  it('AD-4.4-05 is reported to late requests until the agent registers again', async () => {
    const href = await register(directory, 'a', { base: BASE }, { lt: 60 })
    clock.advance(61)
    await untilGone(href)
    for (const answer of [
      await directory.post(href, tokA),
      await directory.post(href, { ...tokA, body: { capabilities: [] } }),
      await directory.delete(href, tokA),
      await directory.get(href),
    ]) {
      expectError(answer, { status: 404, code: 'not_found' })
      expect(answer.json.type).toMatch(/\/registration-expired$/)
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
    }
    expect(await register(directory, 'a', { base: BASE })).not.toBe(href)
    expect((await directory.get(href)).status).toBe(404)
  })

  it('AD-4.4-05 is not reported for a registration that was deleted', async () => {
    const href = await register(directory, 'a', { base: BASE })
    await directory.delete(href, tokA)
    expect((await directory.get(href)).json.type).toMatch(/\/not-found$/)
  })

  it('AD-8.2-07 is in the audit log with the directory as the actor', async () => {
    const href = await register(directory, 'audited-end', { base: BASE }, { lt: 60 })
    clock.advance(61)
    await untilGone(href)
    const { json } = await directory.get('/admin/audit?agent=audited-end&action=expire', { as: 'admin' })
    expect(json.entries).toMatchObject([{ actor: 'switchboard', action: 'expire', agent: 'audited-end' }])
  })
})

describe('an expired name', () => {
  const secret: JsonObject = { base: BASE, visibility: 'private', capabilities: [{ name: 'x', type: 'tool' }] }

  const registerAndExpire = async (name: string): Promise<void> => {
    const href = await register(directory, name, secret, { lt: 60 })
    const grant = { subject: 'tokC', agent: name, scopes: ['discover'] }
    expect((await directory.post('/admin/grants', { as: 'admin', body: grant })).status).toBe(201)
    const marks = { verification: 'verified', quality_score: 4.5, unsafe: true, status: 'deprecated' }
    expect((await directory.patch(`/admin/agents/${name}`, { as: 'admin', body: marks })).status).toBe(200)
    expect(await lookUp(directory, '', 'tokC')).toEqual([name])
    clock.advance(61)
    await untilGone(href)
  }

  it('AD-7.1-02 can be taken by another owner, who inherits neither grants nor marks', async () => {
    await registerAndExpire('name')
    const href = await register(directory, 'name', secret, { as: 'tokB' })
    expect((await directory.get(href, { as: 'tokB' })).json.verification).toEqual({ state: 'self-asserted' })
    expect((await directory.get('/agents/name', { as: 'tokB' })).json.status ?? 'active').toBe('active')
    expect(await lookUp(directory, '', 'tokC')).toEqual([])
    expect((await directory.get(href, { as: 'tokC' })).status).toBe(404)
    expectError(await directory.post('/ad/r?agent=name', { ...tokA, body: { base: BASE } }), { status: 409 })
  })

  it('AD-7.1-02 gets its marks and grants back if its owner registers it again', async () => {
    await registerAndExpire('name')
    const href = await register(directory, 'name', secret)
    expect((await directory.get(href, tokA)).json.verification).toMatchObject({
      state: 'verified',
      by: 'admin',
      quality_score: 4.5,
      unsafe: true,
    })
    expect(await lookUp(directory, '', 'tokC')).toEqual(['name'])
  })
})

describe('lifetimes of agents from other drafts (C-40)', () => {
  const after = (seconds: number): string => new Date(clock.now() + seconds * 1000).toISOString()

  it('AD-2.2-02 an agent of another draft does not expire; its lt is the maximum', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'aidip' }) })
    await directory.post('/discover/agents', { ...tokA, body: fixture('FX-D0', { id: 'profile' }) })
    clock.advance(30 * 86400)
    await waitForClock()
    const { json } = await directory.get('/ad/l')
    expect(json.agents.map(({ agent }: JsonObject) => agent)).toEqual(['aidip', 'profile'])
    for (const { href } of json.agents) expect(await lifetimeOf(href)).toBe(604_800)
    expect((await directory.get('/agents/aidip')).json).not.toHaveProperty('expires_at')
  })

  it('AD-4.4-02 a refresh does not make such an agent expire unless it requests a lifetime', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'aidip' }) })
    const [{ href }] = (await directory.get('/ad/l')).json.agents
    expect((await directory.post(href, tokA)).status).toBe(204)
    clock.advance(30 * 86400)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['aidip'])
    await directory.post(`${href}?lt=60`, tokA)
    expect(await lifetimeOf(href)).toBe(60)
    clock.advance(61)
    await untilGone(href)
  })

  it('AD-4.2-09 the end of a lease is expires_at in the other views and lt in this one', async () => {
    const started = clock.now()
    const href = await register(directory, 'a', { base: BASE }, { lt: 600 })
    for (const path of ['/agents/a', '/discover/agents/a']) {
      const end = Date.parse((await directory.get(path)).json.expires_at)
      expect(end - started, path).toBeGreaterThanOrEqual(600_000)
      expect(end - started, path).toBeLessThan(602_000)
    }
    const { json } = await directory.get(href)
    expect(json.lt).toBe(600)
    // If a publisher sent expires_at back, it would become a fixed end that no refresh moves.
    expect(json).not.toHaveProperty('expires_at')
  })

  it('AD-4.5-02 the earlier of lease end and expires_at applies, and a refresh does not move expires_at', async () => {
    const href = await register(directory, 'a', { base: BASE, expires_at: after(100) }, { lt: 60 })
    const late = await register(directory, 'b', { base: BASE, expires_at: after(100) }, { lt: 60 })
    clock.advance(50)
    await directory.post(`${href}?lt=3600`, tokA)
    clock.advance(11)
    await untilGone(late)
    expect(await lookUp(directory)).toEqual(['a'])
    clock.advance(40)
    await untilGone(href)
  })

  it('AD-4.5-02 an agent of another draft ends at its expires_at, refreshed or not', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'aidip', expires_at: after(100) }) })
    const [{ href }] = (await directory.get('/ad/l')).json.agents
    await directory.post(`${href}?lt=3600`, tokA)
    expect((await directory.get('/agents/aidip')).json.expires_at).toMatch(/Z$/)
    clock.advance(101)
    await untilGone(href)
    expect((await directory.get(href)).json.type).toMatch(/\/registration-expired$/)
  })
})

describe('a step of the clock', () => {
  const end = (seconds: number): string => new Date(clock.now() + seconds * 1000).toISOString()

  it('forward does not end leases, which keep the time that they had left', async () => {
    const href = await register(directory, 'a', { base: BASE }, { lt: 60 })
    clock.step(3600)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['a'])
    clock.advance(40)
    expect((await directory.post(href, tokA)).status).toBe(204)
    clock.advance(40)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['a'])
    clock.advance(21)
    await untilGone(href)
  })

  it('back does not extend leases, and they can still be refreshed', async () => {
    const left = await register(directory, 'left', { base: BASE }, { lt: 60 })
    const kept = await register(directory, 'kept', { base: BASE }, { lt: 60 })
    clock.step(-3600)
    clock.advance(40)
    expect((await directory.post(kept, tokA)).status).toBe(204)
    clock.advance(21)
    await untilGone(left)
    clock.advance(20)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['kept'])
    clock.advance(20)
    await untilGone(kept)
  })

  it('forward ends documents by their expires_at only after their owners had time to renew them', async () => {
    for (const id of ['renewed', 'left'])
      await directory.post('/agents', { ...tokA, body: aidipAgent({ id, expires_at: end(100) }) })
    clock.step(86_400)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['renewed', 'left'])
    await directory.put('/agents/renewed', { ...tokA, body: aidipAgent({ expires_at: end(3600) }) })
    clock.advance(901)
    await untilGone('/agents/left')
    expect(await lookUp(directory)).toEqual(['renewed'])
  })
})

describe('a restart', () => {
  it('AD-4.5-02 keeps the remaining lifetime', async () => {
    const href = await register(directory, 'a', { base: BASE }, { lt: 60 })
    clock.advance(30)
    await directory.restart()
    expect(await lifetimeOf(href)).toBe(60)
    clock.advance(20)
    await waitForClock()
    expect(await lookUp(directory)).toEqual(['a'])
    clock.advance(11)
    await untilGone(href)
  })

  it('AD-4.5-02 restores nothing that expired before or during it', async () => {
    const before = await register(directory, 'before', { base: BASE }, { lt: 60 })
    clock.advance(30)
    const during = await register(directory, 'during', { base: BASE }, { lt: 60 })
    clock.advance(31)
    await untilGone(before)
    const restarted = directory.restart()
    clock.advance(31)
    await restarted
    await untilGone(during)
    expect(await lookUp(directory)).toEqual([])
    for (const path of [before, during]) {
      expect((await directory.get(path)).json.type).toMatch(/\/registration-expired$/)
    }
    await directory.restart()
    expect(await lookUp(directory)).toEqual([])
  })
})
