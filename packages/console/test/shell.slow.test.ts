// What every page of the console shares, in a real browser.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { expectAccessible, HAS_BROWSER, openTab, startBrowser, title } from './support/browser.js'

describe.skipIf(!HAS_BROWSER)(title('the console'), () => {
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

  it.each([
    { width: 1280, colorScheme: 'light' as const },
    { width: 320, colorScheme: 'dark' as const },
  ])('is accessible and has no errors at $width pixels in $colorScheme', async ({ width, colorScheme }) => {
    const { tab, problems } = await openTab(browser, { viewport: { width, height: 800 }, colorScheme })
    await tab.goto(directory.url)
    await tab.getByRole('searchbox').waitFor()
    await expectAccessible(tab)
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(problems).toEqual([])
  })

  it('says so at an address without a page, and leads back to the search with the keyboard alone', async () => {
    const { tab } = await openTab(browser)
    await tab.goto(`${directory.url}/console/nowhere`)
    await tab.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await tab.getByRole('link', { name: 'Go to the search' }).focus()
    await tab.keyboard.press('Enter')
    await tab.getByRole('searchbox').waitFor()
    expect(new URL(tab.url()).pathname).toBe('/')
  })
})
