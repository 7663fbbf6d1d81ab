import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openBrowser, type TestBrowser } from '../support/browser.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'

const clock = createTestClock()
let directory: TestDirectory
let browser: TestBrowser
let subject: string
let key: string
beforeAll(async () => {
  directory = await startDirectory({ cors: { origins: ['https://friend.example'] } }, clock)
})
afterAll(() => directory.close())
beforeEach(async () => {
  browser = openBrowser(directory)
  subject = `person-${randomUUID()}`
  key = await directory.makeKey({ subject, scopes: ['publish', 'discover'] })
})

const whoami = async (): Promise<unknown> => (await directory.get('/session', browser.reading())).json.subject
const register = (more?: Record<string, string>, id = 'of-a-browser') =>
  directory.post('/agents', { ...browser.writing(more), body: aidipAgent({ id, visibility: 'private' }) })

describe('signing in with a key', () => {
  it('sets a cookie that scripts and other sites cannot use, and says who is signed in', async () => {
    const before = await directory.get('/session')
    expect(before.json).toEqual({
      signed_in: false,
      sign_in: { key: true, openid: [] },
      mode: 'development',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    const answer = await browser.signIn(key)
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ signed_in: true, subject, scopes: ['publish', 'discover'] })
    expect(Date.parse(answer.json.expires_at) - clock.now()).toBeGreaterThan(7.9 * 3_600_000)
    expect(Date.parse(answer.json.expires_at) - clock.now()).toBeLessThanOrEqual(8 * 3_600_000)
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^switchboard_session=[\w.-]+; Max-Age=28\d{3}; Path=\/; HttpOnly; SameSite=Strict$/),
    ])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const after = await directory.get('/session', browser.reading())
    expect(after.json).toEqual({ ...answer.json })
    expect(after.headers.get('cache-control')).toBe('no-store')
  })

  it('is refused for a key that is not valid, and sets no cookie', async () => {
    const answer = await browser.signIn('sb_no-such-key')
    expectError(answer, { status: 401, code: 'unauthorized' })
    expect(answer.headers.getSetCookie()).toEqual([])
    const { json } = await directory.get('/admin/audit?action=sign-in&outcome=refused&limit=1', { as: 'admin' })
    expect(json.entries).toMatchObject([{ actor: 'anonymous', detail: expect.stringContaining('API key is invalid') }])
    expectError(await directory.post('/session', { ...browser.writing(), body: {} }), { status: 400, member: '/key' })
  })

  it('starts a new session each time: a cookie from before is not used again', async () => {
    await browser.signIn(key)
    const first = browser.cookie
    await browser.signIn(key)
    expect(browser.cookie).not.toBe(first)
    const other = await directory.makeKey({ subject: 'somebody-else', scopes: ['discover'] })
    await browser.signIn(other)
    expect(await whoami()).toBe('somebody-else')
  })

  it('is possible for pages of this directory only, so that nobody is signed in as somebody else', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'https://friend.example' },
      { origin: 'null' },
      { origin: directory.url.replace('http:', 'https:') },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: directory.url },
    ] as Record<string, string>[]) {
      const answer = await directory.post('/session', { headers, body: { key } })
      expectError(answer, { status: 403, code: 'csrf_failed' }, JSON.stringify(headers))
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expectError(await directory.post('/session', { body: { key } }), { status: 403, code: 'csrf_failed' })
  })

  it('is in the audit log, without the secret', async () => {
    await browser.signIn(key)
    await directory.delete('/session', browser.writing())
    const { text, json } = await directory.get(`/admin/audit?subject=${subject}`, { as: 'admin' })
    expect(json.entries.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['session.start', 'session.end']),
    )
    expect(text).not.toContain(key)
  })
})

