import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSendPolitely, type SendPolitely } from '../../src/services/crawl/send-politely.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { CARD, card, descriptor, INDEX, startSite, type TestPage, type TestSite } from './site.js'

const PAUSE_MS = 150
const SENDER = {
  product: 'Switchboard',
  userAgent: () => 'Switchboard/1',
  now: Date.now,
  monotonic: () => performance.now(),
}
const clock = createTestClock()
let directory: TestDirectory
let site: TestSite

beforeAll(async () => {
  const crawl = { intervalSeconds: 86_400, pauseMs: PAUSE_MS, contact: 'mailto:ops@directory.example' }
  directory = await startDirectory({ crawl }, clock)
})
afterAll(() => directory.close())
beforeEach(async () => {
  site = await startSite({ [CARD]: { body: card() } })
})
afterEach(() => site.close())

const crawl = (url = site.url): Promise<TestResponse> => directory.post('/crawl', { as: 'tokA', body: { url } })
const state = async () => {
  const { json } = await directory.get('/crawl', { as: 'admin' })
  return json.sites.find(({ url }: { url: string }) => url.startsWith(site.url))
}

describe('the crawler', () => {
  it('reads nothing that robots.txt does not allow, and says so', async () => {
    site.pages['/robots.txt'] = { body: 'User-agent: *\nAllow: /\n\nUser-agent: switchboard\nDisallow: /.well-known/' }
    const response = await crawl()
    expectError(response, { status: 403 })
    expect(response.text).toContain('does not allow Switchboard to read')
    expect(site.takePaths()).toEqual(['/robots.txt'])
  })

  it('reads nothing while robots.txt cannot be read, and everything if there is none', async () => {
    site.pages['/robots.txt'] = { status: 503 }
    expectError(await crawl(), { status: 502 })
    expect(site.takePaths()).toEqual(['/robots.txt'])
    site.pages['/robots.txt'] = { status: 403 }
    expect((await crawl()).status).toBe(201)
  })

  it('follows the redirects of robots.txt, and reads it once a day', async () => {
    site.pages['/robots.txt'] = { status: 301, headers: { location: '/rules' } }
    site.pages['/rules'] = { body: 'User-agent: *\nDisallow: /private' }
    await crawl()
    clock.advance(61)
    await crawl()
    expect(site.takePaths()).toEqual(['/robots.txt', '/rules', CARD, CARD])
    clock.advance(86_400)
    await crawl()
    await vi.waitFor(() => expect(site.requests[0]?.path).toBe('/robots.txt'), 10_000)
  })

  it('makes an agent stale whose site no longer allows it to be read', async () => {
    await crawl()
    site.pages['/robots.txt'] = { body: 'User-agent: *\nDisallow: /' }
    clock.advance(86_400 * 1.2)
    await vi.waitFor(
      async () => expect((await state()).agents).toEqual([expect.objectContaining({ status: 'stale' })]),
      {
        timeout: 20_000,
      },
    )
  })

  it('sends one request at a time to a host, with a pause in between', async () => {
    const paths = ['/a.json', '/b.json', '/c.json']
    const slow: TestPage = { send: (response) => void setTimeout(() => response.end('{}'), 30) }
    site.pages = Object.fromEntries(paths.map((path) => [path, slow]))
    const send = createSendPolitely({ ...SENDER, fetch, pauseMs: PAUSE_MS })
    const start = performance.now()
    const { signal } = new AbortController()
    const pages = await Promise.all(paths.map((path) => send(new URL(path, site.url), {}, signal)))
    expect(pages.map(({ kind }) => kind)).toEqual(['read', 'read', 'read'])
    expect(site.mostAtOnce).toBe(1)
    // At least one robots.txt and three documents.
    expect(performance.now() - start).toBeGreaterThan(3 * PAUSE_MS)
  })

  it('waits as long as robots.txt asks for', async () => {
    site.pages['/robots.txt'] = { body: 'User-agent: *\nCrawl-delay: 0.4' }
    const send = createSendPolitely({ ...SENDER, fetch, pauseMs: 0 })
    const start = performance.now()
    await send(new URL(CARD, site.url), {}, new AbortController().signal)
    expect(performance.now() - start).toBeGreaterThan(390)
  })

  it('honours Retry-After, whoever asks, and waits longer after every failure', async () => {
    await crawl()
    site.pages[CARD] = { status: 503, headers: { 'retry-after': '7200' } }
    clock.advance(86_400 * 1.2)
    await vi.waitFor(async () => expect((await state()).failures).toBe(1), 20_000)
    const { next_at: nextAt, crawled_at: at } = await state()
    expect(Date.parse(nextAt) - Date.parse(at)).toBe(7_200_000)
    site.requests.length = 0
    clock.advance(3600)
    expect((await crawl()).json).toMatchObject({ state: 'failed', reason: expect.stringContaining('503') })
    expect(site.requests).toEqual([])
    site.pages[CARD] = { status: 500 }
    clock.advance(3700)
    await vi.waitFor(async () => expect((await state()).failures).toBe(2), 20_000)
    const second = await state()
    const wait = Date.parse(second.next_at) - Date.parse(second.crawled_at)
    expect(wait).toBeGreaterThan(100_000)
    expect(wait).toBeLessThan(140_000)
    // The agent stays: the site may come back.
    expect((await directory.get(`/agents/${encodeURIComponent(site.url + CARD)}`)).status).toBe(200)
  })

  it('leaves the rest of a list for later if the host is in trouble', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `agent-${i}`)
    site.pages = {
      [INDEX]: { body: { agents: Object.fromEntries(names.map((name) => [name, `/${name}.json`])) } },
      ...Object.fromEntries(names.map((name) => [`/${name}.json`, { status: 500 }])),
      '/agent-0.json': { body: descriptor() },
    }
    const { json } = await crawl(site.url + INDEX)
    expect(json).toMatchObject({ state: 'failed', failures: 1 })
    expect(site.takePaths()).toEqual([
      '/robots.txt',
      INDEX,
      '/agent-0.json',
      '/agent-1.json',
      '/agent-2.json',
      '/agent-3.json',
    ])
  })

  it('names a contact', async () => {
    await crawl()
    expect(site.requests[0]?.headers['user-agent']).toMatch(/^Switchboard\/[\d.]+ \(\+mailto:ops@directory\.example\)$/)
  })
})

