// Signing in and out, in a real browser and at a real identity provider.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { type OpenIdProvider, startOpenIdProvider } from '../../server/test/support/openid-provider.js'
import { expectAccessible, HAS_BROWSER, openTab, startBrowser, takePicture, title } from './support/browser.js'

describe.skipIf(!HAS_BROWSER)(title('signing in to the console'), () => {
  let provider: OpenIdProvider
  let directory: TestDirectory
  let browser: Browser
  let key: string
  beforeAll(async () => {
    provider = await startOpenIdProvider()
    const signIn = { ...provider.signIn, scopes: ['discover', 'invoke'] }
    directory = await startDirectory({ issuers: [{ ...provider.trust, signIn }] })
    await provider.allowSignIn(`${directory.url}/session/openid/callback`)
    key = await directory.makeKey({ subject: 'team-a', scopes: ['publish', 'discover'] })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await directory?.close()
    await provider?.close()
  })

  const account = (tab: Page, subject: string) => tab.getByRole('button', { name: `Signed in as ${subject}` })
  const session = (tab: Page): Promise<{ subject?: string }> =>
    tab.evaluate('fetch("/session").then((it) => it.json())')

  it('works with a key and the keyboard alone, returns to the page before, and lasts', async () => {
    const { tab, problems } = await openTab(browser)
    await tab.goto(`${directory.url}/?q=translate`)
    await tab.getByRole('banner').getByRole('link', { name: 'Sign in' }).focus()
    await tab.keyboard.press('Enter')
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
    // The field has the focus already.
    await tab.getByLabel('Key', { exact: true }).waitFor()
    await tab.keyboard.type('sb_not-a-key')
    await tab.keyboard.press('Enter')
    await tab.getByRole('alert').getByText('the API key is invalid').waitFor()
    await expectAccessible(tab)
    await tab.keyboard.press('ControlOrMeta+A')
    await tab.keyboard.type(key)
    await tab.keyboard.press('Enter')
    await account(tab, 'team-a').waitFor()
    expect(tab.url()).toBe(`${directory.url}/?q=translate`)
    expect(await tab.evaluate('document.cookie')).toBe('')
    const searched = tab.waitForResponse((response) => response.url().includes('/agents/search'))
    await tab.reload()
    // The first request after that has the session, too, and its token.
    expect((await searched).status()).toBe(200)
    await account(tab, 'team-a').focus()
    await tab.keyboard.press('Enter')
    await tab.getByText('Scopes: publish, discover').waitFor()
    await expectAccessible(tab)
    await takePicture(tab, 'account-menu')
    await tab.keyboard.press('Escape')
    await tab.getByText('Scopes: publish, discover').waitFor({ state: 'hidden' })
    await tab.keyboard.press('Enter')
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Enter')
    await tab.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor()
    expect((await session(tab)).subject).toBeUndefined()
    expect(problems).toEqual([])
  })

  it('works at an OpenID provider, and returns to the page before', async () => {
    const { tab, problems } = await openTab(browser)
    await tab.goto(`${directory.url}/console/sign-in?from=${encodeURIComponent('/?q=weather')}`)
    await takePicture(tab, 'sign-in')
    await tab.getByRole('link', { name: 'Sign in with The Company' }).click()
    await tab.getByPlaceholder('Enter any login').fill('olivia')
    await tab.getByPlaceholder('and password').fill('any')
    await tab.getByRole('button', { name: 'Sign-in' }).click()
    await tab.getByRole('button', { name: 'Continue' }).click()
    await account(tab, 'olivia').waitFor()
    expect(tab.url()).toBe(`${directory.url}/?q=weather`)
    expect(await session(tab)).toMatchObject({ subject: 'olivia', scopes: ['discover', 'invoke'] })
    // A page of another origin, although of the same site, has no session.
    await tab.goto(`${provider.issuer}/jwks`)
    const read = (url: string) =>
      fetch(`${url}/agents`, { credentials: 'include' }).then(
        () => 'read',
        () => 'refused',
      )
    expect(await tab.evaluate(read, directory.url)).toBe('refused')
    expect(problems.filter((problem) => !/CORS policy/.test(problem))).toEqual([])
  })

  it('says so on a page of its own if the provider refuses', async () => {
    const { tab } = await openTab(browser)
    await tab.goto(`${directory.url}/console/sign-in`)
    await tab.getByRole('link', { name: 'Sign in with The Company' }).click()
    await tab.getByText('[ Cancel ]').click()
    await tab.getByRole('heading', { name: 'Signing in failed' }).waitFor()
    await tab.getByText('access_denied').waitFor()
    await expectAccessible(tab)
    await tab.getByRole('link', { name: 'Back to the directory' }).click()
    await tab.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor()
  })

  it('in another tab changes who is signed in here, too', async () => {
    const { tab } = await openTab(browser)
    const enter = async (page: Page, with_: string) => {
      await page.goto(`${directory.url}/console/sign-in`)
      await page.getByLabel('Key', { exact: true }).fill(with_)
      await page.keyboard.press('Enter')
    }
    await enter(tab, key)
    await account(tab, 'team-a').waitFor()
    const other = await tab.context().newPage()
    await enter(other, directory.adminKey)
    await account(other, 'admin').waitFor()
    const searched = tab.waitForResponse((response) => response.url().includes('/agents/search') && response.ok())
    await tab.getByRole('searchbox').fill('anything')
    await searched
    await account(tab, 'admin').waitFor()
  })

  it('is over as soon as the key is revoked: the console notices with the next request', async () => {
    const { tab } = await openTab(browser)
    const shortLived = await directory.makeKey({ subject: 'team-b', scopes: ['discover'] })
    await tab.goto(`${directory.url}/console/sign-in`)
    await tab.getByLabel('Key', { exact: true }).fill(shortLived)
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
    await account(tab, 'team-b').waitFor()
    const { json } = await directory.get('/admin/keys', { as: 'admin' })
    const { id } = json.keys.find(({ subject }: { subject: string }) => subject === 'team-b')
    await directory.delete(`/admin/keys/${id}`, { as: 'admin' })
    await tab.getByRole('searchbox').fill('anything')
    await tab.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor()
  })

  it('is accessible at 320 pixels in dark mode', async () => {
    const viewport = { width: 320, height: 640 }
    const { tab, problems } = await openTab(browser, { viewport, colorScheme: 'dark', reducedMotion: 'reduce' })
    await tab.goto(`${directory.url}/console/sign-in`)
    await tab.getByLabel('Key', { exact: true }).waitFor()
    await expectAccessible(tab)
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await takePicture(tab, 'sign-in-320-dark')
    await tab.getByLabel('Key', { exact: true }).fill(key)
    await tab.keyboard.press('Enter')
    await account(tab, 'team-a').waitFor()
    await expectAccessible(tab)
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    expect(problems).toEqual([])
  })
})
