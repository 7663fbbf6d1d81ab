import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import {
  addPeer,
  entryOf,
  eventually,
  type HostilePeer,
  sendJson,
  serve,
  startHostilePeer,
  stateOf,
} from './hostile.js'

let honest: TestDirectory
let reader: TestDirectory
let hostile: HostilePeer

beforeAll(async () => {
  const policy = { ...DEFAULTS.policy, names: [{ names: ['reserved-*'], subjects: [] }] }
  ;[honest, reader] = await Promise.all([startDirectory(), startDirectory({ policy })])
})
afterAll(() => Promise.all([honest.close(), reader.close()]))
beforeEach(async () => {
  hostile = await startHostilePeer()
})
afterEach(async () => {
  for (const { name } of (await reader.get('/admin/peers', { as: 'admin' })).json.peers)
    await reader.delete(`/admin/peers/${name}`, { as: 'admin' })
  await eventually(async () => {
    for (const { id, origin_service: origin } of (await reader.get('/agents?top=100', { as: 'admin' })).json)
      expect(origin, id).toBeUndefined()
  })
  await Promise.all([honest.clear(), reader.clear(), hostile.close()])
})

const register = async (directory: TestDirectory, id: string, changes = {}): Promise<void> => {
  const { status } = await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id, name: id, ...changes }) })
  expect(status).toBe(201)
}
const get = (id: string) => reader.get(`/agents/${encodeURIComponent(id)}`)
const provenanceOf = async (id: string) => (await reader.get(`/discover/agents/${id}`)).json.provenance
const isGone = (id: string) => eventually(async () => expect((await get(id)).status).toBe(404))
const isRefused = (reason: string) =>
  eventually(async () => expect((await stateOf(reader, 'hostile')).last_refusal ?? '').toContain(reason))

