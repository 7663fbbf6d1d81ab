import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startBystander } from '../support/bystander.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
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
  honest = await startDirectory()
})
afterAll(() => honest.close())
beforeEach(async () => {
  ;[hostile, reader] = await Promise.all([startHostilePeer(), startDirectory()])
})
afterEach(() => Promise.all([honest.clear(), reader.close(), hostile.close()]))

const register = async (directory: TestDirectory, id: string, changes = {}): Promise<void> => {
  const { status } = await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id, name: id, ...changes }) })
  expect(status).toBe(201)
}
const get = (id: string) => reader.get(`/agents/${encodeURIComponent(id)}`)
const provenanceOf = async (id: string) => (await reader.get(`/discover/agents/${id}`)).json.provenance

describe('a hostile peer', () => {
  it('cannot direct a flood of requests at others by naming them as origins', async () => {
    const bystander = await startBystander()
    const signature = { jws: 'a..b', kid: 'c' }
    const named = Array.from({ length: 150 }, (_, i) =>
      hostile.entry(`named-${i}`, { record: { origin_service: `${bystander.url}/${i}`, signature } }),
    )
    await addPeer(reader, 'hostile', hostile)
    await serve(reader, hostile, named)
    await serve(reader, hostile, named)
    expect(bystander.requests()).toBeGreaterThan(0)
    expect(bystander.requests()).toBeLessThanOrEqual(120)
    await bystander.close()
    // The keys of others are still read, also for this peer's records if they were good before.
    await register(honest, 'real')
    await addPeer(reader, 'honest', honest, { trust: 'full' })
    await eventually(async () => expect((await provenanceOf('real')).origin_signature).toBeDefined())
  })

  it('is read with a pause that grows if its list does not end', async () => {
    let pages = 0
    hostile.answer = ({ url = '' }, response) => {
      if (url.startsWith('/feed')) pages++
      // Large, so that one list takes several rounds.
      const padding = ' '.repeat(400_000)
      sendJson(response, { agents: [], removed: [], full: true, more: true, cursor: `page-${pages}`, padding })
    }
    await addPeer(reader, 'hostile', hostile, { max_agents: 1 })
    await eventually(async () => expect((await stateOf(reader, 'hostile')).failures).toBe(2))
    expect((await stateOf(reader, 'hostile')).error).toContain('does not end')
    expect(pages).toBeLessThan(400)
  })

  it('cannot use more memory than one owner may, however many origins it invents', async () => {
    const small = await startDirectory({ quotas: { agents: 5, bytes: 1e6 } })
    await addPeer(small, 'hostile', hostile)
    const entries = Array.from({ length: 20 }, (_, i) =>
      hostile.entry(`many-${i}`, {
        record: { origin_service: `${hostile.url}/${i}`, valid_until: '2999-01-01T00:00:00Z' },
      }),
    )
    hostile.entries = await Promise.all(
      entries.map(async ({ record, path }) => ({ record: await hostile.sign(record), path })),
    )
    await eventually(async () => expect((await stateOf(small, 'hostile')).refused).toBeGreaterThanOrEqual(15))
    expect((await small.get('/agents?top=100')).json).toHaveLength(5)
    await register(small, 'local')
    await small.close()
  })

  it('cannot keep the directory busy with agents that change all the time', async () => {
    await addPeer(reader, 'hostile', hostile, { max_agents: 10 })
    let version = 0
    let pages = 0
    // Pages of changes: ten agents, each of them a hundred times.
    hostile.answer = ({ url = '' }, response) => {
      if (!url.startsWith('/feed')) return void response.writeHead(404).end()
      pages++
      const agents = Array.from({ length: 1000 }, (_, i) =>
        hostile.entry(`busy-${i % 10}`, { document: { description: `Version ${++version}.` } }),
      )
      sendJson(response, { agents, removed: [], full: false, more: false, cursor: `page-${pages}` })
    }
    await eventually(async () => expect((await stateOf(reader, 'hostile')).last_refusal ?? '').toContain('too often'))
    const audit = await reader.get('/admin/audit?action=federation.update&limit=1000', { as: 'admin' })
    expect(audit.json.entries.length).toBeLessThanOrEqual(1000)
    const { description } = (await get('busy-0')).json
    const before = pages
    await eventually(async () => expect(pages).toBeGreaterThan(before + 2))
    // What is known stays, unchanged.
    expect((await get('busy-0')).json.description).toBe(description)
  })
})

