import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'

/** Milliseconds that a pull may take on a busy machine. */
const PATIENCE = { timeout: 20_000, interval: 50 }

let clock: TestClock
let origin: TestDirectory
let reader: TestDirectory

beforeEach(async () => {
  clock = createTestClock()
  origin = await startDirectory({}, clock)
  reader = await startDirectory({}, clock)
})
afterEach(async () => {
  await Promise.all([origin.close(), reader.close()])
})

const addPeer = (more: object = {}) =>
  reader.post('/admin/peers', {
    as: 'admin',
    body: { name: 'origin', url: origin.url, trust: 'full', interval_seconds: 1, ...more },
  })

const eventually = (check: () => Promise<void>) => vi.waitFor(check, PATIENCE)
const statusOf = async (id: string) => (await reader.get(`/agents/${encodeURIComponent(id)}`)).status
const isCopied = (id: string) => eventually(async () => expect(await statusOf(id)).toBe(200))
const isGone = (id: string) => eventually(async () => expect(await statusOf(id)).toBe(404))
const register = (directory: TestDirectory, id: string, changes = {}) =>
  directory.post('/agents', { as: 'tokA', body: aidipAgent({ id, name: id, ...changes }) })

describe('an agent of a peer', () => {
  it('PROF-10-01, PROF-10-02, PROF-10-03, AD-2.3-01 is found and shown with its origin', async () => {
    await register(origin, 'lexi', { description: 'Summarises contracts about quokkas.' })
    expect((await addPeer()).status).toBe(201)
    await isCopied('lexi')
    const provenance = {
      origin_service: origin.url,
      origin_authority: new URL(origin.url).host,
      origin_signature: { jws: expect.any(String), kid: expect.any(String) },
      received_at: expect.any(String),
      path: [origin.url],
    }
    const { json } = await reader.post('/discover', { body: { query: 'quokka contracts' } })
    expect(json.candidates).toMatchObject([{ id: 'lexi', provenance }])
    expect((await reader.get('/discover/agents/lexi')).json).toMatchObject({ provenance })
    expect((await reader.get('/agents/lexi')).json).toMatchObject({ origin_service: origin.url })
    const found = await reader.get('/ad/l?agent=lexi')
    expect(found.json.agents).toMatchObject([{ agent: 'lexi', origin_service: origin.url }])
    expect((await reader.get(found.json.agents[0].href)).json).toMatchObject({ origin_service: origin.url })
    expect((await reader.post('/agents/search', { body: { query: 'quokka' } })).json).toMatchObject([
      { id: 'lexi', origin_service: origin.url },
    ])
    const peers = await reader.get('/admin/peers', { as: 'admin' })
    expect(peers.json.peers).toMatchObject([
      { name: 'origin', protocol: 'feed', last_heard_at: expect.any(String), failures: 0, agents: { listed: 1 } },
    ])
  })

  it('PROF-10-04, PROF-14-07 has the freshness, redaction and credentials of its origin', async () => {
    const document = fixture('FX-HR', { identity: 'did:web:hr.example', private: ['constraints'] })
    await origin.post('/discover/agents', { as: 'tokA', body: document })
    await origin.post('/ad/r?agent=summarizer-v2&lt=600', { as: 'tokA', body: fixture('FX-SUM') })
    const id = String(document.id)
    await addPeer()
    await isCopied(id)
    await isCopied('summarizer-v2')
    for (const each of [id, 'summarizer-v2']) {
      const path = `/discover/agents/${encodeURIComponent(each)}`
      const [there, here] = [(await origin.get(path)).json, (await reader.get(path)).json]
      expect(here.freshness).toEqual(there.freshness)
      expect(here.redacted).toEqual(there.redacted)
      expect(here.expires_at).toEqual(there.expires_at)
    }
    const body = { query: 'hr onboarding summaries', detail: 'summary' }
    const refsOf = async (directory: TestDirectory) =>
      Object.fromEntries(
        (await directory.post('/discover', { body })).json.candidates.map(
          (each: { id: string; credential_refs: unknown; redacted: unknown }) => [
            each.id,
            [each.credential_refs, each.redacted],
          ],
        ),
      )
    const refs = await refsOf(origin)
    expect(refs[id]).toEqual([['did:web:hr.example'], true])
    expect(await refsOf(reader)).toEqual(refs)
  })

  it('follows changes and removals at its origin', async () => {
    await register(origin, 'a')
    await register(origin, 'b')
    await addPeer()
    await isCopied('b')
    await origin.put('/agents/a', { as: 'tokA', body: aidipAgent({ id: 'a', description: 'Another text.' }) })
    await origin.delete('/agents/b', { as: 'tokA' })
    await isGone('b')
    await eventually(async () => expect((await reader.get('/agents/a')).json.description).toBe('Another text.'))
    await origin.put('/agents/a', { as: 'tokA', body: aidipAgent({ id: 'a', visibility: 'private' }) })
    await isGone('a')
  })

  it('does not take the place of a local one, and gives way to it', async () => {
    await register(reader, 'mine', { description: 'Local.' })
    await register(origin, 'mine', { description: 'Remote.' })
    await register(origin, 'other', { description: 'Remote.' })
    await addPeer()
    await isCopied('other')
    expect((await reader.get('/agents/mine')).json).toMatchObject({ description: 'Local.' })
    expect((await reader.get('/agents/mine')).json.origin_service).toBeUndefined()
    expect((await register(reader, 'other', { description: 'Local now.' })).status).toBe(201)
    const { json } = await reader.get('/agents/other')
    expect(json.description).toBe('Local now.')
    expect(json.provenance).toBeUndefined()
    await reader.delete('/agents/mine', { as: 'tokA' })
    await eventually(async () => expect((await reader.get('/agents/mine')).json.description).toBe('Remote.'))
  })

  it('can be changed only at its origin', async () => {
    await register(origin, 'a')
    await addPeer()
    await isCopied('a')
    const body = aidipAgent({ id: 'a' })
    expect((await reader.put('/agents/a', { as: 'tokA', body })).status).toBe(403)
    expect((await reader.put('/agents/a', { as: 'admin', body })).status).toBe(409)
    expect((await reader.delete('/agents/a', { as: 'admin' })).status).toBe(409)
    const [{ href }] = (await reader.get('/ad/l?agent=a')).json.agents
    expect((await reader.post(href, { as: 'admin' })).status).toBe(409)
    expect((await reader.post('/transfers', { as: 'admin', body: { agent: 'a', to: 'tokA' } })).status).toBe(409)
    expect((await reader.patch('/admin/agents/a', { as: 'admin', body: { unsafe: true } })).status).toBe(200)
  })

  it('AD-2.3-02 keeps its lifetime, and lapses when the peer is lost', async () => {
    await origin.post('/ad/r?agent=summarizer-v2&lt=600', { as: 'tokA', body: fixture('FX-SUM') })
    await register(origin, 'lasting')
    await addPeer({ keep_seconds: 3600 })
    await isCopied('summarizer-v2')
    await isCopied('lasting')
    await origin.close()
    clock.advance(300)
    await eventually(async () =>
      expect((await reader.get('/discover/agents/lasting')).json.provenance).toMatchObject({
        stale: true,
        last_heard_at: expect.any(String),
      }),
    )
    expect((await reader.get('/agents/summarizer-v2')).json.verification.peer).toMatchObject({ stale: true })
    const { json } = await reader.post('/discover', { body: { query: 'probe made for a test' } })
    expect(json).toMatchObject({
      candidates: [{ id: 'lasting' }],
      warnings: [expect.stringContaining('has not been heard')],
    })
    expect((await reader.get('/agents')).headers.get('x-switchboard-warnings')).toContain('has not been heard')
    clock.advance(301)
    await isGone('summarizer-v2')
    expect(await statusOf('lasting')).toBe(200)
    clock.advance(3600)
    await isGone('lasting')
    origin = await startDirectory({}, clock)
  })

  it('disappears when the peer is removed, and waits for review in quarantine', async () => {
    await register(origin, 'a')
    await addPeer()
    await isCopied('a')
    await reader.delete('/admin/peers/origin', { as: 'admin' })
    await isGone('a')
    await addPeer({ trust: 'quarantine' })
    const waiting = async () => (await reader.get('/admin/quarantine', { as: 'admin' })).json.agents
    await eventually(async () =>
      expect(await waiting()).toMatchObject([{ agent: 'a', peer: 'origin', is_signed: true }]),
    )
    expect(await statusOf('a')).toBe(404)
    const decide = (decision: string) =>
      reader.post('/admin/quarantine', { as: 'admin', body: { agent: 'a', peer: 'origin', decision } })
    expect((await decide('accept')).status).toBe(200)
    expect(await statusOf('a')).toBe(200)
    expect(await waiting()).toEqual([])
    await decide('reject')
    expect(await statusOf('a')).toBe(404)
    expect((await reader.patch('/admin/peers/origin', { as: 'admin', body: { trust: 'none' } })).status).toBe(200)
    await register(origin, 'b')
    const counts = async () => (await reader.get('/admin/peers', { as: 'admin' })).json.peers[0].agents
    await eventually(async () => expect(await counts()).toEqual({}))
    expect(await statusOf('b')).toBe(404)
  })
})