describe('a session', () => {
  it('acts as its subject everywhere, with the rights and limits of the key', async () => {
    await browser.signIn(key)
    expect((await register()).status).toBe(201)
    expect((await directory.get('/agents/of-a-browser', browser.reading())).status).toBe(200)
    expect((await directory.get('/agents/of-a-browser')).status).toBe(404)
    expect((await directory.get('/limits', browser.reading())).json.subject).toBe(subject)
    expectError(await directory.get('/admin/keys', browser.reading()), { status: 403, code: 'forbidden' })
    expect((await directory.delete('/agents/of-a-browser', browser.writing())).status).toBe(204)
  })

  it('does not count beside other credentials', async () => {
    await browser.signIn(key)
    const { headers } = browser.reading()
    const as = (more: Record<string, string>) => directory.get('/limits', { headers: { ...headers, ...more } })
    expect((await as({ authorization: `Bearer ${directory.adminKey}` })).json.subject).toBe('admin')
    expect((await as({ 'x-api-key': directory.adminKey })).json.subject).toBe('admin')
    expectError(await as({ authorization: 'Bearer sb_wrong' }), { status: 401 })
  })

  it('changes nothing without the token of the session: 403 csrf_failed', async () => {
    await browser.signIn(key)
    for (const wrong of ['', 'wrong', `${browser.csrf}x`])
      expectError(await register({ 'x-csrf-token': wrong }), { status: 403, code: 'csrf_failed', says: /X-CSRF-Token/ })
    for (const method of ['put', 'patch', 'delete'] as const)
      expectError(
        await directory[method]('/agents/any', { headers: { cookie: browser.cookie, origin: directory.url } }),
        { status: method === 'patch' ? 405 : 403 },
      )
    const other = openBrowser(directory)
    await other.signIn(key)
    expectError(await register({ 'x-csrf-token': other.csrf }), { status: 403, code: 'csrf_failed' })
    expect((await directory.get('/agents/of-a-browser', browser.reading())).status).toBe(404)
  })

  it('changes nothing for pages of other origins, even those that may use the API', async () => {
    await browser.signIn(key)
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'https://friend.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ] as Record<string, string>[])
      expectError(await register(headers), { status: 403, code: 'csrf_failed' }, JSON.stringify(headers))
    const { origin: _, ...rest } = browser.writing().headers ?? {}
    expectError(await directory.post('/agents', { headers: rest, body: aidipAgent() }), {
      status: 403,
      code: 'csrf_failed',
    })
  })

  it('does not exist for pages of other origins that read', async () => {
    await browser.signIn(key)
    await register({}, 'hidden-from-pages')
    const read = (more: Record<string, string>) => directory.get('/agents/hidden-from-pages', browser.reading(more))
    expect((await read({})).status).toBe(200)
    expect((await read({ 'sec-fetch-site': 'none' })).status).toBe(200)
    for (const site of ['cross-site', 'same-site'])
      expect((await read({ 'sec-fetch-site': site })).status, site).toBe(404)
    const { cookie } = browser
    const foreign = { headers: { cookie, origin: 'https://friend.example' } }
    expect((await directory.get('/agents/hidden-from-pages', foreign)).status).toBe(404)
    const session = await directory.get('/session', foreign)
    expect(session.json).not.toHaveProperty('csrf')
    expect(session.headers.get('access-control-allow-origin')).toBeNull()
    expect(session.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('cannot be used by a WebSocket, which any page can open', async () => {
    await browser.signIn(key)
    const url = `${directory.url.replace('http', 'ws')}/agents/any/invoke`
    const status = await new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { headers: { cookie: browser.cookie, origin: directory.url } })
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
      socket.on('open', () => reject(new Error('the WebSocket was opened')))
      socket.on('error', reject)
    })
    expect(status).toBe(403)
  })

  it('gets responses that no shared cache stores', async () => {
    await browser.signIn(key)
    for (const path of ['/agents', '/limits', '/agents?q=x', '/feed', '/domains']) {
      const { headers } = await directory.get(path, browser.reading())
      expect(headers.get('cache-control'), path).toMatch(/^(private, no-cache|no-store)$/)
    }
    expect((await directory.get('/agents')).headers.get('vary')).toMatch(/\bCookie\b/)
    expect((await directory.get('/feed')).headers.get('vary')).toMatch(/\bCookie\b/)
  })

  it('counts against the limits of its subject', async () => {
    await browser.signIn(key)
    const limits = { lookup_per_minute: 2 }
    await directory.post('/admin/limits', { as: 'admin', body: { subject, limits } })
    const read = async (options: object) => (await directory.get('/agents/nothing', options)).status
    expect([await read(browser.reading()), await read({ key }), await read(browser.reading())]).toEqual([404, 404, 429])
  })
})

