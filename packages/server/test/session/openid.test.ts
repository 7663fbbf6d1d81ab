import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { assertSafe, type Settings, withDefaults } from '../../src/config/settings.js'
import { ownPath } from '../../src/faces/session/openid-routes.js'
import { openBrowser, type TestBrowser } from '../support/browser.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.js'

const SCOPES = [
  { claim: 'groups', values: { operators: ['admin'], staff: ['publish'] } },
  { claim: 'scope', values: { discover: ['discover'] } },
]
const clock = createTestClock()
let provider: OpenIdProvider
let directory: TestDirectory
let browser: TestBrowser
beforeAll(async () => {
  provider = await startOpenIdProvider()
  const signIn = { ...provider.signIn, requestScopes: ['openid', 'discover'], scopes: ['invoke'] }
  directory = await startDirectory({ issuers: [{ ...provider.trust, scopes: SCOPES, signIn }] }, clock)
  await provider.allowSignIn(`${directory.url}/session/openid/callback`)
})
afterAll(async () => {
  await directory.close()
  await provider.close()
})
beforeEach(() => {
  browser = openBrowser(directory)
  provider.available = true
})

/** Starts a sign-in; returns the URL at the provider. */
const begin = async (query = ''): Promise<string> => {
  const answer = await directory.get(`/session/openid/0${query}`)
  expect(answer.status, answer.text).toBe(302)
  browser.take(answer)
  return answer.headers.get('location') ?? ''
}
/** Follows the redirect of the provider, as a navigation from another site. */
const finish = async (url: string, cookie = browser.cookie): Promise<TestResponse> => {
  expect(url.startsWith(`${directory.url}/session/openid/callback?`), url).toBe(true)
  const headers = { cookie, 'sec-fetch-site': 'cross-site' }
  const answer = await directory.get(url.slice(directory.url.length), { headers })
  browser.take(answer)
  return answer
}
const signIn = async (login: string, query = ''): Promise<TestResponse> =>
  finish(await provider.signInAs(login, await begin(query)))
const session = async () => {
  const answer = await directory.get('/session', browser.reading())
  browser.take(answer)
  return answer.json
}

/** People see the error in their browser; nobody is signed in, and the sign-in cannot be continued. */
const expectPage = async (answer: TestResponse, status: number, says: RegExp): Promise<void> => {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
  expect(answer.text).toMatch(says)
  expect(answer.text).toMatch(/Error code: <code>[a-z_]+<\/code>/)
  expect(browser.cookie).toBe('')
  expect((await session()).signed_in).toBe(false)
}

describe('signing in at an OpenID provider', () => {
  it('is offered, with the name that the operator chose', async () => {
    expect((await session()).sign_in).toEqual({
      key: true,
      openid: [{ issuer: provider.issuer, name: 'The Company', href: '/session/openid/0' }],
    })
  })

  it('uses the authorization code flow with PKCE, and a cookie that only the way back can use', async () => {
    const answer = await directory.get('/session/openid/0')
    const url = new URL(answer.headers.get('location') ?? '')
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/auth`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'console',
      redirect_uri: `${directory.url}/session/openid/callback`,
      scope: 'openid discover',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^switchboard_sign_in=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    for (const secret of ['state', 'nonce'])
      expect(answer.headers.get('set-cookie')).not.toContain(url.searchParams.get(secret))
  })

  it('gives the subject and scopes that tokens of the issuer have, and those of everybody who signs in', async () => {
    const answer = await signIn('alice')
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/'])
    expect(await session()).toMatchObject({ subject: 'alice', scopes: ['invoke', 'publish', 'discover'] })
    const body = aidipAgent({ id: 'of-alice', visibility: 'private' })
    expect((await directory.post('/agents', { ...browser.writing(), body })).status).toBe(201)
    expect((await directory.get('/agents/of-alice', browser.reading())).status).toBe(200)
    await signIn('olivia')
    expect((await session()).scopes).toContain('admin')
    expect((await directory.get('/admin/keys', browser.reading())).status).toBe(200)
    const audit = await directory.get('/admin/audit?action=session.start', { as: 'admin' })
    expect(audit.json.entries[0]).toMatchObject({ actor: 'olivia', detail: `openid ${provider.issuer}` })
  })

  it('ends by signing out, and after the hours that the operator allows', async () => {
    await signIn('alice')
    await session()
    const copy = browser.reading()
    expect((await directory.delete('/session', browser.writing())).status).toBe(204)
    expect((await directory.get('/limits', copy)).status).toBe(401)
    await signIn('alice')
    expect((await directory.get('/limits', browser.reading())).json.subject).toBe('alice')
    clock.advance(8 * 3600 + 1)
    expect((await directory.get('/limits', browser.reading())).status).toBe(401)
  })

  it('returns to the page where it was started', async () => {
    const answer = await signIn('alice', `?return_to=${encodeURIComponent('/agents/x?tab=calls#first')}`)
    expect(answer.headers.get('location')).toBe('/agents/x?tab=calls#first')
  })

  it('never leads to another site', async () => {
    const own = new URL('https://directory.example')
    for (const path of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example/',
      '/.//evil.example/',
      '/a/..//evil.example/',
    ])
      expect(ownPath(path, own), path).toBe('/')
    for (const path of ['/\t/evil.example/', 'javascript:alert(1)', 'agents', '', 'https:evil.example', 'http://['])
      expect(ownPath(path, own), path).toBe('/')
    expect(ownPath('/agents/x?a=//b#/c', own)).toBe('/agents/x?a=//b#/c')
    expect(ownPath('//evil.example/', new URL('https://proxy.example/agents'))).toBe('/agents/')
    const answer = await signIn('alice', `?return_to=${encodeURIComponent('//evil.example/')}`)
    expect(answer.headers.get('location')).toBe('/')
  })

  it('goes to the host that the provider sends browsers back to, because cookies stay there', async () => {
    const port = new URL(directory.url).port
    const response = await fetch(`http://localhost:${port}/session/openid/0?return_to=/x`, {
      redirect: 'manual',
    }).catch(() => undefined)
    // Names may not resolve to the address that the server listens on.
    if (response) expect(response.headers.get('location')).toBe(`${directory.url}/session/openid/0?return_to=/x`)
  })
})

