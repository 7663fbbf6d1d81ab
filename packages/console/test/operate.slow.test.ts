// The tasks of operators, in a real browser.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixed, startAgent, type TestAgent } from '../../server/test/invoke/agent.js'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { expectAccessible, HAS_BROWSER, openTab, signIn, startBrowser, takePicture, title } from './support/browser.js'

const SECTIONS = ['', 'keys', 'grants', 'audit', 'health', 'peers', 'quarantine', 'limits', 'settings']

describe.skipIf(!HAS_BROWSER)(title('the pages for operators'), () => {
  let directory: TestDirectory
  let origin: TestDirectory
  let agent: TestAgent
  let browser: Browser
  beforeAll(async () => {
    agent = await startAgent()
    origin = await startDirectory()
    await origin.post('/agents', { as: 'tokA', body: agent.document({ id: 'remote-translator' }) })
    directory = await startDirectory({
      rateLimits: { search: 20, register: 1e6, lookup: 1e6, invoke: 1e6 },
      peers: [{ name: 'origin', url: origin.url, trust: 'quarantine', intervalSeconds: 1 }],
    })
    await use()
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await directory?.close()
    await origin?.close()
    await agent?.close()
  })

  /** Something of everything: agents, calls that fail, an error, and a client that reaches a limit. */
  async function use(): Promise<void> {
    for (const id of ['translator', 'broken'])
      await directory.post('/agents', { as: 'tokA', body: agent.document({ id }) })
    await directory.post('/agents', { as: 'tokB', body: agent.document({ id: 'secret', visibility: 'private' }) })
    for (let i = 0; i < 5; i++) await directory.post('/agents/translator/invoke', { as: 'tokC', body: { text: 'x' } })
    agent.reply = fixed({ error: { code: 'Broken', message: 'no' } }, 500)
    for (let i = 0; i < 5; i++) await directory.post('/agents/broken/invoke', { as: 'tokC', body: { text: 'x' } })
    await directory.get('/agents/nobody')
    for (let i = 0; i < 25; i++) await directory.post('/agents/search', { as: 'tokC', body: { query: 'translate' } })
  }

  async function openAsAdmin(section: string, options: Parameters<typeof openTab>[1] = {}) {
    const opened = await openTab(browser, options)
    await signIn(opened.tab, directory.url, directory.adminKey)
    await show(opened.tab, section)
    return opened
  }

  async function show(tab: Page, section: string): Promise<void> {
    await tab.goto(`${directory.url}/console/operate${section && `/${section}`}`)
    await tab.getByRole('heading', { level: 2 }).waitFor()
    await tab.getByText('Loading…').first().waitFor({ state: 'detached' })
  }

  it.each([
    { width: 1280, colorScheme: 'light' as const },
    { width: 320, colorScheme: 'dark' as const },
  ])('are accessible and fit at $width pixels in $colorScheme', async ({ width, colorScheme }) => {
    const options = { viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' as const }
    const { tab, problems } = await openAsAdmin('', options)
    for (const section of SECTIONS) {
      await show(tab, section)
      if (section === '') await tab.locator('.chart canvas').nth(2).waitFor()
      if (section === 'quarantine') await tab.getByRole('heading', { name: 'remote-translator' }).waitFor()
      await expectAccessible(tab)
      expect(await tab.evaluate('document.documentElement.scrollWidth'), section).toBeLessThanOrEqual(width)
      await takePicture(tab, `operate-${section || 'overview'}-${width}-${colorScheme}`)
    }
    await show(tab, '')
    await tab.locator('.chart canvas').first().scrollIntoViewIfNeeded()
    await tab.getByText('Show the numbers').first().click()
    await tab.getByRole('columnheader', { name: 'Searches' }).waitFor()
    await expectAccessible(tab)
    await takePicture(tab, `operate-charts-${width}-${colorScheme}`)
    expect(problems).toEqual([])
    await tab.context().close()
  })

  it('are offered to administrators only, and loaded only then', async () => {
    const { tab } = await openTab(browser)
    const requested: string[] = []
    tab.on('request', (request) => requested.push(request.url()))
    await tab.goto(directory.url)
    await tab.getByRole('searchbox').waitFor()
    expect(await tab.getByRole('link', { name: 'Operate' }).count()).toBe(0)
    expect(requested.filter((url) => /operate|section|line-chart/.test(url))).toEqual([])
    await tab.goto(`${directory.url}/console/operate/keys`)
    await tab.getByText('This area is for administrators').waitFor()
    expect(requested.some((url) => url.includes('/admin/'))).toBe(false)
    await tab.context().close()
  })

  it('create a key, which is shown once and works, and revoke it, with the keyboard alone', async () => {
    const { tab } = await openAsAdmin('keys')
    await tab.getByRole('textbox', { name: 'Subject' }).focus()
    await tab.keyboard.type('team-x')
    await tab.keyboard.press('Enter')
    const dialog = tab.getByRole('dialog', { name: 'The key of team-x' })
    const key = await dialog.getByRole('region', { name: 'Key' }).innerText()
    expect((await directory.get('/agents', { key })).status).toBe(200)
    await dialog.getByRole('button', { name: 'I have stored it' }).press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await tab.content()).not.toContain(key)
    const row = tab.getByRole('row', { name: /team-x/ })
    await row.getByRole('button', { name: /^Revoke/ }).press('Enter')
    const question = tab.getByRole('dialog', { name: 'Revoke this key of team-x?' })
    await question.waitFor()
    await expectAccessible(tab)
    await question.getByRole('button', { name: 'Revoke' }).press('Enter')
    await row.waitFor({ state: 'detached' })
    expect((await directory.get('/agents', { key })).status).toBe(401)
    await tab.context().close()
  })

  it('grant access to a private agent, and show why a grant is refused', async () => {
    const { tab } = await openAsAdmin('grants')
    await tab.getByLabel('Subject').fill('tokC')
    await tab.getByLabel('Id of the agent').fill('no-such-agent')
    await tab.getByRole('button', { name: 'Create a grant' }).click()
    await tab.getByRole('alert').getByText('no-such-agent').waitFor()
    await tab.getByLabel('Id of the agent').fill('secret')
    await tab.getByRole('button', { name: 'Create a grant' }).click()
    await tab.getByRole('cell', { name: 'agent secret', exact: true }).waitFor()
    expect((await directory.get('/agents/secret', { as: 'tokC' })).status).toBe(200)
    await tab.context().close()
  })

  it('search the audit log as one types, and show a whole entry', async () => {
    for (let i = 0; i < 450; i++) await directory.delete(`/admin/grants/none-${i}`, { as: 'admin' })
    const { tab } = await openAsAdmin('audit')
    const rows = tab.getByRole('table', { name: 'Entries' }).getByRole('row')
    await expect.poll(() => rows.count()).toBeGreaterThan(5)
    expect(await rows.count()).toBeLessThan(80)
    await tab.getByLabel('Contains').fill('BROKEN')
    await expect
      .poll(async () => (await rows.allInnerTexts()).slice(1).every((text) => /broken/i.test(text)))
      .toBe(true)
    await tab.getByRole('button', { name: /^register by tokA/ }).click()
    await tab.getByRole('dialog').getByText('"agent": "broken"').waitFor()
    await tab.keyboard.press('Escape')
    await tab.getByLabel('Contains').fill('nothing has this text')
    await tab.getByText('Nothing matches.').waitFor()
    await tab.context().close()
  })

  it('show failing agents, who reached a limit, and where a setting comes from', async () => {
    const { tab } = await openAsAdmin('health')
    await tab.getByRole('row', { name: /broken.*Calls fail/ }).waitFor()
    await show(tab, 'limits')
    await tab.getByRole('row', { name: /tokC.*searches per minute/ }).waitFor()
    await show(tab, 'settings')
    await tab.getByLabel('Filter by key').fill('rateLimits.search')
    const row = tab.getByRole('row', { name: /rateLimits.search/ })
    await expect.poll(() => row.innerText()).toMatch(/^rateLimits\.search.*20.*600.*embedding program/s)
    expect(await tab.content()).not.toContain(directory.adminKey)
    await tab.context().close()
  })

  it('set a limit for a subject without losing its others, and remove it', async () => {
    const { tab } = await openAsAdmin('limits')
    const form = tab.getByRole('form', { name: 'Set a limit' })
    for (const [limit, value] of [
      ['calls_per_day', '500'],
      ['agents', '7'],
    ] as const) {
      await form.getByLabel('Who').fill('tokC')
      await form.getByLabel('Limit').selectOption(limit)
      await form.getByLabel('Value').fill(value)
      await form.getByRole('button', { name: 'Set a limit' }).click()
      await tab.getByRole('cell', { name: new RegExp(`: ${value}`) }).waitFor()
    }
    await tab.getByRole('cell', { name: 'calls per day: 500; agents: 7' }).waitFor()
    await tab.getByRole('button', { name: 'Remove: tokC' }).click()
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await tab.getByText('No limits were set.').waitFor()
    await tab.context().close()
  })

  it('accept an agent of a peer, and add, distrust and remove a peer', async () => {
    const { tab } = await openAsAdmin('quarantine')
    await tab.getByRole('button', { name: 'Accept: remote-translator' }).click()
    await tab.getByText('Nothing waits for a review.').waitFor()
    expect((await directory.get('/agents/remote-translator')).status).toBe(200)
    await show(tab, 'peers')
    await tab.getByLabel('Name').fill('another')
    await tab.getByLabel('URL').fill('http://127.0.0.1:9')
    await tab.getByRole('button', { name: 'Add a peer' }).click()
    await tab.getByLabel('Trust in another').selectOption('none')
    const trust = async () => {
      const { peers } = (await directory.get('/admin/peers', { as: 'admin' })).json
      return peers.find(({ name }: { name: string }) => name === 'another')?.trust
    }
    await expect.poll(trust).toBe('none')
    await tab.getByRole('button', { name: 'Remove: another' }).click()
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await expect.poll(trust).toBeUndefined()
    await tab.context().close()
  })
})
