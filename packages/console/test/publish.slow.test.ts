// Publishing, editing and removing agents, and what belongs to the person who is signed in.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { expectAccessible, HAS_BROWSER, openTab, signIn, startBrowser, takePicture, title } from './support/browser.js'

const AGENT = {
  id: 'greeter',
  name: 'Greeter',
  description: 'Greets people by their name, in English or German.',
  capabilities: ['greet'],
  endpoint: 'http://127.0.0.1:9/',
  inputs: { name: 'string' },
  outputs: { greeting: 'string' },
}

describe.skipIf(!HAS_BROWSER)(title('publishing in the console'), () => {
  let directory: TestDirectory
  let browser: Browser
  let key: string
  let tab: Page
  let problems: string[]
  beforeAll(async () => {
    directory = await startDirectory()
    browser = await startBrowser()
    key = await directory.makeKey({ subject: 'ada', scopes: ['publish', 'discover', 'invoke'] })
  })
  beforeEach(async () => {
    await directory.clear()
    const opened = await openTab(browser)
    tab = opened.tab
    problems = opened.problems
  })
  afterAll(async () => {
    await browser?.close()
    await directory?.close()
  })

  const write = (document: object): Promise<void> =>
    tab.getByLabel('Document', { exact: true }).fill(JSON.stringify(document, null, 2))
  const publish = (name = 'Publish') => tab.getByRole('button', { name, exact: true })

  it('explains an error at its member; once it is fixed, shows every view and publishes', async () => {
    await signIn(tab, directory.url, key)
    await tab.goto(`${directory.url}/console/publish`)
    await write({ ...AGENT, endpoint: 7 })
    await tab.getByText('/endpoint').waitFor()
    await tab.getByText('must be a string').waitFor()
    expect(await publish().isDisabled()).toBe(true)
    await takePicture(tab, 'publish-error')
    await write(AGENT)
    await tab.getByText('Ready: registers the new agent greeter').waitFor()
    await tab.getByRole('tab', { name: 'A2A card' }).click()
    await tab.getByRole('region', { name: 'A2A card' }).getByText('"skills"').waitFor()
    await expectAccessible(tab)
    await takePicture(tab, 'publish')
    await publish().click()
    await tab.waitForURL(`${directory.url}/console/agents/greeter`)
    expect((await directory.get('/agents/greeter')).json).toMatchObject({ name: 'Greeter' })
    expect(problems).toEqual([])
  })

  it('explains that a name is taken', async () => {
    await directory.post('/agents', { as: 'tokB', body: AGENT })
    await signIn(tab, directory.url, key)
    await tab.goto(`${directory.url}/console/publish`)
    await write(AGENT)
    await tab.getByText('belongs to another publisher').waitFor()
    await tab.getByText('Choose another id').waitFor()
  })

  it('asks somebody who is not signed in to do so', async () => {
    await tab.goto(`${directory.url}/console/publish`)
    await tab.getByText('Sign in with a key that may publish.').waitFor()
    await expectAccessible(tab)
  })

  it('lists, edits and removes own agents, and revokes own keys', async () => {
    const own = await directory.makeKey({ subject: 'ada', scopes: ['publish'] })
    await directory.post('/agents', { key: own, body: { ...AGENT, visibility: 'private' } })
    await signIn(tab, directory.url, key)
    await tab.goto(`${directory.url}/console/mine`)
    const row = tab.getByRole('row').filter({ hasText: 'Greeter' })
    await row.getByText('those with a grant').waitFor()
    await expectAccessible(tab)
    await takePicture(tab, 'mine')

    await row.getByRole('link', { name: 'Edit' }).click()
    await expect.poll(() => tab.getByLabel('Document', { exact: true }).inputValue()).toContain('"Greeter"')
    await write({ ...AGENT, name: 'Polite greeter' })
    await tab.getByText('Ready: replaces your agent greeter').waitFor()
    await publish('Update').click()
    await tab.waitForURL(`${directory.url}/console/agents/greeter`)
    expect((await directory.get('/agents/greeter')).json).toMatchObject({ name: 'Polite greeter' })

    await tab.goto(`${directory.url}/console/mine`)
    await tab.getByRole('row').filter({ hasText: 'Polite greeter' }).getByRole('button', { name: 'Remove' }).click()
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await tab.getByText('You have not published any agents.').waitFor()
    expect((await directory.get('/agents/greeter', { key })).status).toBe(404)

    const { json } = await directory.get('/me/keys', { key: own })
    const newest = json.keys.at(-1).id
    await tab.getByRole('row').filter({ hasText: newest }).getByRole('button', { name: 'Revoke' }).click()
    await tab.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expect.poll(() => tab.getByText(newest).count()).toBe(0)
    expect((await directory.get('/me/keys', { key: own })).status).toBe(401)
  })

  it('works at 320 pixels in the dark', async () => {
    const small = await openTab(browser, { viewport: { width: 320, height: 700 }, colorScheme: 'dark' })
    await directory.post('/agents', { key, body: AGENT })
    await signIn(small.tab, directory.url, key)
    for (const path of ['publish', 'mine']) {
      await small.tab.goto(`${directory.url}/console/${path}`)
      await small.tab.getByRole('heading', { level: 1 }).waitFor()
      await expectAccessible(small.tab)
      expect(await small.tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
      await takePicture(small.tab, `${path}-small`)
    }
  })
})
