import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { lookUp, register } from './register.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({
    policy: {
      ...DEFAULTS.policy,
      names: [{ names: ['corp-*'], subjects: ['tokA'] }],
      owners: [{ names: ['plant-7-*'], subject: 'plant-7' }],
      capabilities: [
        { name: 'financial-analysis', scope: 'fin' },
        { type: 'prompt', subjects: ['tokA'] },
      ],
    },
  })
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const
const tokB = { as: 'tokB' } as const
const BASE = 'https://agents.example.com/a'

describe('an owner', () => {
  it('AD-8.2-01 needs credentials', async () => {
    const answer = await directory.post('/ad/r?agent=x', { body: { base: BASE } })
    expectError(answer, { status: 401, code: 'unauthorized' })
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/)
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
    expect(await lookUp(directory)).toEqual([])
    const wrong = await directory.post('/ad/r?agent=x', { key: 'sb_never-made', body: { base: BASE } })
    expect(wrong.status).toBe(401)
    expect(wrong.headers.get('www-authenticate')).toMatch(/invalid_token/)
  })

  it('AD-2.1-02 AD-8.3-01 is the only caller who can change or delete a registration', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    const before = await directory.get(href)
    for (const answer of [
      await directory.post(href, tokB),
      await directory.post(href, { ...tokB, body: { base: 'https://attacker.example.org/' } }),
      await directory.post(`${href}?lt=60`, tokB),
      await directory.delete(href, tokB),
    ]) {
      expectError(answer, { status: 403, code: 'forbidden' })
    }
    for (const answer of [await directory.post(href), await directory.delete(href)]) expect(answer.status).toBe(401)
    expect((await directory.get(href)).text).toBe(before.text)
  })

  it('AD-8.2-04 is identified by the subject of the credential, not by the key', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    const second = await directory.makeKey({ subject: 'tokA', scopes: ['publish'] })
    expect((await directory.post(href, { key: second })).status).toBe(204)
    const { status } = await directory.post('/ad/r?agent=worker', { key: second, body: fixture('FX-OR') })
    expect(status).toBe(200)
    expect((await directory.delete(href, { key: second })).status).toBe(204)
  })

  it('AD-8.2-04 needs the publish scope: a discover key can neither register nor change', async () => {
    expectError(await directory.post('/ad/r?agent=x', { as: 'tokC', body: { base: BASE } }), { status: 403 })
    const href = await register(directory, 'worker', fixture('FX-OR'))
    const reader = await directory.makeKey({ subject: 'tokA', scopes: ['discover'] })
    expectError(await directory.post(href, { key: reader }), { status: 403 })
    expectError(await directory.delete(href, { key: reader }), { status: 403 })
  })

  it('AD-8.3-01 is the same in all drafts', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'probe' }) })
    const [{ href }] = (await directory.get('/ad/l')).json.agents
    expectError(await directory.post(href, tokB), { status: 403 })
    expect((await directory.post(href, tokA)).status).toBe(204)
    const adHref = await register(directory, 'worker', fixture('FX-OR'))
    expectError(await directory.put('/agents/worker', { ...tokB, body: aidipAgent() }), { status: 403 })
    expectError(await directory.delete('/agents/worker', tokB), { status: 403 })
    expect((await directory.get(adHref)).json.base).toBe(fixture('FX-OR').base)
  })

  it('AD-8.3-01 can be overridden by an administrator', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    expect((await directory.post(href, { as: 'admin', body: { description: 'Seen to.' } })).status).toBe(204)
    expectError(await directory.post('/ad/r?agent=worker', { ...tokB, body: { base: BASE } }), { status: 409 })
    expect((await directory.delete(href, { as: 'admin' })).status).toBe(204)
  })

  it('AD-8.2-07 leaves an audit entry for every change', async () => {
    const href = await register(directory, 'audited', fixture('FX-OR'))
    await directory.post(href, { ...tokA, body: { description: 'Routes orders to other places.' } })
    await directory.post(href, tokA)
    await directory.delete(href, tokA)
    const { json } = await directory.get('/admin/audit?agent=audited', { as: 'admin' })
    expect(json.entries).toMatchObject(
      ['remove', 'refresh', 'update', 'register'].map((action) => ({ action, actor: 'tokA', agent: 'audited' })),
    )
  })
})