describe('a session ends', () => {
  const expectEnded = async (): Promise<void> => {
    const answer = await directory.get('/agents', browser.reading())
    expectError(answer, { status: 401, code: 'unauthorized', says: /session has ended/ })
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^switchboard_session=; Max-Age=0;/)])
    expect((await directory.get('/session', browser.reading())).json.signed_in).toBe(false)
    expectError(await register(), { status: 401 })
  }

  it('when its key is revoked, at once', async () => {
    await browser.signIn(key)
    const { json } = await directory.get('/admin/keys', { as: 'admin' })
    const { id } = json.keys.find((one: { subject: string }) => one.subject === subject)
    await directory.delete(`/admin/keys/${id}`, { as: 'admin' })
    await expectEnded()
  })

  it('when its key expires', async () => {
    key = await directory.makeKey({ subject, scopes: ['discover'], expires_in: 600 })
    const { json } = await browser.signIn(key)
    expect(Date.parse(json.expires_at) - clock.now()).toBeLessThanOrEqual(600_000)
    expect(await whoami()).toBe(subject)
    clock.advance(601)
    await expectEnded()
  })

  it('after the hours that the operator allows', async () => {
    await browser.signIn(key)
    clock.advance(8 * 3600 - 60)
    expect(await whoami()).toBe(subject)
    clock.advance(61)
    await expectEnded()
  })

  it('when its holder signs out: a copy of the cookie is worth nothing, also after a restart', async () => {
    await browser.signIn(key)
    const copy = browser.reading()
    expectError(await directory.delete('/session', browser.writing({ 'x-csrf-token': '' })), {
      status: 403,
      code: 'csrf_failed',
    })
    const elsewhere = browser.writing({ origin: 'https://evil.example' })
    expectError(await directory.delete('/session', elsewhere), { status: 403, code: 'csrf_failed' })
    expect(await whoami()).toBe(subject)
    const answer = await directory.delete('/session', browser.writing())
    expect(answer.status).toBe(204)
    browser.take(answer)
    expect(browser.cookie).toBe('')
    expectError(await directory.get('/agents', copy), { status: 401, says: /session has ended/ })
    expect((await directory.delete('/session', browser.writing())).status).toBe(204)
    const other = openBrowser(directory)
    await other.signIn(key)
    await directory.restart()
    expectError(await directory.get('/agents', copy), { status: 401, says: /session has ended/ })
    expect((await directory.get('/limits', other.reading())).json.subject).toBe(subject)
  })

  it('is not begun by a cookie that was not written here: such a cookie is ignored', async () => {
    await browser.signIn(key)
    const [name = '', value = ''] = browser.cookie.split('=')
    const altered = [...value].map((letter, at) => (at === 30 ? (letter === 'A' ? 'B' : 'A') : letter)).join('')
    for (const cookie of [
      `${name}=${altered}`,
      `${name}=`,
      `${name}=1.AAAA`,
      `${name}=${'A'.repeat(5000)}`,
      name,
      '=;;',
    ])
      expect((await directory.get('/agents', { headers: { cookie } })).status, cookie.slice(0, 60)).toBe(200)
    const elsewhere = await startDirectory()
    try {
      const answer = await elsewhere.get('/limits', { headers: { cookie: browser.cookie } })
      expectError(answer, { status: 401, says: /needs credentials/ })
    } finally {
      await elsewhere.close()
    }
  })
})

describe('in production', () => {
  it('the cookie is bound to this host and to TLS, and only pages with TLS count as own', async () => {
    const production = await startDirectory({ behindProxy: true })
    const proxied = { 'x-forwarded-proto': 'https' }
    const signIn = (origin: string) =>
      production.post('/session', { headers: { ...proxied, origin }, body: { key: production.adminKey } })
    try {
      const answer = await signIn(production.url.replace('http:', 'https:'))
      expect(answer.json).toMatchObject({ subject: 'admin', mode: 'production' })
      const [cookie = ''] = answer.headers.getSetCookie()
      expect(cookie).toMatch(
        /^__Host-switchboard_session=\S+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      )
      const sent = { ...proxied, cookie: cookie.split(';')[0] ?? '' }
      expect((await production.get('/admin/keys', { headers: sent })).status).toBe(200)
      expectError(await signIn(production.url), { status: 403, code: 'csrf_failed' })
    } finally {
      await production.close()
    }
  })
})
