// Trying an agent in a real browser: forms, errors, streams, deferred calls and batches.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { expectAccessible, HAS_BROWSER, openTab, startBrowser, takePicture, title } from './support/browser.js'
import { makePlanner, startSession } from './support/planner.js'

describe.skipIf(!HAS_BROWSER)(title('trying an agent'), () => {
  let directory: TestDirectory
  let browser: Browser
  let key: string
  let tab: Page
  let problems: string[]
  const stopped: string[] = []
  const planner = makePlanner(stopped)
  beforeAll(async () => {
    directory = await startDirectory()
    await planner.listen()
    await planner.register(directory.url, { token: directory.adminKey })
    key = await directory.makeKey({ subject: 'ann', scopes: ['discover', 'invoke'] })
    browser = await startBrowser()
    ;({ tab, problems } = await openTab(browser, { reducedMotion: 'reduce' }))
    await startSession(tab, directory, key)
  })
  beforeEach(() => problems.splice(0))
  afterAll(async () => {
    await browser?.close()
    await planner.close()
    await directory?.close()
  })
  const open = async (operation: string, page = tab, more = ''): Promise<void> => {
    await page.goto(`${directory.url}/console/agents/planner?tab=tryIt&operation=${operation}${more}`)
    await page.getByRole('button', { name: 'Call', exact: true }).waitFor()
  }
  const call = (): Promise<void> => tab.getByRole('button', { name: 'Call', exact: true }).click()
  const result = () => tab.getByRole('region', { name: 'Response' })

  it('fills in a nested schema, explains an error at its field, and calls once it is corrected', async () => {
    await open('plan', tab, '&search=found-by-this')
    expect(await tab.getByLabel('days').inputValue()).toBe('3')
    await tab.getByLabel('days').fill('99')
    await tab.getByRole('button', { name: 'Add to guests' }).click()
    await tab.getByLabel('Kind of transport').selectOption('By car')
    await tab.getByLabel('seats').fill('1')
    await call()
    await tab.getByText('things need to be corrected').waitFor()
    // The first field with a problem is focused, and says what is wrong; so do those inside of a list and of a choice.
    expect(await tab.evaluate('document.activeElement.id')).toBe('input:0/city')
    for (const field of ['city', 'days', 'name', 'seats'])
      expect(await tab.getByLabel(field, { exact: false }).first().getAttribute('aria-invalid'), field).toBe('true')
    await expectAccessible(tab)
    await takePicture(tab, 'try-it-error')
    await tab.getByRole('button', { name: 'Remove guests 2' }).click()
    await tab.getByLabel('city').fill("L'Aquila")
    await tab.getByLabel('days').fill('4')
    await tab.getByLabel('name').first().fill('Ann')
    await tab.getByLabel('seats').fill('4')
    await tab
      .locator('input[type=file]')
      .setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: Buffer.from('abc') })
    await tab.getByText('me.png').waitFor()
    await call()
    await tab.getByText('Succeeded with 200').waitFor()
    const text = await result().innerText()
    expect(text).toContain("4 days in L'Aquila for Ann")
    expect(text).toContain('photo of 4 characters')
    await takePicture(tab, 'try-it-result')

    // The same input as JSON: each way in follows the other.
    await tab.getByText('JSON', { exact: true }).first().click()
    const editor = tab.locator('textarea').first()
    expect(JSON.parse(await editor.inputValue())).toEqual({
      days: 4,
      guests: [{ name: 'Ann' }],
      transport: { kind: 'car', seats: 4 },
      city: "L'Aquila",
      photo: 'YWJj',
    })
    await editor.fill('{"city": "Rome", "guests": [{"name": "Bo"}], "transport": {"kind": "train"}')
    await call()
    await tab.getByText('Rome').waitFor({ state: 'attached' })
    expect(await editor.getAttribute('aria-invalid')).toBe('true')
    await editor.fill('{"city": "Rome", "guests": [{"name": "Bo"}], "transport": {"kind": "train"}}')
    await tab.getByText('Form', { exact: true }).click()
    expect(await tab.getByLabel('city').inputValue()).toBe('Rome')
    expect(await tab.getByLabel('Kind of transport').inputValue()).toBe('0')
    expect(problems).toEqual([])
  })

  it('shows the raw exchange without secrets, and the call as code', async () => {
    await open('tell', tab, '&search=found-by-this')
    await tab.getByLabel('days').fill('1')
    await call()
    await tab.getByText('Succeeded with 200').waitFor()
    await tab.getByRole('button', { name: 'Raw exchange' }).click()
    const drawer = tab.getByRole('dialog')
    await drawer.getByText('x-search-id: found-by-this').waitFor()
    const text = await drawer.innerText()
    expect(text).toContain('POST /agents/planner/tell')
    expect(text).toMatch(/x-request-id/i)
    expect(text).not.toMatch(/csrf|cookie|sb_/i)
    await takePicture(tab, 'try-it-exchange')
    await tab.keyboard.press('Escape')
    const code = tab.getByRole('region', { name: 'curl' })
    expect(await code.innerText()).toContain(`--data-binary '{"days":1}'`)
    await tab.getByRole('tab', { name: 'Command line' }).click()
    await tab.getByText('switchboard call planner').waitFor()
  })

  it('shows a stream as it arrives, and stops it', async () => {
    await open('tell')
    await tab.getByText('Stream', { exact: true }).click()
    await tab.getByLabel('days').fill('3')
    await call()
    await tab.getByText('3 parts').waitFor()
    expect((await tab.getByText('"day":3').innerText()).split('\n')).toHaveLength(3)
    await tab.getByLabel('days').fill('100000')
    await call()
    await tab.getByText(/Receiving: \d+ parts/).waitFor()
    await takePicture(tab, 'try-it-stream')
    await tab.getByRole('button', { name: 'Stop' }).click()
    await tab.getByText('Stopped').waitFor()
    await expect.poll(() => stopped).toContain('tell')
  })

  it('shows how far a deferred call is, and cancels it', async () => {
    await open('book')
    await tab.getByText('Deferred', { exact: true }).click()
    await tab.getByLabel('city').fill('Rome')
    await tab.getByLabel('seconds').fill('600')
    await call()
    await tab.getByText('Asking the hotels').waitFor()
    await takePicture(tab, 'try-it-deferred')
    await expectAccessible(tab)
    await tab.getByRole('button', { name: 'Cancel the task' }).click()
    await tab.getByText('Stopped').waitFor()
    await expect.poll(() => stopped).toContain('book')
    await tab.getByLabel('seconds').fill('0.1')
    await call()
    await tab.getByText('Succeeded with 200').waitFor()
    expect(await result().innerText()).toContain('"booked": "Rome"')
  })

  it('calls with a batch', async () => {
    await open('plan')
    await tab.getByText('Batch', { exact: true }).click()
    await tab.getByText('JSON', { exact: true }).first().click()
    await tab.getByRole('button', { name: 'Add another input' }).click()
    const editors = tab.locator('textarea:not([aria-hidden])')
    await editors.nth(0).fill('{"city": "Rome", "guests": [{"name": "Ann"}]}')
    await editors.nth(1).fill('{"city": "Oslo", "guests": [{"name": "Bo"}]}')
    await call()
    await tab.getByText('Result 2').first().waitFor()
    const text = await result().first().innerText()
    expect(text).toContain('Rome for Ann')
    expect(text).toContain('Oslo for Bo')
    await takePicture(tab, 'try-it-batch')
  })

  it('works with the keyboard alone', async () => {
    await open('tell')
    await tab.getByLabel('days').focus()
    await tab.keyboard.type('2')
    await tab.keyboard.press('Enter')
    await tab.getByText('Succeeded with 200').waitFor()
  })

  it('asks those who are not signed in to do so, and leads back', async () => {
    const { tab: stranger } = await openTab(browser)
    await open('plan', stranger)
    const link = stranger.getByRole('link', { name: 'Sign in' }).last()
    expect(decodeURIComponent((await link.getAttribute('href')) ?? '')).toContain(
      'from=/console/agents/planner?tab=tryIt',
    )
    expect(await stranger.getByRole('button', { name: 'Call', exact: true }).isDisabled()).toBe(true)
  })

  it('fits into 320 pixels in the dark', async () => {
    const { tab: small } = await openTab(browser, { viewport: { width: 320, height: 800 }, colorScheme: 'dark' })
    await open('plan', small)
    await small.getByRole('button', { name: 'Add to guests' }).click()
    await small.getByLabel('Kind of transport').selectOption('By car')
    expect(await small.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await expectAccessible(small)
    await takePicture(small, 'try-it-narrow')
  })
})
