import type { JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../src/config.js'
import { createTestClock } from './support/clock.js'
import { type Answer, startDirectory, type TestDirectory, type Who } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectRefusal } from './support/errors.js'

type Request = readonly [method: 'get' | 'post' | 'put' | 'delete', path: string, body?: JsonObject]

let directory: TestDirectory
afterEach(() => directory.close())

const clock = createTestClock()
const start = async (limits: {
  search?: number
  register?: number
  lookup?: number
  invoke?: number
}): Promise<void> => {
  const rateLimits = { search: 1000, register: 1000, lookup: 1000, invoke: 1000, ...limits }
  directory = await startDirectory({ rateLimits }, { now: clock.now })
}

const ask = ([method, path, body]: Request, as: Who = 'anon'): Promise<Answer> =>
  directory[method](path, { as, ...(body && { body }) })

const SEARCHES: readonly Request[] = [
  ['post', '/agents/search', { query: 'x' }],
  ['post', '/v0/agents/search', {}],
  ['post', '/discover', { query: 'x' }],
]
const LOOKUPS: readonly Request[] = [
  ['get', '/agents'],
  ['get', '/agents/public'],
  ['get', '/agents/nothing'],
  ['get', '/discover/agents/nothing'],
  ['get', '/ad/l'],
  ['get', '/ad/r/1'],
  ['get', '/.well-known/agents.json'],
  ['get', '/agents/nothing/agent.json'],
]
const REGISTRATIONS: readonly Request[] = [
  ['post', '/agents', aidipAgent({ id: 'a' })],
  ['post', '/v0/agents', aidipAgent({ id: 'a' })],
  ['put', '/agents/a', aidipAgent()],
  ['post', '/discover/agents', fixture('FX-D0')],
  ['post', '/ad/r?agent=b', fixture('FX-SUM')],
  ['post', '/ad/r/1'],
  ['delete', '/ad/r/99'],
  ['delete', '/agents/nothing'],
]

describe.each([
  ['AIDIP-9-11', 'search', SEARCHES, 'anon'],
  ['AD-8.3-02', 'lookup', LOOKUPS, 'anon'],
  ['AD-8.3-02', 'register', REGISTRATIONS, 'tokA'],
] as const)('%s the limit on %s', (id, action, requests, as) => {
  it(`${id} is one for all routes of the kind; past it 429 with Retry-After, until a minute’s share is back`, async () => {
    await start({ [action]: requests.length })
    for (const request of requests) expect((await ask(request, as)).status, request[1]).not.toBe(429)
    for (const request of requests) {
      const answer = await ask(request, as)
      expectRefusal(answer, { status: 429, code: 'rate_limited' }, request[1])
      expect(answer.json.error.code).toBe('RateLimited')
      const wait = Number(answer.headers.get('retry-after'))
      expect(wait).toBe(answer.json.retry_after)
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(60)
    }
    const first = requests[0] ?? ['get', '/']
    const wait = Number((await ask(first, as)).headers.get('retry-after'))
    clock.advance(wait)
    expect((await ask(first, as)).status).not.toBe(429)
    expect((await ask(first, as)).status).toBe(429)
    clock.advance(600)
    for (const request of requests) expect((await ask(request, as)).status, request[1]).not.toBe(429)
    expect((await ask(first, as)).status).toBe(429)
  })
})

describe('limits', () => {
  it('AIDIP-9-11 allow fewer searches than plain lookups, unless the operator says otherwise', async () => {
    await start({})
    expect(DEFAULTS.rateLimits.search).toBeLessThan(DEFAULTS.rateLimits.lookup)
  })

  it('AIDIP-9-11 one client does not spend another’s, whichever key it uses', async () => {
    await start({ search: 2 })
    const [search] = SEARCHES
    if (!search) return
    const second = await directory.makeKey({ subject: 'tokA', scopes: ['discover'] })
    expect((await ask(search, 'tokA')).status).toBe(200)
    expect((await directory.post(search[1], { key: second, body: {} })).status).toBe(200)
    expect((await ask(search, 'tokA')).status).toBe(429)
    expect((await directory.post(search[1], { key: second, body: {} })).status).toBe(429)
    for (const as of ['tokB', 'tokC', 'anon', 'admin'] as const) {
      expect(
        [(await ask(search, as)).status, (await ask(search, as)).status, (await ask(search, as)).status],
        as,
      ).toEqual([200, 200, 429])
    }
  })

  it('AIDIP-9-11 callers without a subject are told apart by their address, whatever they claim it is', async () => {
    await start({ search: 2 })
    const search = async (address: string): Promise<number> =>
      (
        await directory.post('/agents/search', {
          body: {},
          headers: { 'x-forwarded-for': address, forwarded: `for=${address}` },
        })
      ).status
    expect([await search('10.0.0.1'), await search('10.0.0.2'), await search('10.0.0.3')]).toEqual([200, 200, 429])
  })

  it('a subject that is named like an address is not that address', async () => {
    await start({ search: 1 })
    const key = await directory.makeKey({ subject: '127.0.0.1', scopes: ['discover'] })
    expect((await directory.post('/agents/search', { key, body: {} })).status).toBe(200)
    expect((await directory.post('/agents/search', { body: {} })).status).toBe(200)
  })

  it('kinds of requests do not spend each other’s', async () => {
    await start({ search: 1, lookup: 1, register: 1 })
    expect((await ask(['post', '/agents/search', {}], 'tokA')).status).toBe(200)
    expect((await ask(['get', '/agents'], 'tokA')).status).toBe(200)
    expect((await ask(['post', '/agents', aidipAgent()], 'tokA')).status).toBe(201)
    expect((await ask(['post', '/agents/search', {}], 'tokA')).status).toBe(429)
    expect((await ask(['get', '/agents'], 'tokA')).status).toBe(429)
    expect((await ask(['post', '/agents', aidipAgent()], 'tokA')).status).toBe(429)
  })

  it('nothing is stored past the limit, and what is broken counts as well', async () => {
    await start({ register: 2 })
    expect((await ask(['post', '/agents', {}], 'tokA')).status).toBe(400)
    expect((await ask(['post', '/agents', aidipAgent({ id: 'within' })], 'tokA')).status).toBe(201)
    expect((await ask(['post', '/agents', aidipAgent({ id: 'past' })], 'tokA')).status).toBe(429)
    expect((await ask(['get', '/agents/past'])).status).toBe(404)
    expect((await ask(['get', '/health/ready'])).json.index.agents).toBe(1)
  })

  it('imports by operators, health and the directory’s own description have none', async () => {
    await start({ search: 1, lookup: 1, register: 1, invoke: 1 })
    for (let i = 0; i < 5; i++) {
      const document = { document: aidipAgent({ id: `i${i}` }) }
      expect((await ask(['post', '/admin/import', document], 'admin')).json.status).toBe('created')
      for (const path of ['/health/ready', '/health/live', '/.well-known/ad', '/openapi.json']) {
        expect((await ask(['get', path])).status, path).toBe(200)
      }
    }
  })
})
