import type { ServerResponse } from 'node:http'
import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDocumentCache, createResolver, type Resolver, resolveAgent } from '../../src/index.js'
import { sendJson, startWeb, type Web } from './support/web.js'

const CARD = 'https://example.com/.well-known/agent.json'
const OTHERS = ['https://example.com/.well-known/agents.json', 'https://example.com/agent.json']

const described = (version: string): JsonObject => ({ name: 'a', version, capabilities: [{ name: 'x' }] })

describe('a fetched document', () => {
  let web: Web
  let time = 0
  let resolver: Resolver

  beforeAll(async () => {
    web = await startWeb()
  })
  beforeEach(() => {
    web.pages = {}
    web.requestedUrls.length = 0
    web.headers.length = 0
    time = Date.parse('2026-11-15T12:00:00Z')
    resolver = createResolver({ fetch: web.fetch, now: () => time, cache: createDocumentCache() })
  })
  afterAll(() => web.close())

  const resolve = async (): Promise<string | undefined> => (await resolver.resolveAgent('agent://example.com/')).version
  /** Number of requests for the descriptor. */
  const requests = (): number => web.requestedUrls.filter((url) => url === CARD).length
  const lastHeaders = () => web.headers[web.requestedUrls.lastIndexOf(CARD)]

  const serve = (version: string, headers: object): void => {
    web.pages[CARD] = (response) => sendJson(response, 200, described(version), headers)
  }

  /** Serves the descriptor with an ETag. */
  const serveTagged = (version: string, more: object): void => {
    const etag = `"${version}"`
    web.pages[CARD] = (response: ServerResponse, headers) => {
      if (headers['if-none-match'] === etag) response.writeHead(304, { etag, ...more }).end()
      else sendJson(response, 200, described(version), { etag, ...more })
    }
  }

  it('AURI-5.1-06 is reused within max-age, and revalidated with its ETag afterwards', async () => {
    serveTagged('1.0.0', { 'cache-control': 'max-age=60' })
    expect([await resolve(), await resolve()]).toEqual(['1.0.0', '1.0.0'])
    expect(requests()).toBe(1)
    time += 59_000
    expect([await resolve(), requests()]).toEqual(['1.0.0', 1])
    time += 2_000
    expect([await resolve(), requests()]).toEqual(['1.0.0', 2])
    expect(lastHeaders()?.['if-none-match']).toBe('"1.0.0"')
  })

  it('is revalidated if the clock is set back to before it was fetched', async () => {
    serveTagged('1.0.0', { 'cache-control': 'max-age=60' })
    await resolve()
    time -= 3_600_000
    expect([await resolve(), requests()]).toEqual(['1.0.0', 2])
  })

  it('AURI-5.1-09 is fresh again after a 304, and replaced by a new one', async () => {
    serveTagged('1.0.0', { 'cache-control': 'max-age=60' })
    await resolve()
    time += 61_000
    await resolve()
    time += 59_000
    expect([await resolve(), requests()]).toEqual(['1.0.0', 2])
    time += 2_000
    serveTagged('2.0.0', { 'cache-control': 'max-age=60' })
    expect([await resolve(), requests()]).toEqual(['2.0.0', 3])
    expect([await resolve(), requests()]).toEqual(['2.0.0', 3])
  })

  it('AURI-5.1-09 is revalidated by date if it has no ETag', async () => {
    const modified = 'Sat, 14 Nov 2026 10:00:00 GMT'
    web.pages[CARD] = (response, headers) =>
      headers['if-modified-since'] === modified
        ? void response.writeHead(304).end()
        : sendJson(response, 200, described('1.0.0'), { 'last-modified': modified })
    expect([await resolve(), await resolve(), requests()]).toEqual(['1.0.0', '1.0.0', 2])
  })

  it('AURI-5.1-09 is never stored with no-store', async () => {
    serveTagged('1.0.0', { 'cache-control': 'no-store, max-age=60' })
    await resolve()
    await resolve()
    expect(requests()).toBe(2)
    expect(lastHeaders()?.['if-none-match']).toBeUndefined()
  })

  it.each([
    ['no-cache, max-age=60', {}, 2],
    ['max-age=0', {}, 2],
    ['max-age=banana', {}, 2],
    ['max-age=60', { age: '70' }, 2],
    ['max-age=60', { vary: '*' }, 2],
    ['public, MAX-AGE="60"', {}, 1],
    ['max-age=0', { expires: 'Mon, 16 Nov 2026 12:00:00 GMT' }, 2],
  ])('AURI-5.1-09 with %j and %j is requested %i time(s)', async (control, more, times) => {
    serve('1.0.0', { 'cache-control': control, ...more })
    await resolve()
    await resolve()
    expect(requests()).toBe(times)
  })

  it('AURI-5.1-09 is reused until its Expires date', async () => {
    serve('1.0.0', { date: 'Sun, 15 Nov 2026 12:00:00 GMT', expires: 'Sun, 15 Nov 2026 12:01:00 GMT' })
    await resolve()
    time += 59_000
    expect([await resolve(), requests()]).toEqual(['1.0.0', 1])
    time += 2_000
    expect([await resolve(), requests()]).toEqual(['1.0.0', 2])
  })

  it('is requested again after a day, whatever its host says', async () => {
    serve('1.0.0', { 'cache-control': 'max-age=9999999999' })
    await resolve()
    time += 86_401_000
    await resolve()
    expect(requests()).toBe(2)
  })

  it('that is missing is cached as missing for half a minute', async () => {
    serve('1.0.0', { 'cache-control': 'max-age=3600' })
    await resolve()
    expect(web.requestedUrls).toEqual([...OTHERS, CARD])
    time += 29_000
    await resolve()
    expect(web.requestedUrls).toHaveLength(3)
    time += 2_000
    web.pages['https://example.com/agent.json'] = described('3.0.0')
    expect(await resolve()).toBe('3.0.0')
  })

  it('is not cached as missing if the host failed or denied access', async () => {
    web.pages[CARD] = (response) => sendJson(response, 500, {})
    await expect(resolve()).rejects.toMatchObject({ code: 'unavailable' })
    web.pages[CARD] = (response) => sendJson(response, 403, {})
    expect((await resolver.resolveAgent('agent://example.com/')).fallback).toBe(true)
    serve('1.0.0', {})
    expect(await resolve()).toBe('1.0.0')
  })

  it('is shared by resolutions with the same fetch only', async () => {
    serve('1.0.0', { 'cache-control': 'max-age=60' })
    const own: typeof fetch = (input, init) => web.fetch(input, init)
    await resolveAgent('agent://example.com/', { fetch: own })
    await resolveAgent('agent://example.com/', { fetch: own })
    expect(requests()).toBe(1)
    await resolveAgent('agent://example.com/', { fetch: (input, init) => web.fetch(input, init) })
    expect(requests()).toBe(2)
  })
})