describe('a name', () => {
  it('AD-7.1-01 can be reserved by the operator for certain subjects', async () => {
    expectError(await directory.post('/ad/r?agent=corp-mail', { ...tokB, body: { base: BASE } }), { status: 403 })
    expect(await lookUp(directory)).toEqual([])
    await register(directory, 'corp-mail', { base: BASE })
    const elsewhere = await directory.post('/agents', { ...tokB, body: aidipAgent({ id: 'corp-post' }) })
    expectError(elsewhere, { status: 403 })
  })

  it('AD-7.1-01 must match the name patterns of the credential, if it has any', async () => {
    const key = await directory.makeKey({ subject: 'tokB', scopes: ['publish'], names: ['lab-*'] })
    expectError(await directory.post('/ad/r?agent=x', { key, body: { base: BASE } }), { status: 403 })
    expect((await directory.post('/ad/r?agent=lab-x', { key, body: { base: BASE } })).status).toBe(201)
  })

  it('AD-7.1-03 in use cannot be claimed by another owner: 409', async () => {
    await register(directory, 'worker', { base: BASE })
    expectError(await directory.post('/ad/r?agent=worker', { ...tokB, body: { base: BASE } }), { status: 409 })
  })

  it('AD-7.1-03 of a hidden agent is taken too, and the 409 reveals nothing else (C-33)', async () => {
    const href = await register(directory, 'hidden', { base: BASE, description: 'A secret.', visibility: 'private' })
    const claim = await directory.post('/ad/r?agent=hidden', { ...tokB, body: { base: BASE } })
    expectError(claim, { status: 409 })
    expect(claim.text).not.toMatch(/secret|tokA/)
    for (const answer of [await directory.post(href, tokB), await directory.delete(href, tokB)]) {
      expectError(answer, { status: 404, code: 'not_found' })
    }
  })

  it('AD-7.1-02 goes to the first claim, even among many at once', async () => {
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        directory.post('/ad/r?agent=race', { as: i % 2 === 0 ? 'tokA' : 'tokB', body: { base: BASE } }),
      ),
    )
    const statuses = claims.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 200)).toHaveLength(9)
    expect(statuses.filter((status) => status === 409)).toHaveLength(10)
  })
})

describe('a capability', () => {
  const claim = (name: string, type: string) => ({ base: BASE, capabilities: [{ name, type }] })

  it('AD-7.3-01 can be reserved for credentials with a scope, in registrations and updates', async () => {
    const body = claim('financial-analysis', 'skill')
    expectError(await directory.post('/ad/r?agent=bank', { ...tokB, body }), { status: 403 })
    expect(await lookUp(directory)).toEqual([])
    const href = await register(directory, 'bank', { base: BASE }, tokB)
    const { capabilities } = body
    expectError(await directory.post(href, { ...tokB, body: { capabilities } }), { status: 403 })
    const key = await directory.makeKey({ subject: 'tokB', scopes: ['publish', 'fin'] })
    expect((await directory.post(href, { key, body: { capabilities } })).status).toBe(204)
    expect(await lookUp(directory, '?cap_name=financial-analysis')).toEqual(['bank'])
  })

  it('AD-7.3-01 type can be reserved for subjects', async () => {
    expectError(await directory.post('/ad/r?agent=x', { ...tokB, body: claim('ask', 'prompt') }), { status: 403 })
    await register(directory, 'x', claim('ask', 'prompt'))
  })
})

