// The page of an agent in a real browser, against a real directory and real agents.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { expectAccessible, HAS_BROWSER, openTab, startBrowser, takePicture, title } from './support/browser.js'
import { makePlanner, startSession } from './support/planner.js'

describe.skipIf(!HAS_BROWSER)(title('the page of an agent'), () => {
  let directory: TestDirectory
  let browser: Browser
  const planner = makePlanner([])
  beforeAll(async () => {
    directory = await startDirectory()
    await planner.listen()
    await planner.register(directory.url, { token: directory.adminKey })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await planner.close()
    await directory?.close()
  })
  const at = (id: string, query = ''): string => `${directory.url}/console/agents/${encodeURIComponent(id)}${query}`

  it('shows what the agent is, how to reach it and how long it stays, to everyone', async () => {
    const { tab, problems } = await openTab(browser)
    await tab.goto(at('planner'))
    await tab.getByRole('heading', { level: 1, name: 'planner' }).waitFor()
    for (const text of [
      'Acme Travel',
      'Version 2.1.0',
      'travel',
      'en, fr',
      'active',
      'Agent URI',
      'Registered in this directory',
    ])
      expect(await tab.getByText(text).count(), text).toBeGreaterThan(0)
    await tab.getByText(/^Expires in (59|60) min|^Expires in 1 h/).waitFor()
    expect(await tab.getByText('Statistics').count()).toBe(0)
    await expectAccessible(tab)
    await takePicture(tab, 'agent-overview')
    expect(problems).toEqual([])
  })

  it('shows operations as tables with nested members', async () => {
    const { tab } = await openTab(browser)
    await tab.goto(at('planner', '?tab=operations'))
    const table = tab.getByRole('table', { name: 'Input' }).first()
    await table.waitFor()
    const text = (await table.innerText()).replaceAll(/\s+/g, ' ')
    expect(text).toContain('city required string Where to go length at least 2')
    expect(text).toContain('days integer 1 to 30 · default 3')
    expect(text).toContain(
      'guests required array of object items: at least 1 name required string age integer at least 0',
    )
    await expectAccessible(tab)
    await takePicture(tab, 'agent-operations')
  })

  it('shows the same agent as the document of each draft, side by side', async () => {
    const { tab } = await openTab(browser, { reducedMotion: 'reduce' })
    await tab.goto(at('planner', '?tab=documents'))
    const documents = tab.locator('section[aria-label]')
    await documents.nth(1).locator('pre').waitFor()
    expect(await documents.count()).toBe(2)
    for (const name of ['AIDIP 00', 'Discovery profile', 'Agent Directory', 'agent.json'])
      await tab.getByText(name, { exact: true }).first().click()
    await expect.poll(() => documents.locator('pre').count()).toBe(6)
    const texts = await documents.locator('pre').allInnerTexts()
    const [aidip, , , entry] = texts.map((text) => JSON.parse(text))
    expect([aidip.id, entry.agent, entry.href]).toEqual(['planner', 'planner', expect.stringMatching(/^\/ad\/r\//)])
    await takePicture(tab, 'agent-documents')
    await expectAccessible(tab)
  })

  it('shows statistics to its owner', async () => {
    const body = { city: 'Lisbon', guests: [{ name: 'Ann' }] }
    expect((await directory.post('/agents/planner/plan', { as: 'tokC', body })).status).toBe(200)
    const { tab } = await openTab(browser)
    await startSession(tab, directory, directory.adminKey)
    await tab.goto(at('planner'))
    await tab.getByRole('heading', { name: 'Statistics' }).waitFor()
  })

  it('says live that an agent has expired', async () => {
    const { tab } = await openTab(browser)
    await tab.goto(at('planner')) // so that the next page opens well within the agent's lifetime
    const expires = new Date(Date.now() + 15_000).toISOString()
    const { status } = await directory.post('/agents', {
      as: 'admin',
      body: {
        id: 'mayfly',
        name: 'Mayfly',
        description: 'Lives for a moment.',
        endpoint: 'https://mayfly.example/',
        capabilities: ['live'],
        operations: [{ name: 'live', description: '', inputs: {}, outputs: {} }],
        tags: [],
        status: 'active',
        expires_at: expires,
      },
    })
    expect(status).toBe(201)
    let requests = 0
    tab.on('request', (request) => {
      if (request.url().endsWith('/agents/mayfly')) requests++
    })
    await tab.goto(at('mayfly'))
    await tab.getByText(/^Expires in \d+ s/).waitFor()
    await tab.getByText('Its lifetime has ended').waitFor()
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires))
    // The page itself, the metadata and the profile when it opens, and both once more at the end.
    expect(requests).toBeLessThanOrEqual(5)
    await takePicture(tab, 'agent-expired')
  })

  it('says so if there is no such agent', async () => {
    const { tab } = await openTab(browser)
    await tab.goto(at('nobody'))
    await tab.getByRole('heading', { name: 'There is no such agent' }).waitFor()
  })

  it.each(['overview', 'operations', 'documents'])('fits into 320 pixels in the dark: %s', async (part) => {
    const { tab, problems } = await openTab(browser, { viewport: { width: 320, height: 800 }, colorScheme: 'dark' })
    await tab.goto(at('planner', `?tab=${part}`))
    await tab.getByRole('heading', { level: 1, name: 'planner' }).waitFor()
    if (part === 'documents') await tab.locator('section[aria-label] pre').waitFor()
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await expectAccessible(tab)
    await takePicture(tab, `agent-${part}-narrow`)
    expect(problems).toEqual([])
  })
})
