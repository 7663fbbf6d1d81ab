import {
  type DocumentFormat,
  isObject,
  type JsonObject,
  readRecord,
  sameJson,
  speaksMcp,
  validateDocument,
} from '@switchboard/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KINDS, type Kind, type SentDocument, sentDocument } from '../../protocol/test/arbitraries.js'
import { DEFAULTS } from '../src/config/settings.js'
import { startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'

const RUNS = 60

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({ policy: { ...DEFAULTS.policy, schemes: ['*'] } })
})
afterAll(() => directory.close())

/** How each kind of document is registered; kinds without a route are imported. */
const register: Record<Kind, (sent: SentDocument) => Promise<TestResponse>> = {
  aidip: ({ id, document }) => directory.post('/agents', { as: 'admin', body: { ...document, id } }),
  aidip00: ({ id, document }) => directory.post('/v0/agents', { as: 'admin', body: { ...document, id } }),
  profile: ({ document }) => directory.post('/discover/agents', { as: 'admin', body: document }),
  directory: ({ id, document }) =>
    directory.post(`/ad/r?agent=${encodeURIComponent(id)}`, { as: 'admin', body: document }),
  descriptor: (sent) => importDocument(sent),
  a2a03: (sent) => importDocument(sent),
  a2a10: (sent) => importDocument(sent),
  mcp: (sent) => importDocument(sent),
}

async function importDocument({ format, id, document }: SentDocument): Promise<TestResponse> {
  const answer = await directory.post('/admin/import', { as: 'admin', body: { format, id, document } })
  return { ...answer, status: answer.json?.status === 'created' ? 201 : 400 }
}

/** Where an agent can be read, and in which format. */
const READERS: Record<string, { format: DocumentFormat; path: (id: string, number: string) => string }> = {
  aidip: { format: 'aidip', path: (id) => `/agents/${id}` },
  aidip00: { format: 'aidip', path: (id) => `/v0/agents/${id}` },
  profile: { format: 'profile', path: (id) => `/discover/agents/${id}` },
  directory: { format: 'directory', path: (_id, number) => number },
  descriptor: { format: 'descriptor', path: (id) => `/agents/${id}/agent.json` },
  a2a10: { format: 'a2a', path: (id) => `/agents/${id}/agent-card.json` },
  a2a03: { format: 'a2a', path: (id) => `/agents/${id}/agent-card.json?version=0.3` },
  mcp: { format: 'mcp', path: (id) => `/agents/${id}/server.json` },
}

/** Members that the directory writes, whatever the publisher sent under these names. */
const REGISTRY: Partial<Record<Kind, string[]>> = {
  // The 01 view has one canonical form of authentication (C-11); /v0 returns it as sent.
  aidip: ['authentication', 'id', 'publisher'],
  aidip00: ['id', 'provider'],
  profile: ['id', 'freshness'],
  directory: ['agent', 'lt', 'href'],
  descriptor: ['versionNegotiation', 'security', 'errorFormat'],
  mcp: ['_meta'],
}

/** The document that was read, without members that the directory added. */
function ownMembers(kind: Kind, read: JsonObject, sent: JsonObject): JsonObject {
  const registry = new Set(['verification', ...(REGISTRY[kind] ?? [])])
  const added = (name: string): boolean => registry.has(name) && !Object.hasOwn(sent, name)
  return Object.fromEntries(Object.entries(read).filter(([name]) => !added(name)))
}

/** The document with encrypted endpoints (C-73), a future expires_at and a consistent id, so that it is accepted. */
function acceptable(sent: SentDocument): SentDocument {
  const text = JSON.stringify(sent.document).replaceAll(/http:/gi, 'https:').replaceAll(/ws:/gi, 'wss:')
  const document: JsonObject = JSON.parse(text)
  if (typeof document.expires_at === 'string') document.expires_at = '2090-01-02T03:04:05+02:00'
  // These drafts take the id from the document.
  if (document.id !== undefined && (sent.format === 'aidip' || sent.format === 'profile')) document.id = sent.id
  return { ...sent, document }
}

/** Leaves out members that this view overwrites; in the other views they are plain data. */
function comparable(kind: Kind, sent: JsonObject): JsonObject {
  const overwritten: Partial<Record<Kind, string[]>> = {
    aidip: ['authentication'],
    profile: ['freshness'],
    directory: ['agent', 'lt', 'href', 'id'],
  }
  const skip = new Set(['verification', ...(overwritten[kind] ?? [])])
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !skip.has(name)))
}

async function numberOf(id: string): Promise<string | undefined> {
  const { json } = await directory.get(`/ad/l?agent=${id}`, { as: 'admin' })
  return json.agents[0]?.href
}