describe('three directories in a ring, with a hostile peer of all three', () => {
  it('PROF-14-07 share their agents as if it was not there', async () => {
    const ring = await Promise.all([startDirectory(), startDirectory(), startDirectory()])
    const ids = ['agent-0', 'agent-1', 'agent-2']
    const each = (work: (directory: TestDirectory, i: number) => Promise<unknown>) => Promise.all(ring.map(work))
    const urlOf = (i: number): string => ring[i % ring.length]?.url ?? ''
    await each((directory, i) => register(directory, `agent-${i}`, { description: `Registered at ${i}.` }))
    const records = await Promise.all(ring.map((directory, i) => entryOf(directory, `agent-${i}`)))
    const claims = { verification: { state: 'verified' }, description: 'Forged.' }
    hostile.entries = [
      ...ids.map((id) => hostile.entry(id, { document: claims })),
      ...records.map(({ record }, i) => ({
        record: {
          ...record,
          document: aidipAgent({ id: `agent-${i}`, ...claims }),
          expires_at: '2999-01-01T00:00:00Z',
        },
        path: [urlOf(i), hostile.url],
      })),
      ...ring.map(({ url }, i) => hostile.entry(`forged-${i}`, { record: { origin_service: url }, document: claims })),
    ]
    await each((directory) => addPeer(directory, 'hostile', hostile))
    await each((directory, i) => addPeer(directory, 'next', { url: urlOf(i + 1) }, { trust: 'full' }))
    const isShared = (expected: readonly string[]) =>
      each((directory, reading) =>
        eventually(async () => {
          for (const id of expected) {
            const { json } = await directory.get(`/discover/agents/${id}`)
            const origin = Number(id.at(-1))
            expect(json.description, id).toBe(`Registered at ${origin}.`)
            expect(json.provenance?.origin_service, id).toBe(origin === reading ? undefined : urlOf(origin))
          }
        }),
      )
    await isShared(ids)
    // The forged agents are known, as those of the hostile peer, and nothing is verified.
    await each(async (directory) => {
      const { json, text } = await directory.post('/discover', { body: { query: 'forged registered', limit: 100 } })
      expect(text).not.toContain('"verified"')
      for (const { id, provenance } of json.candidates)
        if (id.startsWith('forged')) expect(provenance.origin_service).toBe(hostile.url)
      expect((await directory.get('/feed')).text).not.toContain('Forged.')
    })
    // A response that never ends keeps one request open, and nobody waiting.
    const drips = new Set<NodeJS.Timeout>()
    hostile.answer = (_request, response) => {
      response.write('{"agents":[')
      drips.add(setInterval(() => response.write(' '), 100))
    }
    await eventually(async () => expect(drips.size).toBeGreaterThanOrEqual(ring.length))
    await each((directory, i) => register(directory, `later-${i}`, { description: `Registered at ${i}.` }))
    await isShared([...ids, 'later-0', 'later-1', 'later-2'])
    for (const drip of drips) clearInterval(drip)
    await each((directory) => directory.close())
  })
})

describe('a publisher at an honest peer', () => {
  it('cannot make its feed unreadable with documents that are deep, or have many values', async () => {
    const deep = JSON.parse(`${'['.repeat(60)}1${']'.repeat(60)}`)
    await register(honest, 'deep', { notes: deep })
    const many = Array.from({ length: 15_000 }, () => 0)
    for (let i = 0; i < 16; i++) await register(honest, `many-${i}`, { notes: many })
    await register(honest, 'last')
    await addPeer(reader, 'honest', honest)
    await eventually(async () => expect((await get('last')).status).toBe(200))
    expect((await get('deep')).status).toBe(200)
    expect((await stateOf(reader, 'honest')).agents.listed).toBe(18)
  })
})
