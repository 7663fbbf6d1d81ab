import { readFileSync } from 'node:fs'
import type { JsonObject } from '@switchboard/protocol'
import { parseList } from 'structured-headers'
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../src/config/settings.js'
import { extraRequests } from '../src/policy/rate-limit.js'
import { createTestClock } from './support/clock.js'
import { startDirectory, type TestCaller, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'

type Request = readonly [method: 'get' | 'head' | 'post' | 'put' | 'delete', path: string, body?: JsonObject]

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
  directory = await startDirectory({ rateLimits }, clock)
}

const send = ([method, path, body]: Request, as: TestCaller = 'anon'): Promise<TestResponse> =>
  directory[method](path, { as, ...(body && { body }) })

const SEARCHES: readonly Request[] = [
  ['post', '/agents/search', { query: 'x' }],
  ['get', '/agents?q=x'],
  ['get', '/agents?top=1&%71=x'],
  ['get', '/v0/agents/public?query=x'],
  ['post', '/v0/agents/search', {}],
  ['post', '/discover', { query: 'x' }],
]
const LOOKUPS: readonly Request[] = [
  ['get', '/agents'],
  ['get', '/agents/public?q=%20'],
  ['get', '/agents/nothing?q=x'],
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
  it(`${id} is shared by all routes of this kind; above it 429 with Retry-After until the bucket refills`, async () => {
    await start({ [action]: requests.length })
    for (const request of requests) expect((await send(request, as)).status, request[1]).not.toBe(429)
    for (const request of requests) {
      const answer = await send(request, as)
      expectError(answer, { status: 429, code: 'rate_limited' }, request[1])
      expect(answer.json.error.code).toBe('RateLimited')
      const wait = Number(answer.headers.get('retry-after'))
      expect(wait).toBe(answer.json.retry_after)
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(60)
    }
    const first = requests[0] ?? ['get', '/']
    const wait = Number((await send(first, as)).headers.get('retry-after'))
    clock.advance(wait)
    expect((await send(first, as)).status).not.toBe(429)
    expect((await send(first, as)).status).toBe(429)
    clock.advance(600)
    for (const request of requests) expect((await send(request, as)).status, request[1]).not.toBe(429)
    expect((await send(first, as)).status).toBe(429)
  })
})