describe('a commissioning tool', () => {
  it('AD-2-01 AD-8.3-01 registers, updates and removes the agents that its name patterns match', async () => {
    const key = await directory.makeKey({ subject: 'tool', scopes: ['ct'], names: ['robot-*'] })
    const { status, headers } = await directory.post('/ad/r?agent=robot-1', { key, body: { base: BASE } })
    expect(status).toBe(201)
    const href = headers.get('location') ?? ''
    expect((await directory.post(href, { key, body: { description: 'Robot one.' } })).status).toBe(204)
    const theirs = await register(directory, 'robot-2', { base: BASE }, tokB)
    expect((await directory.post(theirs, { key })).status).toBe(204)
    expect((await directory.delete(theirs, { key })).status).toBe(204)
    expect((await directory.delete(href, { key })).status).toBe(204)
  })

  it('AD-8.3-01 has no access to any other agent', async () => {
    const key = await directory.makeKey({ subject: 'tool', scopes: ['ct'], names: ['robot-*'] })
    const href = await register(directory, 'worker', { base: BASE })
    expectError(await directory.post(href, { key }), { status: 403 })
    expectError(await directory.delete(href, { key }), { status: 403 })
    expectError(await directory.post('/ad/r?agent=other', { key, body: { base: BASE } }), { status: 403 })
    const nameless = await directory.makeKey({ subject: 'tool', scopes: ['ct'] })
    expectError(await directory.post('/ad/r?agent=other', { key: nameless, body: { base: BASE } }), { status: 403 })
    expect(await lookUp(directory)).toEqual(['worker'])
  })

  it('AD-2-01 registers on behalf of the owner that the policy maps the name to (C-43)', async () => {
    const key = await directory.makeKey({ subject: 'tool', scopes: ['ct'], names: ['plant-7-*'] })
    const { headers } = await directory.post('/ad/r?agent=plant-7-pump', { key, body: { base: BASE } })
    const href = headers.get('location') ?? ''
    const owner = await directory.makeKey({ subject: 'plant-7', scopes: ['publish'] })
    expect((await directory.post(href, { key: owner })).status).toBe(204)
    expect((await directory.post(href, { key })).status).toBe(204)
    expectError(await directory.post(href, tokA), { status: 403 })
  })
})

describe('a private registration', () => {
  it('AD-7.2-01 AD-8.4-01 is visible to its owner, administrators and subjects with a grant only', async () => {
    const href = await register(directory, 'hidden', { ...fixture('FX-KB'), visibility: 'private' })
    await register(directory, 'open', fixture('FX-KB'))
    const sees = async (as: 'anon' | 'tokA' | 'tokB' | 'tokC' | 'admin'): Promise<boolean> => {
      const found = (await lookUp(directory, '?cap_name=search_kb&tag=nlp', as)).includes('hidden')
      expect((await directory.get(href, { as })).status, as).toBe(found ? 200 : 404)
      return found
    }
    expect(await sees('anon')).toBe(false)
    expect(await sees('tokB')).toBe(false)
    expect(await sees('tokC')).toBe(false)
    expect(await sees('tokA')).toBe(true)
    expect(await sees('admin')).toBe(true)
    const body = { subject: 'tokC', agent: 'hidden', scopes: ['discover'] }
    const { json } = await directory.post('/admin/grants', { as: 'admin', body })
    expect(await sees('tokC')).toBe(true)
    expect(await sees('tokB')).toBe(false)
    await directory.delete(`/admin/grants/${json.id}`, { as: 'admin' })
    expect(await sees('tokC')).toBe(false)
  })

  it('AD-7.2-01 can be granted by tag (C-95)', async () => {
    await register(directory, 'hidden', { ...fixture('FX-KB'), visibility: 'private' })
    const body = { subject: 'tokC', tag: 'nlp', scopes: ['discover'] }
    await directory.post('/admin/grants', { as: 'admin', body })
    expect(await lookUp(directory, '', 'tokC')).toEqual(['hidden'])
  })

  it('AD-7.2-01 is what the draft calls restricted; visibility "restricted" here hides nothing from lookups (C-95)', async () => {
    await register(directory, 'restricted', { ...fixture('FX-KB'), visibility: 'restricted' })
    expect(await lookUp(directory)).toEqual(['restricted'])
  })
})