describe('a hostile peer', () => {
  it('PROF-10-02 cannot show its agents as those of another directory', async () => {
    await register(honest, 'real')
    const { record } = await entryOf(honest, 'real')
    const forged = (id: string, changes: object) => ({
      ...hostile.entry(id, { record: { origin_service: honest.url, ...changes }, path: [honest.url] }),
    })
    const signedByItself = forged('self-signed', {})
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [
      forged('unsigned', {}),
      forged('borrowed', { signature: record.signature }),
      { ...signedByItself, record: await hostile.sign(signedByItself.record) },
      { record: { ...record, document: aidipAgent({ name: 'Changed' }) }, path: [honest.url, hostile.url] },
      { record: { ...record, expires_at: '2999-01-01T00:00:00Z' }, path: [honest.url, hostile.url] },
      { record: { ...record, valid_until: '2999-01-01T00:00:00Z' }, path: [honest.url, hostile.url] },
      { record: { ...record, gateway: `${hostile.url}/steal` }, path: [honest.url, hostile.url] },
    ])
    for (const id of ['unsigned', 'borrowed', 'self-signed']) {
      const provenance = await provenanceOf(id)
      expect(provenance).toMatchObject({ origin_service: hostile.url, path: [hostile.url] })
      expect(provenance.origin_signature).toBeUndefined()
    }
    expect((await get('real')).status).toBe(404)
    expect(await stateOf(reader, 'hostile')).toMatchObject({ refused: 4, agents: { listed: 4 } })
  })

  it('PROF-10-02 cannot pass on a signed agent with a path that starts elsewhere', async () => {
    await register(honest, 'real')
    const { record } = await entryOf(honest, 'real')
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [{ record, path: ['https://bank.example', hostile.url] }])
    expect((await get('real')).status).toBe(404)
    await isRefused('does not start at its origin')
    await serve(reader, hostile, [{ record, path: [`${honest.url}\\.bank.example`, hostile.url] }])
    expect((await get('real')).status).toBe(404)
    await serve(reader, hostile, [{ record, path: [honest.url, hostile.url] }])
    expect(await provenanceOf('real')).toMatchObject({ origin_service: honest.url, path: [honest.url, hostile.url] })
  })

  it('cannot set what only this directory says: verification, certification, quality, safety, origin', async () => {
    const claims = {
      verification: { state: 'verified', domain: { state: 'verified' }, signature: { state: 'valid' } },
      certification: { level: 'gold' },
      certified: true,
      quality_score: 1,
      unsafe: false,
      provenance: { origin_service: honest.url, origin_signature: { jws: 'x', kid: 'y' } },
      origin_service: honest.url,
      peer: { stale: false },
      crawled: { at: '2026-01-01T00:00:00Z' },
    }
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [
      hostile.entry('boaster', {
        document: claims,
        record: { ...claims, marks: claims, owner: 'tokA', state: 'accepted' },
      }),
    ])
    const views = await Promise.all([
      get('boaster'),
      reader.get('/discover/agents/boaster'),
      reader.get('/ad/l?agent=boaster'),
      reader.post('/agents/search', { body: { query: 'boaster' } }),
      reader.post('/discover', { body: { query: 'boaster' } }),
    ])
    for (const { text, status } of views) {
      expect(status).toBe(200)
      expect(text).toContain('boaster')
      expect(text).not.toMatch(/"verified"|"valid"/)
      expect(text).not.toContain(honest.url)
    }
    expect((await reader.delete('/agents/boaster', { as: 'tokA' })).status).toBe(403)
  })

  it('cannot replace agents that are registered here, or those of another peer', async () => {
    await register(reader, 'ours', { description: 'Registered here.' })
    await register(honest, 'theirs', { description: 'Registered at an honest peer.' })
    await addPeer(reader, 'honest', honest)
    await eventually(async () => expect((await get('theirs')).status).toBe(200))
    await addPeer(reader, 'hostile', hostile)
    const fresh = { indexed_at: '2999-01-01T00:00:00Z', received_at: '2999-01-01T00:00:00Z' }
    const take = (id: string) => hostile.entry(id, { record: fresh, document: { description: 'Mine now.' } })
    hostile.removed = ['ours', 'theirs']
    await serve(reader, hostile, [take('ours'), take('theirs')])
    await serve(reader, hostile, [take('ours'), take('theirs')])
    expect((await get('ours')).json.description).toBe('Registered here.')
    expect((await get('theirs')).json).toMatchObject({
      description: 'Registered at an honest peer.',
      origin_service: honest.url,
    })
  })

  it('cannot pass for an agent that is registered here by a name that looks the same', async () => {
    await register(reader, 'ours', { description: 'Registered here.' })
    await addPeer(reader, 'hostile', hostile)
    const alike = ['OURS', 'o%75rs', 'ours\u200b', ' ours', '../ours', 'ours/']
    const broken = ['search', 'ours\u0000', 'ours\n', 'ours*', '', 'x'.repeat(100_000), 7, null, ['ours'], {}]
    await serve(
      reader,
      hostile,
      [...alike, ...broken].map((id) => ({
        record: { ...(hostile.entry('x').record as object), id },
        path: [hostile.url],
      })),
    )
    expect((await get('ours')).json.description).toBe('Registered here.')
    expect((await reader.get('/ad/l?agent=ours')).json.agents).toHaveLength(1)
    for (const id of alike) expect((await get(id)).json.origin_service, id).toBe(hostile.url)
    expect((await stateOf(reader, 'hostile')).agents.listed).toBe(alike.length + 1)
  })

  it('cannot keep an agent that its origin has removed, if the origin is a peer as well', async () => {
    await register(honest, 'gone')
    const kept = await entryOf(honest, 'gone')
    await addPeer(reader, 'honest', honest)
    await eventually(async () => expect((await get('gone')).status).toBe(200))
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [kept])
    await honest.delete('/agents/gone', { as: 'tokA' })
    await isGone('gone')
    await serve(reader, hostile, [kept])
    expect((await get('gone')).status).toBe(404)
  })

  it('cannot bring in agents of a directory that is not trusted, or not without the review of its agents', async () => {
    await register(honest, 'unwanted')
    const entry = await entryOf(honest, 'unwanted')
    await addPeer(reader, 'honest', honest, { trust: 'none' })
    await addPeer(reader, 'hostile', hostile, { trust: 'full' })
    await serve(reader, hostile, [entry])
    expect((await get('unwanted')).status).toBe(404)
    await reader.patch('/admin/peers/honest', { as: 'admin', body: { trust: 'quarantine' } })
    await serve(reader, hostile, [entry])
    expect((await get('unwanted')).status).toBe(404)
    await reader.delete('/admin/peers/honest', { as: 'admin' })
    await serve(reader, hostile, [entry])
    expect((await get('unwanted')).status).toBe(200)
  })

  it('cannot undo a rejection by removing the agent and listing it again', async () => {
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [hostile.entry('bad')])
    const body = { agent: 'bad', decision: 'reject' }
    expect((await reader.post('/admin/quarantine', { as: 'admin', body })).status).toBe(200)
    await isGone('bad')
    hostile.removed = ['bad']
    await serve(reader, hostile, [])
    hostile.removed = []
    await serve(reader, hostile, [{ record: { id: 'bad' }, path: [] }])
    await serve(reader, hostile, [hostile.entry('bad', { document: { description: 'Quite another.' } })])
    expect((await get('bad')).status).toBe(404)
  })

  it('cannot exchange an agent while an operator reviews it', async () => {
    await addPeer(reader, 'hostile', hostile, { trust: 'quarantine' })
    hostile.entries = [hostile.entry('nice')]
    const waiting = async () => (await reader.get('/admin/quarantine', { as: 'admin' })).json.agents
    await eventually(async () => expect(await waiting()).toHaveLength(1))
    const [{ received_at }] = await waiting()
    hostile.entries = [hostile.entry('nice', { document: { description: 'Not nice at all.' } })]
    await eventually(async () => expect(JSON.stringify(await waiting())).toContain('Not nice'))
    const accept = (at: string) =>
      reader.post('/admin/quarantine', {
        as: 'admin',
        body: { agent: 'nice', decision: 'accept', received_at: at },
      })
    expect((await accept(received_at)).status).toBe(409)
    expect((await get('nice')).status).toBe(404)
    const [{ received_at: now }] = await waiting()
    expect((await accept(now)).status).toBe(200)
    expect((await get('nice')).status).toBe(200)
    hostile.entries = [hostile.entry('nice', { document: { description: 'Changed after the review.' } })]
    await isGone('nice')
  })

  it('cannot fill the memory of this directory and of those that read from it with what it signs', async () => {
    const large = hostile.entry('large', { record: { valid_until: '2999-01-01T00:00:00Z', junk: 'x'.repeat(100_000) } })
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [{ ...large, record: await hostile.sign(large.record) }])
    expect((await get('large')).status).toBe(404)
    await isRefused('besides its document')
    const { json, text } = await reader.get('/feed')
    expect(json.agents).toEqual([])
    expect(text).not.toContain('xxxx')
  })

  it('gives the operator no control characters to read', async () => {
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [hostile.entry('reserved-\u202egnp')])
    await isRefused('gnp')
    expect((await stateOf(reader, 'hostile')).last_refusal).not.toMatch(/\p{C}/u)
  })

  it('does not stop the reading of its other agents, or of honest peers, with strange values', async () => {
    const values: unknown[] = [
      null,
      7,
      'x',
      [],
      {},
      { toString: 1 },
      [[[[]]]],
      '\u0000',
      '2026-06-30T23:59:60Z',
      1e308,
      -0,
    ]
    const names = ['id', 'format', 'document', 'origin_service', 'indexed_at', 'received_at', 'expires_at']
    const more = ['valid_until', 'gateway', 'signature', 'redacted', 'signatures', 'constructor']
    const strange = [...names, ...more].flatMap((name) =>
      values.map((value, i) => {
        const { record } = hostile.entry(`strange-${name}-${i}`)
        return { record: Object.fromEntries([...Object.entries(record as object), [name, value]]), path: [hostile.url] }
      }),
    )
    const paths = [
      null,
      'x',
      [7],
      ['x'],
      [''],
      ['http://[::1'],
      [hostile.url, hostile.url],
      Array(50).fill(hostile.url),
    ]
    const odd = paths.map((path, i) => ({ ...hostile.entry(`path-${i}`), path }))
    await register(honest, 'real')
    await addPeer(reader, 'hostile', hostile)
    await addPeer(reader, 'honest', honest, { trust: 'full' })
    await serve(reader, hostile, [...strange, ...odd, null, 7, 'x', [], {}])
    await eventually(async () => expect((await get('real')).status).toBe(200))
    const { failures, error } = await stateOf(reader, 'hostile')
    expect([failures, error]).toEqual([0, undefined])
    for (const path of ['/agents?top=100', '/ad/l', '/feed', '/admin/quarantine?state=listed'])
      expect((await reader.get(path, { as: 'admin' })).status, path).toBe(200)
    const found = await reader.post('/discover', { body: { query: 'strange', limit: 100, detail: 'full' } })
    expect(found.status).toBe(200)
    for (const { verification } of found.json.candidates) expect(verification.state).toBe('self-asserted')
  })

  it('does not disturb anybody with responses that are endless, huge, broken or lead elsewhere', async () => {
    const responses: Record<string, (response: ServerResponse) => unknown> = {
      endless: pump,
      bomb: (response) => pump(response.setHeader('content-encoding', 'gzip'), BOMB),
      deep: (response) => response.end('['.repeat(3_000_000)),
      million: (response) => response.end(`{"cursor":"x","agents":[${'{},'.repeat(1e6)}{}]}`),
      surrogate: (response) => response.end('{"cursor":"x","agents":["\\ud800"]}'),
      prototype: (response) => response.end('{"cursor":"x","agents":[],"__proto__":{"full":true}}'),
      cursor: (response) => sendJson(response, { agents: [], cursor: 'x'.repeat(1e6), more: true }),
      headers: (response) => response.socket?.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(1e5)}`),
      redirect: (response) => response.writeHead(302, { location: `${honest.url}/admin/stolen` }).end(),
    }
    await register(honest, 'real')
    const peers = await Promise.all(
      Object.entries(responses).map(async ([name, respond]) => {
        const peer = await startHostilePeer()
        await addPeer(reader, name, peer, { token: 'for-this-peer-only' })
        peer.answer = (_request, response) => void respond(response)
        return peer
      }),
    )
    await addPeer(reader, 'honest', honest, { trust: 'full' })
    await eventually(async () => expect((await get('real')).json.origin_service).toBe(honest.url))
    for (const name of Object.keys(responses))
      await eventually(async () => {
        const { failures, error } = await stateOf(reader, name)
        expect(failures, name).toBeGreaterThan(0)
        expect(error.length, error).toBeLessThan(300)
      })
    await Promise.all(peers.map((peer) => peer.close()))
  })

  it('sends registrations of any size or number through an Agent Directory to no effect', async () => {
    const agents = ['x'.repeat(100_000), 'large', 'good'].map((agent) => ({
      agent,
      href: `/ad/r/${agent.slice(0, 9)}`,
    }))
    hostile.answer = ({ url = '' }, response) => {
      if (url.startsWith('/ad/l')) return sendJson(response, { agents })
      if (url === '/ad/r/good') return sendJson(response, aidipAgent({ agent: 'good', base: 'https://a.example' }))
      if (url.startsWith('/ad/r/')) return sendJson(response, { agent: 'large', junk: 'x'.repeat(3_000_000) })
      response.writeHead(404).end()
    }
    await addPeer(reader, 'hostile', hostile, { protocol: 'directory' })
    await eventually(async () => expect((await stateOf(reader, 'hostile')).error).toContain('more than 524288 bytes'))
    expect(hostile.requests.some(({ path }) => path === '/ad/r/xxxxxxxxx')).toBe(false)
  })
})

describe('a hostile peer, in time,', () => {
  let clock: TestClock

  beforeEach(async () => {
    clock = createTestClock()
    await Promise.all([honest.close(), reader.close()])
    ;[honest, reader] = await Promise.all([startDirectory({}, clock), startDirectory({}, clock)])
  })

  it('AD-2.3-02 cannot keep an agent for longer than its origin has signed, whatever path it claims', async () => {
    await register(honest, 'kept')
    const { record } = await entryOf(honest, 'kept')
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [{ record, path: [honest.url] }])
    expect((await get('kept')).status).toBe(200)
    clock.advance(37 * 3600)
    await serve(reader, hostile, [{ record, path: [honest.url] }])
    expect((await get('kept')).status).toBe(404)
  })

  it('does not get the name of an agent whose registration here has lapsed, unless it is fully trusted', async () => {
    const claim = () => reader.post('/ad/r?agent=ours&lt=60', { as: 'tokA', body: fixture('FX-SUM') })
    expect((await claim()).status).toBe(201)
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, [hostile.entry('ours')])
    clock.advance(61)
    await isGone('ours')
    await serve(reader, hostile, [hostile.entry('ours')])
    expect((await get('ours')).status).toBe(404)
    expect((await claim()).status).toBe(201)
    expect((await get('ours')).json.origin_service).toBeUndefined()
    clock.advance(61)
    await isGone('ours')
    await reader.patch('/admin/peers/hostile', { as: 'admin', body: { trust: 'full' } })
    await eventually(async () => expect((await get('ours')).json.origin_service).toBe(hostile.url))
  })

  it('cannot keep agents without listing them, by answering that nothing has changed', async () => {
    await addPeer(reader, 'hostile', hostile, { keep_seconds: 60 })
    await serve(reader, hostile, [hostile.entry('kept')])
    hostile.answer = (_request, response) => void response.writeHead(304).end()
    await eventually(async () => {
      // A list that was on its way may still arrive.
      clock.advance(61)
      expect((await get('kept')).status).toBe(404)
    })
    await eventually(async () => expect((await stateOf(reader, 'hostile')).failures).toBe(0))
  })
})

/** Sends the same piece for ever. */
function pump(response: ServerResponse, chunk: string | Buffer = ' '.repeat(65_536)): void {
  pipeline(Readable.from(forever(chunk)), response).catch(() => {})
}

function* forever<T>(value: T): Generator<T> {
  for (;;) yield value
}

/** 16 MB of spaces in 16 KB. */
const BOMB = gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))