describe.each(KINDS)('a random document of kind %s', (kind) => {
  it('is returned unchanged in its own format and valid in every other', async () => {
    await fc.assert(
      fc.asyncProperty(sentDocument(kind).map(acceptable), async (sent) => {
        const id = encodeURIComponent(sent.id)
        // Remove what a failed run left, so that it does not affect shrinking.
        await directory.delete(`/agents/${id}`, { as: 'admin' })
        const registered = await register[kind](sent)
        expect(registered.status, registered.text).toBe(201)
        const number = await numberOf(id)
        for (const [name, { format, path }] of Object.entries(READERS)) {
          // Inactive agents are not in lookups, so their number is unknown.
          if (name === 'directory' && number === undefined) continue
          if (name === 'mcp' && !speaksMcp(readRecord(sent.format, sent.document, sent.id))) continue
          const answer = await directory.get(path(id, number ?? ''), { as: 'admin' })
          // Nobody answers A2A messages for an agent that the gateway cannot call.
          if (format === 'a2a' && sent.format !== 'a2a' && answer.status === 404) {
            expect(answer.json.detail, name).toMatch(/A2A/)
            continue
          }
          expect(answer.status, `${name} ${answer.text}`).toBe(200)
          expect(validateDocument(format, answer.json), `${name} ${answer.text}`).toEqual([])
          if (name === kind) expectSame(kind, sent.document, answer.json)
        }
        expect((await directory.delete(`/agents/${id}`, { as: 'admin' })).status).toBe(204)
      }),
      { numRuns: RUNS },
    )
  })
})

function expectSame(kind: Kind, sent: JsonObject, read: JsonObject): void {
  const expected = comparable(kind, sent)
  const own = comparable(kind, ownMembers(kind, read, sent))
  const different = [...new Set([...Object.keys(expected), ...Object.keys(own)])].filter(
    (name) => !sameJson(expected[name], own[name]),
  )
  expect(different.map((name) => ({ name, sent: expected[name], read: own[name] }))).toEqual([])
}

describe('the drafts’ example documents', () => {
  it('AIDIP-4.1-04 one registry accepts the documents of another without changes', async () => {
    const other = await startDirectory()
    try {
      for (const body of [
        fixture('FX-T01'),
        fixture('FX-T00'),
        aidipAgent({ id: 'plain', extra: { constructor: 1 } }),
      ]) {
        const { json } = await directory.post('/agents', { as: 'tokA', body })
        const given = await directory.get(`/agents/${encodeURIComponent(json.id)}`)
        expect((await other.post('/agents', { as: 'tokB', body: given.json })).status).toBe(201)
        const again = await other.get(`/agents/${encodeURIComponent(json.id)}`)
        const own = ({ verification: _v, ...rest }: JsonObject): JsonObject => rest
        expect(own(again.json)).toEqual(own(given.json))
      }
    } finally {
      await other.close()
    }
  })

  it('AIDIP-4.1-03 separate registries return their own agents only', async () => {
    const other = await startDirectory({ anonymous: 'none' })
    try {
      await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'only-here' }) })
      await other.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'only-there' }) })
      expect((await directory.get('/agents/only-here')).status).toBe(200)
      expect((await directory.get('/agents/only-there')).status).toBe(404)
      expect((await other.get('/agents/only-there', { as: 'tokC' })).status).toBe(200)
      expect((await other.get('/agents/only-here', { as: 'tokC' })).status).toBe(404)
      expect((await other.get('/agents/only-there')).status).toBe(401)
    } finally {
      await other.close()
    }
  })

  it('AIDIP-4.1-02 entries survive a restart unchanged', async () => {
    const bodies = { FX1: fixture('FX-T01', { id: 'restart-1' }), FX0: fixture('FX-T00', { id: 'restart-2' }) }
    for (const body of Object.values(bodies)) await directory.post('/agents', { as: 'tokA', body })
    await directory.post('/ad/r?agent=restart-3', { as: 'tokA', body: fixture('FX-CDN') })
    await directory.post('/discover/agents', { as: 'tokA', body: fixture('FX-HR', { id: 'restart-4' }) })
    const paths = ['restart-1', 'restart-2', 'restart-3', 'restart-4'].flatMap((id) => [
      `/agents/${id}`,
      `/v0/agents/${id}`,
      `/discover/agents/${id}`,
      `/agents/${id}/agent.json`,
    ])
    const read = () =>
      Promise.all(paths.map(async (path) => (await directory.get(path)).text.replaceAll(/127\.0\.0\.1:\d+/g, '')))
    const before = await read()
    const { json } = await directory.get('/ad/l?agent=restart-*')
    await directory.restart()
    expect(await read()).toEqual(before)
    expect((await directory.get('/ad/l?agent=restart-*')).json).toEqual(json)
  })

  it('NUL and other control characters are kept in text that is not a name', async () => {
    const description = 'a\u0000b\u0001\u007f\u0085\ud83d\ude42'
    const body = aidipAgent({ id: 'odd-text', description, [description]: [description] })
    expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(201)
    await directory.restart()
    expect((await directory.get('/agents/odd-text')).json).toMatchObject(body)
    expect(isObject((await directory.get('/discover/agents/odd-text')).json)).toBe(true)
  })
})