describe('limits', () => {
  it.each([-3600, 3600])('do not change when the clock is set by %i seconds', async (seconds) => {
    await start({ search: 2 })
    const search = () => send(['post', '/agents/search', {}])
    expect((await search()).status).toBe(200)
    clock.step(seconds)
    expect((await search()).status).toBe(200)
    const refused = await search()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    clock.advance(60)
    expect((await search()).status).toBe(200)
  })

  it('AIDIP-9-11 allow fewer searches than lookups by default', async () => {
    await start({})
    expect(DEFAULTS.rateLimits.search).toBeLessThan(DEFAULTS.rateLimits.lookup)
  })

  it('AIDIP-9-11 apply per client, whichever of its keys it uses', async () => {
    await start({ search: 2 })
    const [search] = SEARCHES
    if (!search) return
    const second = await directory.makeKey({ subject: 'tokA', scopes: ['discover'] })
    expect((await send(search, 'tokA')).status).toBe(200)
    expect((await directory.post(search[1], { key: second, body: {} })).status).toBe(200)
    expect((await send(search, 'tokA')).status).toBe(429)
    expect((await directory.post(search[1], { key: second, body: {} })).status).toBe(429)
    for (const as of ['tokB', 'tokC', 'anon', 'admin'] as const) {
      expect(
        [(await send(search, as)).status, (await send(search, as)).status, (await send(search, as)).status],
        as,
      ).toEqual([200, 200, 429])
    }
  })

  it('AIDIP-9-11 apply per address to anonymous callers, whatever address they claim', async () => {
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

  it('a subject named like an address is separate from that address', async () => {
    await start({ search: 1 })
    const key = await directory.makeKey({ subject: '127.0.0.1', scopes: ['discover'] })
    expect((await directory.post('/agents/search', { key, body: {} })).status).toBe(200)
    expect((await directory.post('/agents/search', { body: {} })).status).toBe(200)
  })

  it('of different kinds of requests are separate', async () => {
    await start({ search: 1, lookup: 1, register: 1 })
    expect((await send(['post', '/agents/search', {}], 'tokA')).status).toBe(200)
    expect((await send(['get', '/agents'], 'tokA')).status).toBe(200)
    expect((await send(['post', '/agents', aidipAgent()], 'tokA')).status).toBe(201)
    expect((await send(['post', '/agents/search', {}], 'tokA')).status).toBe(429)
    expect((await send(['get', '/agents'], 'tokA')).status).toBe(429)
    expect((await send(['post', '/agents', aidipAgent()], 'tokA')).status).toBe(429)
  })

  it('stop writes, and invalid requests count too', async () => {
    await start({ register: 2 })
    expect((await send(['post', '/agents', {}], 'tokA')).status).toBe(400)
    expect((await send(['post', '/agents', aidipAgent({ id: 'within' })], 'tokA')).status).toBe(201)
    expect((await send(['post', '/agents', aidipAgent({ id: 'past' })], 'tokA')).status).toBe(429)
    expect((await send(['get', '/agents/past'])).status).toBe(404)
    expect((await send(['get', '/health/ready'])).json.index.agents).toBe(1)
  })

  it('do not apply to imports by administrators, health checks and the directory’s description', async () => {
    await start({ search: 1, lookup: 1, register: 1, invoke: 1 })
    for (let i = 0; i < 5; i++) {
      const document = { document: aidipAgent({ id: `i${i}` }) }
      expect((await send(['post', '/admin/import', document], 'admin')).json.status).toBe('created')
      for (const path of ['/health/ready', '/health/live', '/.well-known/ad', '/openapi.json']) {
        expect((await send(['get', path])).status, path).toBe(200)
      }
    }
  })
})

/** The parsed `RateLimit` and `RateLimit-Policy` fields: the name of the limit, and its parameters. */
function reported({ headers }: TestResponse): Record<string, unknown>[] {
  return ['ratelimit-policy', 'ratelimit'].map((name) => {
    const [[policy, parameters] = [undefined, new Map()], ...others] = parseList(headers.get(name) ?? '')
    expect(others).toEqual([])
    return { policy, ...Object.fromEntries(parameters) }
  })
}

describe('RateLimit headers', () => {
  it('report the limit, what remains and when it is whole again, on every counted response', async () => {
    await start({ lookup: 4, search: 60 })
    const paths = ['/agents', '/agents/nothing', '/.well-known/agents.json', '/agents?top=x']
    const seen = []
    for (const path of paths) seen.push(await send(['get', path]))
    expect(seen.map(({ status }) => status)).toEqual([200, 404, 200, 400])
    for (const [used, [policy, left]] of seen.map(reported).entries()) {
      expect(policy).toEqual({ policy: 'lookup', q: 4, w: 60 })
      expect(left).toMatchObject({ policy: 'lookup', r: 3 - used })
      // Each request takes 15 s to refill; some of them have passed meanwhile.
      expect(left?.t).toBeLessThanOrEqual(15 * (used + 1))
      expect(left?.t).toBeGreaterThan(15 * used)
    }
    const over = await send(['get', '/agents'])
    expect(over.status).toBe(429)
    expect(reported(over)[1]).toMatchObject({ policy: 'lookup', r: 0 })
    clock.advance(15)
    expect(reported(await send(['head', '/agents']))[1]).toMatchObject({ policy: 'lookup', r: 0 })
    expect(reported(await send(['post', '/agents/search', {}]))).toMatchObject([
      { policy: 'search', q: 60, w: 60 },
      { policy: 'search', r: 59, t: 1 },
    ])
    expect(reported(await send(['get', '/agents'], 'tokA'))[1]).toMatchObject({ policy: 'lookup', r: 3 })
  })

  it('are not sent where nothing is counted, and pages of other origins can read them', async () => {
    await start({})
    for (const path of ['/health/live', '/.well-known/ad', '/nothing', '/admin/keys'])
      expect((await send(['get', path])).headers.get('ratelimit'), path).toBeNull()
    const { headers } = await directory.get('/agents', { headers: { origin: 'https://page.example' } })
    expect(headers.get('access-control-expose-headers')).toMatch(/\bRateLimit, RateLimit-Policy\b/)
  })
})

describe('requests that cost more than others', () => {
  it('count as several: by the agents checked and the bytes sent', () => {
    expect(extraRequests({ agents: 1999, bytes: 1_000_000 })).toBe(0)
    expect(extraRequests({ agents: 48_024, bytes: 0 })).toBe(24)
    expect(extraRequests({ agents: 0, bytes: 6_300_000 })).toBe(6)
  })
})

/** The limit of each operation that is counted, as OpenAPI says it: `search GET /agents`. */
async function countedOperations(): Promise<string[]> {
  const { paths } = (await directory.get('/openapi.json')).json
  const operations = Object.entries<Record<string, { description?: string }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description = '' }]) => ({
      operation: `${method.toUpperCase()} ${path}`,
      remark: /Counts against the `(\w+)` limit(?:, with `q` against the `(\w+)` limit)?/.exec(description),
    })),
  )
  return operations.flatMap(({ operation, remark }) => [
    ...(remark ? [`${remark[1]} ${operation}`] : []),
    ...(remark?.[2] ? [`${remark[2]} ${operation}?q=`] : []),
  ])
}

it('docs/reference/limits.md lists every operation that is counted, under its limit', async () => {
  const signIn = { clientId: 'directory' }
  const issuers = [{ issuer: 'https://login.example', audience: 'x', jwksUrl: 'https://login.example/jwks', signIn }]
  directory = await startDirectory({ probes: { enabled: true }, issuers })
  const page = readFileSync(new URL('../../../docs/reference/limits.md', import.meta.url), 'utf8')
  const listed = Array.from(page.matchAll(/^\| `(\w+)` \|[^|]*\|(.*)\|$/gm), ([, limit, cell = '']) =>
    Array.from(cell.matchAll(/`([A-Z]+ \/[^`]*)`/g), ([, operation]) => `${limit} ${operation}`),
  ).flat()
  expect(listed.toSorted()).toEqual((await countedOperations()).toSorted())
})