describe('a hostile site', () => {
  it.each([
    ['a private address', 'https://10.0.0.1/card.json'],
    ['a metadata service', 'https://169.254.169.254/latest'],
    ['an unencrypted host', 'http://directory.example/card.json'],
    ['something else than a web page', 'file:///etc/passwd'],
  ])('cannot lead to %s', async (_name, location) => {
    site.pages[CARD] = { status: 302, headers: { location } }
    const response = await crawl(site.url + CARD)
    expectError(response, { status: 403 })
  })

  it('cannot keep the directory busy with redirects', async () => {
    site.pages[CARD] = { status: 307, headers: { location: CARD } }
    expectError(await crawl(site.url + CARD), { status: 502 })
    expect(site.requests.filter(({ path }) => path === CARD)).toHaveLength(6)
  })

  it('cannot send more than the limit: the rest is not read', async () => {
    let sent = 0
    const chunk = Buffer.alloc(64 * 1024, ' ')
    site.pages[CARD] = {
      send(response) {
        const push = (): void => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length
        }
        response.on('drain', push)
        push()
      },
    }
    const response = await crawl(site.url + CARD)
    expectError(response, { status: 404 })
    expect(response.text).toContain('more than 1048576 bytes')
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  it.each([
    ['compressed', { headers: { 'content-encoding': 'gzip' }, body: 'x' }],
    [
      'cut off',
      {
        headers: { 'content-length': '1000' },
        send: (response: { write(text: string): void; destroy(): void }) => {
          response.write('{')
          response.destroy()
        },
      },
    ],
  ])('that answers with something %s is reported as failed', async (_name, page) => {
    site.pages[CARD] = page
    expect([404, 502]).toContain((await crawl(site.url + CARD)).status)
  })

  it('cannot claim what is at another host: the host that serves a document owns it', async () => {
    const other = await startSite({ '/card.json': { body: card({ name: 'Other' }) } })
    try {
      site.pages[CARD] = { status: 302, headers: { location: `${other.url}/card.json` } }
      const { json } = await crawl(site.url + CARD)
      expect(json.agents).toEqual([expect.objectContaining({ agent: `${other.url}/card.json`, status: 'created' })])
      const { json: entries } = await directory.get('/admin/audit?action=register&limit=1', { as: 'admin' })
      expect(JSON.stringify(entries)).toContain(other.url)
    } finally {
      await other.close()
    }
  })
})

describe('beyond this machine', () => {
  const answering = (answers: Record<string, () => Response>): SendPolitely =>
    createSendPolitely({
      ...SENDER,
      fetch: async (input) => answers[String(input)]?.() ?? new Response('', { status: 404 }),
      pauseMs: 0,
    })
  const { signal } = new AbortController()

  it('a site cannot lead to services on this machine, even in development', async () => {
    const redirect = () => new Response('', { status: 302, headers: { location: 'http://127.0.0.1:9200/' } })
    const send = answering({
      'https://a.example/card.json': redirect,
      'http://127.0.0.1:9200/': () => new Response('{}'),
    })
    expect(await send(new URL('https://a.example/card.json'), {}, signal)).toMatchObject({ kind: 'refused' })
  })

  it('the robots.txt of the host that a redirect leads to counts too', async () => {
    const send = answering({
      'https://a.example/card.json': () =>
        new Response('', { status: 302, headers: { location: 'https://b.example/card.json' } }),
      'https://b.example/robots.txt': () => new Response('User-agent: *\nDisallow: /'),
    })
    const page = await send(new URL('https://a.example/card.json'), {}, signal)
    expect(page).toMatchObject({ kind: 'refused', reason: expect.stringContaining('b.example') })
  })
})
