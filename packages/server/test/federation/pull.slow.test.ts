import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

interface Page {
  readonly ids?: readonly string[]
  readonly removed?: readonly string[]
  readonly full?: boolean
  readonly more?: boolean
  readonly cursor: string
}

let clock: TestClock
let reader: TestDirectory
let url: string
/** What the peer answers to each `since`; the pages of its feed. */
let pages: Record<string, Page | number>
let requests: { since: string; ifNoneMatch: string | undefined; at: number }[]

const peer = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://peer')
  if (pathname !== '/feed') return response.writeHead(404).end()
  const since = searchParams.get('since') ?? ''
  requests.push({ since, ifNoneMatch: request.headers['if-none-match'], at: performance.now() })
  const page = pages[since] ?? 500
  if (typeof page === 'number') return response.writeHead(page).end()
  const { ids = [], removed = [], full = false, more = false, cursor } = page
  const agents = ids.map((id) => ({ record: { id, format: 'aidip', document: aidipAgent({ id }) }, path: [] }))
  const tag = `"${JSON.stringify(page).length}-${since}"`
  if (request.headers['if-none-match'] === tag) return response.writeHead(304).end()
  return response.writeHead(200, { etag: tag }).end(JSON.stringify({ agents, removed, full, more, cursor }))
})

beforeEach(async () => {
  requests = []
  pages = {}
  peer.listen(0, '127.0.0.1')
  await once(peer, 'listening')
  url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`
  clock = createTestClock()
  reader = await startDirectory({}, clock)
})
afterEach(async () => {
  await reader.close()
  peer.closeAllConnections()
  await new Promise((done) => peer.close(done))
})

const addPeer = (more: object = {}) =>
  reader.post('/admin/peers', { as: 'admin', body: { name: 'p', url, trust: 'full', interval_seconds: 1, ...more } })
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 20_000, interval: 20 })
const listed = async (): Promise<string[]> =>
  (await reader.get('/agents?top=100')).json.map(({ id }: { id: string }) => id).toSorted()
const stateOfPeer = async () => (await reader.get('/admin/peers', { as: 'admin' })).json.peers[0]
const sinceOf = (list: typeof requests): string[] => list.map(({ since }) => since)

describe('reading the feed of a peer', () => {
  it('continues with the next page after a failure, and after a restart', async () => {
    pages = {
      '': { ids: ['a'], full: true, more: true, cursor: 'second' },
      second: 503,
      third: { ids: ['c'], full: true, cursor: 'end' },
    }
    await addPeer()
    await eventually(async () => expect(await stateOfPeer()).toMatchObject({ failures: 1 }))
    expect(await listed()).toEqual(['a'])
    await reader.restart()
    pages.second = { ids: ['b'], full: true, more: true, cursor: 'third' }
    pages.end = { cursor: 'end' }
    await eventually(async () => expect(await listed()).toEqual(['a', 'b', 'c']))
    expect(sinceOf(requests).filter((since) => since === '')).toHaveLength(1)
  })

  it('asks only for changes, and says what it has', async () => {
    pages = { '': { ids: ['a', 'b'], full: true, cursor: 'end' }, end: { cursor: 'end' } }
    await addPeer()
    await eventually(() => expect(requests.length).toBeGreaterThan(4))
    expect(sinceOf(requests).slice(0, 3)).toEqual(['', 'end', 'end'])
    expect(requests[1]?.ifNoneMatch).toBeUndefined()
    expect(requests[2]?.ifNoneMatch).toBeDefined()
    pages.end = { ids: ['c'], removed: ['a'], cursor: 'later' }
    pages.later = { cursor: 'later' }
    await eventually(async () => expect(await listed()).toEqual(['b', 'c']))
  })

  it('starts again if the peer does not know the cursor any more', async () => {
    pages = { '': { ids: ['a'], full: true, cursor: 'end' }, end: 400 }
    await addPeer()
    await eventually(() => expect(sinceOf(requests)).toEqual(expect.arrayContaining(['', 'end'])))
    pages[''] = { ids: ['b'], full: true, cursor: 'later' }
    pages.later = { cursor: 'later' }
    await eventually(async () => expect(await listed()).toEqual(['b']))
    expect(await stateOfPeer()).toMatchObject({ failures: 0 })
  })

  it('reads the complete list from time to time, and drops what it does not contain', async () => {
    pages = { '': { ids: ['a', 'b'], full: true, cursor: 'end' }, end: { cursor: 'end' } }
    await addPeer({ keep_seconds: 3600 })
    await eventually(async () => expect(await listed()).toEqual(['a', 'b']))
    pages[''] = { ids: ['b'], full: true, cursor: 'end' }
    clock.advance(1000)
    await eventually(() => expect(requests.length).toBeGreaterThan(3))
    expect(await listed()).toEqual(['a', 'b'])
    clock.advance(300)
    await eventually(async () => expect(await listed()).toEqual(['b']))
    // Each complete list confirms what it contains.
    for (const _ of [1, 2, 3]) {
      clock.advance(1300)
      const before = requests.length
      await eventually(() => expect(requests.length).toBeGreaterThan(before + 1))
    }
    expect(await listed()).toEqual(['b'])
  })

  it('waits longer after each failure', async () => {
    pages = { '': 500 }
    await addPeer()
    await eventually(() => expect(requests.length).toBe(3))
    const [first, second, third] = requests.map(({ at }) => at)
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThan(((second ?? 0) - (first ?? 0)) * 1.1)
    expect(await stateOfPeer()).toMatchObject({ error: 'the peer answered with status 500' })
    pages = { '': { ids: ['a'], full: true, cursor: 'end' }, end: { cursor: 'end' } }
    clock.advance(60)
    await eventually(async () => expect(await listed()).toEqual(['a']))
    await eventually(async () => expect(await stateOfPeer()).toMatchObject({ failures: 0 }))
    expect((await stateOfPeer()).error).toBeUndefined()
  })
})
