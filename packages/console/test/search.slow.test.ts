// The search page in a real browser, against a real directory.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDemo } from '../../demo/src/index.js'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { AGENTS } from './support/agents.js'
import { expectAccessible, HAS_BROWSER, openTab, signIn, startBrowser, takePicture, title } from './support/browser.js'

describe.skipIf(!HAS_BROWSER)(title('the search page'), () => {
  let directory: TestDirectory
  let browser: Browser
  beforeAll(async () => {
    directory = await startDirectory({ search: { embedder: 'static' } })
    browser = await startBrowser()
    for (const body of AGENTS) expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(201)
  })
  afterAll(async () => {
    await browser?.close()
    await directory?.close()
  })

  const open = async (address = '/', options: Parameters<typeof openTab>[1] = {}): Promise<Page> => {
    const { tab, problems } = await openTab(browser, options)
    await tab.goto(directory.url + address)
    await tab.getByRole('status').filter({ hasText: /agent/ }).waitFor()
    expect(problems).toEqual([])
    return tab
  }
  const firstResult = (tab: Page) => tab.getByRole('list', { name: 'Results' }).getByRole('article').first()
  const box = (tab: Page) => tab.getByRole('searchbox')

  it('finds agents as you type and shows why: marked words, the operation, and parts that add up to the score', async () => {
    const tab = await open()
    await box(tab).pressSequentially('translate a contract')
    await tab.waitForURL(/q=translate\+a\+contract$/)
    const result = firstResult(tab)
    await result.getByRole('link', { name: 'Contract Translator' }).waitFor()
    await expect.poll(() => result.locator('mark').allTextContents()).toContain('Translates')
    expect(await result.getByText('Operation').first().textContent()).toBe('Operation')
    expect(await result.textContent()).toContain('translate: Translates a text into another language.')

    await result.getByText('why it was found').click()
    const rows = await result.getByRole('row').allInnerTexts()
    const values = rows.flatMap((row) => row.match(/[+−]\d\.\d{4}/) ?? []).map((text) => Number(text.replace('−', '-')))
    const score = Number(rows.at(-1)?.match(/\d\.\d{4}/)?.[0])
    expect(values.length).toBeGreaterThan(1)
    expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(score, 6)
    await expectAccessible(tab)
    await takePicture(tab, 'search')
  })

  it('marks words without their accents, and in Chinese', async () => {
    const tab = await open('/?q=meteo')
    await expect.poll(() => firstResult(tab).locator('mark').allTextContents()).toContain('Météo')
    await box(tab).fill('翻译合同')
    await expect.poll(() => tab.locator('mark').allTextContents()).toContain('合同翻译')
  })

  it('says which word was corrected, and searches exactly as typed on request', async () => {
    const tab = await open('/?q=transalte')
    await tab.getByText('Searched for translate instead of transalte').waitFor()
    await tab.getByRole('link', { name: 'Search exactly as typed' }).click()
    await tab.waitForURL(/exact=true/)
    await tab.getByText('No agent fits this search.').first().waitFor()
    await tab.goBack()
    await tab.getByText('Searched for translate instead of transalte').waitFor()
  })

  it('suggests known words if nothing is found', async () => {
    const tab = await open('/?q=contraktz&exact=true')
    await tab.getByRole('link', { name: 'contracts' }).click()
    await firstResult(tab).waitFor()
    expect(await box(tab).inputValue()).toBe('contracts')
  })

  it('filters with live counts and sorts, all of which the address contains', async () => {
    const tab = await open('/?q=documents')
    const tags = tab.getByRole('group', { name: 'Tags' })
    await tags.getByRole('checkbox', { name: 'legal 1' }).check()
    await tab.waitForURL(/tags=legal/)
    await tab
      .getByRole('status')
      .filter({ hasText: /^1 agent$/ })
      .waitFor()
    await tab.getByRole('combobox', { name: 'Sort by' }).selectOption('newest')
    await tab.waitForURL(/sort=newest/)
    const { tab: other } = await openTab(browser)
    await other.goto(tab.url())
    await other.getByRole('checkbox', { name: 'legal 1', checked: true }).waitFor()
    expect(await other.getByRole('combobox', { name: 'Sort by' }).inputValue()).toBe('newest')

    await tab.goBack()
    await tab.goBack()
    await tab
      .getByRole('status')
      .filter({ hasText: /^[23] agents$/ })
      .waitFor()
    expect(await tags.getByRole('checkbox', { name: 'legal 1' }).isChecked()).toBe(false)
  })

  it('offers to remove the filters if they leave nothing', async () => {
    const tab = await open('/?q=contracts&tags=weather')
    await tab.getByText(/Remove the filter: \d agents?/).waitFor()
    await tab.getByRole('link', { name: 'Remove the filter' }).click()
    await firstResult(tab).waitFor()
    expect(new URL(tab.url()).search).toBe('?q=contracts')
  })

  it('works with the keyboard alone', async () => {
    const tab = await open()
    await tab.keyboard.press('/')
    await tab.keyboard.type('documents')
    await tab.waitForURL(/q=documents$/)
    await expect.poll(() => tab.locator('mark').count()).toBeGreaterThan(0)
    const focused = (): Promise<string> => tab.evaluate('document.activeElement.textContent')
    const names = await tab.locator('[data-result]').allTextContents()
    await tab.keyboard.press('ArrowDown')
    expect(await focused()).toBe(names[0])
    await tab.keyboard.press('ArrowDown')
    expect(await focused()).toBe(names[1])
    await tab.keyboard.press('ArrowUp')
    await tab.keyboard.press('ArrowUp')
    expect(await tab.evaluate('document.activeElement.type')).toBe('search')
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('Enter')
    await tab.waitForURL(/\/console\/agents\/[^?]+\?search=/)
  })

  it('is accessible at 320 pixels in the dark', async () => {
    const tab = await open('/?q=translate', { viewport: { width: 320, height: 800 }, colorScheme: 'dark' })
    await firstResult(tab).getByText('why it was found').click()
    await expectAccessible(tab)
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await takePicture(tab, 'search-small-dark')
  })

  it('explains an empty directory, and starts the demo for an administrator', async () => {
    const empty = await startDirectory({}, { startDemo })
    try {
      const { tab, problems } = await openTab(browser)
      await tab.goto(empty.url)
      await tab.getByText(`npx switchboard demo --url ${empty.url}`).waitFor()
      await signIn(tab, empty.url, empty.adminKey)
      await tab.reload()
      await tab.getByRole('button', { name: 'Start the demo' }).waitFor()
      await expectAccessible(tab)
      await takePicture(tab, 'empty-directory')
      await tab.getByRole('button', { name: 'Start the demo' }).click()
      await firstResult(tab).waitFor()
      expect(problems).toEqual([])
    } finally {
      await empty.close()
    }
  })
})
