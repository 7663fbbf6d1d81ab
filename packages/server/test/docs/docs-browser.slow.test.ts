// The documentation in a real browser.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  expectAccessible,
  HAS_BROWSER,
  openTab,
  signIn,
  startBrowser,
  takePicture,
  title,
} from '../../../console/test/support/browser.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'

describe.skipIf(!HAS_BROWSER)(title('the documentation'), () => {
  let directory: TestDirectory
  let browser: Browser
  beforeAll(async () => {
    directory = await startDirectory()
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await directory?.close()
  })

  const LOOKS = [
    { width: 1280, colorScheme: 'light' },
    { width: 320, colorScheme: 'dark' },
  ] as const

  it.each(LOOKS)('is accessible and fits at $width pixels in $colorScheme', async ({ width, colorScheme }) => {
    const { tab, problems } = await openTab(browser, { viewport: { width, height: 800 }, colorScheme })
    for (const page of ['/docs', '/docs/reference/config', '/docs/client']) {
      await tab.goto(`${directory.url}${page}`)
      await tab.getByRole('combobox', { name: 'Search the documentation' }).waitFor()
      await expectAccessible(tab)
      expect(await tab.evaluate('document.documentElement.scrollWidth'), page).toBeLessThanOrEqual(width)
    }
    await takePicture(tab, `docs-${width}-${colorScheme}`)
    expect(problems).toEqual([])
  })

  it('is searched with the keyboard alone, from any page', async () => {
    const { tab, problems } = await openTab(browser)
    await tab.goto(`${directory.url}/docs/reference/errors`)
    await tab.keyboard.press('/')
    await tab.keyboard.type('address gaurd')
    const options = tab.getByRole('option')
    await options.first().waitFor()
    await takePicture(tab, 'docs-search')
    await expectAccessible(tab)
    await tab.keyboard.press('ArrowDown')
    const chosen = await tab.getByRole('option', { selected: true }).locator('b').textContent()
    await tab.keyboard.press('Enter')
    await tab.waitForURL((url) => url.pathname !== '/docs/reference/errors')
    const { hash } = new URL(tab.url())
    const heading = hash === '' ? tab.locator('h1') : tab.locator(`[id="${decodeURIComponent(hash.slice(1))}"]`)
    expect(await heading.textContent()).toContain(chosen ?? 'nothing')
    expect(problems).toEqual([])
  })

  it('says when nothing is found, and forgets the search on Escape', async () => {
    const { tab } = await openTab(browser)
    await tab.goto(`${directory.url}/docs`)
    const field = tab.getByRole('combobox')
    await field.fill('qqqqzzzz')
    await tab.getByRole('status').filter({ hasText: 'Nothing found' }).waitFor()
    await field.press('Escape')
    expect(await field.inputValue()).toBe('')
  })

  it('copies code to the clipboard', async () => {
    const { tab } = await openTab(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
    await tab.goto(`${directory.url}/docs/calling`)
    const code = tab.locator('.code').first()
    await code.getByRole('button', { name: 'Copy' }).focus()
    await tab.keyboard.press('Enter')
    await tab.getByRole('status').filter({ hasText: 'Copied' }).waitFor()
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe((await code.locator('pre').textContent())?.trim())
  })

  it('can be read and walked through without scripts', async () => {
    const { tab } = await openTab(browser, { javaScriptEnabled: false, viewport: { width: 320, height: 800 } })
    await tab.goto(`${directory.url}/docs`)
    await tab.getByText('All pages').click()
    await tab.getByRole('navigation').getByRole('link', { name: 'Glossary' }).click()
    await tab.getByRole('heading', { name: 'Glossary', level: 1 }).waitFor()
  })

  it('shows every operation of the API, and tries one out under the strict policy', async () => {
    const { tab, problems } = await openTab(browser)
    await tab.goto(`${directory.url}/docs/api`)
    await tab.locator('.opblock').first().waitFor()
    const { paths } = (await directory.get('/openapi.json')).json
    const operations = Object.values<object>(paths).flatMap((methods) => Object.keys(methods))
    expect(await tab.locator('.opblock').count()).toBe(operations.length)
    const health = tab.locator('#operations-operations-getHealthLive')
    await health.getByRole('button').first().click()
    await health.getByRole('button', { name: 'Try it out' }).click()
    await health.getByRole('button', { name: 'Execute' }).click()
    await health.locator('.live-responses-table').getByText('"live"').waitFor()
    await takePicture(tab, 'docs-api')
    expect(problems).toEqual([])
  })

  it('tries operations out as the person who is signed in', async () => {
    const { tab } = await openTab(browser)
    await signIn(tab, directory.url, directory.adminKey)
    await tab.goto(`${directory.url}/docs/api#/aidip/postAgentsSearch`)
    const search = tab.locator('#operations-aidip-postAgentsSearch')
    await search.getByRole('button', { name: 'Try it out' }).click()
    await search.locator('textarea').fill('{"query": "anything"}')
    await search.getByRole('button', { name: 'Execute' }).click()
    const status = search.locator('.live-responses-table .response-col_status')
    await status.last().waitFor()
    expect(await status.last().textContent()).toContain('200')
  })

  it('has the reference of the API in dark, and at 320 pixels', async () => {
    const { tab } = await openTab(browser, { viewport: { width: 320, height: 800 }, colorScheme: 'dark' })
    await tab.goto(`${directory.url}/docs/api`)
    await tab.locator('.opblock').first().waitFor()
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    expect(await tab.evaluate('document.documentElement.className')).toBe('dark-mode')
    await takePicture(tab, 'docs-api-320-dark')
  })
})