describe('a sign-in at an OpenID provider fails', () => {
  it('in a browser that has not started it: nobody is signed in as somebody else by a link', async () => {
    const url = await provider.signInAs('mallory', await begin())
    await expectPage(await finish(url, ''), 400, /not started in this browser/)
  })

  it('if its state is that of another sign-in', async () => {
    const first = await provider.signInAs('alice', await begin())
    await begin()
    await expectPage(await finish(first), 400, /not started in this browser/)
  })

  it('if its nonce is that of another sign-in', async () => {
    const url = new URL(await begin())
    url.searchParams.set('nonce', 'of-another-sign-in')
    await expectPage(await finish(await provider.signInAs('alice', url.href)), 401, /claim nonce/)
  })

  it('if the code was requested by somebody else (PKCE)', async () => {
    const url = new URL(await begin())
    url.searchParams.set('code_challenge', 'A'.repeat(43))
    await expectPage(await finish(await provider.signInAs('alice', url.href)), 401, /did not accept/)
  })

  it('if its response is replayed', async () => {
    const url = await provider.signInAs('alice', await begin())
    const { cookie } = browser
    expect((await finish(url)).status).toBe(302)
    browser = openBrowser(directory)
    await expectPage(await finish(url, cookie), 401, /did not accept/)
  })

  it('if the token that says who signed in has expired', async () => {
    const url = await provider.signInAs('late', await begin())
    clock.advance(5)
    await expectPage(await finish(url), 401, /expired/)
  })

  it('after ten minutes', async () => {
    const url = await provider.signInAs('alice', await begin())
    clock.advance(601)
    await expectPage(await finish(url), 400, /more than ten minutes ago/)
  })

  it('if the response names another provider', async () => {
    const url = new URL(await provider.signInAs('alice', await begin()))
    url.searchParams.set('iss', 'https://evil.example')
    await expectPage(await finish(url.href), 401, /another identity provider/)
  })

  it('if the provider refuses; its text is not shown', async () => {
    const state = new URL(await begin()).searchParams.get('state')
    const url = `${directory.url}/session/openid/callback?state=${state}&error=access_denied&error_description=<b>pay+here</b>`
    const answer = await finish(url)
    await expectPage(answer, 401, /refused: access_denied/)
    expect(answer.text).not.toContain('pay')
  })

  it('while the provider is down, and says so', async () => {
    const url = await provider.signInAs('alice', await begin())
    provider.available = false
    await expectPage(await finish(url), 503, /try again later/)
  })

  it('at a provider that is not configured', async () => {
    for (const n of ['1', '-1', 'x', '0x0', '__proto__'])
      expect((await directory.get(`/session/openid/${n}`)).status, n).toBe(404)
  })
})

describe('the config', () => {
  const problem = (settings: Settings): string => {
    try {
      assertSafe(withDefaults(settings))
      return ''
    } catch (error) {
      return String(error)
    }
  }
  const issuers = [{ issuer: 'https://login.example', audience: 'a', signIn: { clientId: 'console' } }]

  it('needs what a sign-in needs: an address to return to, and a secret that replicas share', () => {
    expect(problem({ issuers })).toBe('')
    expect(problem({ issuers, behindProxy: true })).toMatch(/--public-url/)
    expect(problem({ issuers, behindProxy: true, publicUrl: 'https://directory.example' })).toBe('')
    expect(problem({ issuers, database: 'postgres://x' })).toMatch(/SWITCHBOARD_SECRET/)
    expect(problem({ issuers: [{ issuer: 'login', audience: 'a', signIn: { clientId: 'c' } }] })).toMatch(
      /must be a URL/,
    )
  })
})
