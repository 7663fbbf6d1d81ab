import type { JsonObject } from '@switchboard/protocol'
import { signDocument } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestCaller, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { createSigner } from './publisher-host.js'

let clock: TestClock
let directory: TestDirectory

beforeAll(async () => {
  clock = createTestClock()
  directory = await startDirectory({}, clock)
})
afterAll(() => directory.close())
afterEach(() => directory.clear())

const register = (changes: JsonObject = {}, as: TestCaller = 'tokA'): Promise<TestResponse> =>
  directory.post('/agents', { as, body: aidipAgent({ id: 'x', ...changes }) })
const offer = (as: TestCaller = 'tokA', to = 'tokB'): Promise<TestResponse> =>
  directory.post('/transfers', { as, body: { agent: 'x', to } })
const accept = (as: TestCaller = 'tokB'): Promise<TestResponse> => directory.post('/transfers/x/accept', { as })
const verification = async (): Promise<JsonObject> =>
  (await directory.get('/agents/x', { as: 'admin' })).json.verification
const mayChange = async (as: TestCaller): Promise<boolean> =>
  (await directory.put('/agents/x', { as, body: aidipAgent({ description: `Changed by ${as}, at last.` }) })).status ===
  200

describe('a transfer', () => {
  it('gives the agent to the one who accepts, with its number and its document', async () => {
    await register({ tags: ['kept'] })
    const before = await directory.get('/ad/l?agent=x', { as: 'admin' })
    const offered = await offer()
    expect(offered.status, offered.text).toBe(202)
    expect(offered.json).toEqual({ agent: 'x', from: 'tokA', to: 'tokB', expires_at: expect.any(String) })
    expect((await directory.get('/transfers/x', { as: 'tokB' })).json).toEqual(offered.json)
    expect(await mayChange('tokB')).toBe(false)

    const accepted = await accept()
    expect(accepted.status, accepted.text).toBe(200)
    expect(accepted.json).toEqual({ agent: 'x', owner: 'tokB' })
    expect((await directory.get('/ad/l?agent=x', { as: 'admin' })).text).toBe(before.text)
    expect((await directory.get('/agents/x')).json.tags).toEqual(['kept'])
    expect(await mayChange('tokA')).toBe(false)
    expect(await mayChange('tokB')).toBe(true)
    expectError(await accept(), { status: 404 })
  })

  it('survives a restart before it is accepted, and after', async () => {
    await register()
    await offer()
    await directory.restart()
    expect((await accept()).status).toBe(200)
    await directory.restart()
    expect(await mayChange('tokB')).toBe(true)
  })

  it('drops what the operator said in favour of the agent and keeps what warns of it', async () => {
    const signer = await createSigner()
    await directory.post('/agents', { as: 'tokA', body: await signDocument(aidipAgent({ id: 'x' }), signer.key()) })
    const marks = { verification: 'verified', certification: { level: 'gold' }, quality_score: 5, unsafe: true }
    await directory.patch('/admin/agents/x', { as: 'admin', body: marks })
    await offer()
    await accept()
    expect(await verification()).toMatchObject({ state: 'self-asserted', unsafe: true, signature: { state: 'valid' } })
    for (const name of ['certification', 'quality_score', 'by']) expect(await verification()).not.toHaveProperty(name)
  })

  it('does not extend grants, ratings and credentials to the new owner', async () => {
    await register({ visibility: 'private' })
    await directory.post('/admin/grants', {
      as: 'admin',
      body: { subject: 'tokC', agent: 'x', scopes: ['discover', 'invoke'] },
    })
    await directory.put('/admin/agents/x/credential', { as: 'admin', body: { type: 'api_key', secret: 'k' } })
    await directory.post('/agents/x/feedback', { as: 'tokC', body: { rating: 5 } })
    expect((await directory.get('/agents/x', { as: 'tokC' })).status).toBe(200)
    await offer()
    await accept()
    expect((await directory.get('/agents/x', { as: 'tokC' })).status).toBe(404)
    expect((await directory.get('/agents/x', { as: 'tokA' })).status).toBe(404)
    expect(await verification()).not.toHaveProperty('reputation')
    expectError(await directory.get('/admin/agents/x/credential', { as: 'admin' }), { status: 404 })
  })

  it('is done at once by an administrator', async () => {
    await register()
    expect((await offer('admin')).json).toEqual({ agent: 'x', owner: 'tokB' })
    expect(await mayChange('tokB')).toBe(true)
  })

  it('leaves entries of both in the audit log', async () => {
    await register()
    await offer()
    await accept()
    const { json } = await directory.get('/admin/audit?agent=x&limit=3', { as: 'admin' })
    expect(json.entries).toMatchObject([
      { actor: 'tokB', action: 'transfer', before: { owner: 'tokA' }, after: { owner: 'tokB' } },
      { actor: 'tokB', action: 'transfer.accept' },
      { actor: 'tokA', action: 'transfer.offer', detail: 'to tokB' },
    ])
  })
})

