import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { fixture } from '../support/documents.js'

type Answer = (path: string, body: unknown) => JsonValue | undefined

let clock: TestClock
let reader: TestDirectory
let url: string
let answer: Answer
let requests: string[]
let links: Record<string, string>

const server = createServer(async (request, response) => {
  requests.push(`${request.method} ${request.url}`)
  const value = answer(request.url ?? '', await bodyOf(request))
  const link = links[request.url ?? '']
  if (value === undefined) return response.writeHead(404).end()
  response.setHeader('content-type', 'application/json')
  if (link !== undefined) response.setHeader('link', link)
  return response.end(JSON.stringify(value))
})
const bodyOf = async (request: IncomingMessage): Promise<unknown> =>
  request.method === 'POST' ? await json(request) : undefined

beforeEach(async () => {
  requests = []
  links = {}
  answer = () => undefined
  clock = createTestClock()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  reader = await startDirectory({}, clock)
})
afterEach(async () => {
  await reader.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

const addPeer = (more: JsonObject = {}) =>
  reader.post('/admin/peers', {
    as: 'admin',
    body: { name: 'foreign', url, trust: 'full', interval_seconds: 1, ...more },
  })
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 50 })
const listed = async (): Promise<string[]> =>
  (await reader.get('/agents?top=100')).json.map(({ id }: { id: string }) => id).toSorted()

describe('a directory that is not a Switchboard', () => {
  it('AD-2.3-01, AD-2.3-02 is read by the lookup of the Agent Directory, page by page', async () => {
    const registrations: Record<string, JsonObject> = {
      '/ad/r/1': fixture('FX-SUM', { agent: 'one', lt: 86_400, href: '/ad/r/1' }),
      '/ad/r/2': fixture('FX-SUM', { agent: 'two', lt: 86_400, href: '/ad/r/2', description: 'A second one.' }),
    }
    const summaryOf = (href: string): JsonObject[] =>
      registrations[href] ? [{ agent: String(registrations[href].agent), base: 'https://x.example', href }] : []
    links['/ad/l?page=0&count=100'] = '</ad/l?page=1&count=100>; rel="next"'
    answer = (path) => {
      if (path === '/ad/l?page=0&count=100')
        return { agents: [...summaryOf('/ad/r/1'), { agent: 'copied', origin_service: 'https://elsewhere.example' }] }
      if (path === '/ad/l?page=1&count=100') return { agents: summaryOf('/ad/r/2') }
      return registrations[path]
    }
    await addPeer()
    await eventually(async () => expect(await listed()).toEqual(['one', 'two']))
    expect((await reader.get('/agents/two')).json).toMatchObject({ description: 'A second one.', origin_service: url })
    const { peers } = (await reader.get('/admin/peers', { as: 'admin' })).json
    expect(peers[0]).toMatchObject({ protocol: 'directory', agents: { listed: 2 } })
    // What has not changed is not read again.
    await eventually(async () =>
      expect(requests.filter((line) => line === 'GET /ad/l?page=0&count=100').length).toBeGreaterThan(3),
    )
    expect(requests.filter((line) => line === 'GET /ad/r/1')).toHaveLength(1)
    delete registrations['/ad/r/2']
    await eventually(async () => expect(await listed()).toEqual(['one']))
    // The lookup does not tell when a registration ends: without it, the copy ends soon.
    answer = () => undefined
    clock.advance(61)
    await eventually(async () => expect(await listed()).toEqual([]))
  })

  it('PROF-10-01 is read by the profile, with the operator’s queries', async () => {
    const candidate = fixture('FX-HR', {
      score: 0.9,
      verification: { state: 'verified' },
      freshness: {
        indexed_at: '2026-05-01T00:00:00.000Z',
        received_at: '2026-05-02T00:00:00.000Z',
        expires_at: new Date(clock.now() + 3_600_000).toISOString(),
      },
    })
    answer = (path, body) => {
      if (path !== '/discover' || !isObject(body)) return undefined
      return { candidates: body.query === 'hr' ? [candidate] : [{ ...candidate, id: 'x', provenance: {} }] }
    }
    await addPeer({ queries: ['hr', 'law'] })
    const id = String(candidate.id)
    await eventually(async () => expect(await listed()).toEqual([id]))
    const { json } = await reader.get(`/discover/agents/${encodeURIComponent(id)}`)
    expect(json.freshness).toMatchObject(isObject(candidate.freshness) ? candidate.freshness : {})
    expect(json.verification.state).toBe('self-asserted')
    expect(json.provenance).toMatchObject({ origin_service: url })
    expect(json.provenance.origin_signature).toBeUndefined()
    expect(json.score).toBeUndefined()
  })

  it('is named with its fault if it cannot be read', async () => {
    await addPeer()
    await eventually(async () => {
      const { peers } = (await reader.get('/admin/peers', { as: 'admin' })).json
      expect(peers[0]).toMatchObject({ failures: expect.any(Number), error: expect.stringContaining('/ad/l') })
    })
  })
})