describe('an offer', () => {
  it('can be made by the owner only, of an agent that exists, to somebody else', async () => {
    await register()
    expectError(await offer('tokB', 'tokC'), { status: 403 })
    expectError(await offer('tokA', 'tokA'), { status: 400, member: '/to' })
    expectError(await directory.post('/transfers', { as: 'tokA', body: { agent: 'x' } }), { status: 400 })
    expectError(await directory.post('/transfers', { body: { agent: 'x', to: 'tokB' } }), { status: 401 })
    expectError(await directory.post('/transfers', { as: 'tokA', body: { agent: 'y', to: 'tokB' } }), { status: 404 })
  })

  it('can be withdrawn by the owner and declined by the other', async () => {
    await register()
    for (const as of ['tokA', 'tokB'] as const) {
      await offer()
      expect((await directory.delete('/transfers/x', { as })).status).toBe(204)
      expectError(await accept(), { status: 404 })
    }
    const { json } = await directory.get('/admin/audit?agent=x', { as: 'admin' })
    const actions = json.entries.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['transfer.withdraw', 'transfer.decline']))
  })

  it('is listed for both, and for nobody else, until it ends', async () => {
    const listed = async (as: TestCaller): Promise<JsonObject[]> =>
      (await directory.get('/transfers', { as })).json.transfers
    await register({ visibility: 'private' })
    const offered = (await offer()).json
    for (const as of ['tokA', 'tokB', 'admin'] as const) expect(await listed(as)).toEqual([offered])
    expect(await listed('tokC')).toEqual([])
    expectError(await directory.get('/transfers', { as: 'anon' }), { status: 401 })
    await accept()
    for (const as of ['tokA', 'tokB', 'admin'] as const) expect(await listed(as)).toEqual([])
  })

  it('replaces an earlier one', async () => {
    await register()
    await offer('tokA', 'tokB')
    await offer('tokA', 'tokC')
    expectError(await accept('tokB'), { status: 404 })
  })

  it('expires after two weeks', async () => {
    await register()
    await offer()
    clock.advance(14 * 86_400 + 1)
    expectError(await accept(), { status: 404 })
  })

  it('ends when the agent is removed, even if its owner registers it again', async () => {
    await register()
    await offer()
    await directory.delete('/agents/x', { as: 'tokA' })
    await register()
    expectError(await accept(), { status: 404 })
  })

  it('of a private agent is open to the one it is made to, and nobody else learns of it', async () => {
    await register({ visibility: 'private' })
    const strangers = async (): Promise<string[]> => {
      const requests = [
        directory.get('/transfers/x', { as: 'tokC' }),
        directory.post('/transfers/x/accept', { as: 'tokC' }),
        directory.delete('/transfers/x', { as: 'tokC' }),
        directory.post('/transfers', { as: 'tokC', body: { agent: 'x', to: 'tokB' } }),
        directory.get('/agents/x', { as: 'tokC' }),
      ]
      return (await Promise.all(requests)).map(({ status, json }) => `${status} ${json?.error?.message}`)
    }
    const before = await strangers()
    expect(new Set(before)).toEqual(new Set(['404 there is no agent "x"']))
    await offer()
    expect(await strangers()).toEqual(before)
    expect((await accept()).status).toBe(200)
  })

  it('of a public agent is not visible to strangers, who get the same response with and without it', async () => {
    await register()
    const read = async () => {
      const [agent, transfer] = [
        await directory.get('/agents/x', { as: 'tokC' }),
        await directory.get('/transfers/x', { as: 'tokC' }),
      ]
      return [agent.text, agent.headers.get('etag'), transfer.status, transfer.json.error.message]
    }
    const before = await read()
    await offer()
    expect(await read()).toEqual(before)
  })

  it('is accepted only by someone who may own the name', async () => {
    const names = [{ names: ['x'], subjects: ['tokA'] }]
    await directory.restart({ policy: { ...DEFAULTS.policy, names } })
    await register()
    await offer()
    expectError(await accept(), { status: 403, says: 'reserved' })
    const key = await directory.makeKey({ subject: 'tokB', scopes: ['publish'], names: ['other-*'] })
    expectError(await directory.post('/transfers/x/accept', { key }), { status: 403, says: 'does not cover' })
    const reader = await directory.makeKey({ subject: 'tokB', scopes: ['discover'] })
    expectError(await directory.post('/transfers/x/accept', { key: reader }), { status: 403, says: 'publish' })
    await directory.restart()
    expect((await accept()).status).toBe(200)
  })

  it('is taken once, whoever accepts and withdraws at the same time', async () => {
    await register()
    await offer()
    const results = await Promise.all([accept(), accept(), directory.delete('/transfers/x', { as: 'tokA' })])
    expect(results.filter(({ status }) => status < 300)).toHaveLength(1)
  })
})
