import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { findChromium, NO_CHROMIUM } from '../../../client/test/support/chromium.js'

const executablePath = findChromium()

/** Whether the tests of the console can run here, and otherwise why not. */
export const HAS_BROWSER = executablePath !== undefined
export const title = (text: string): string => (HAS_BROWSER ? text : NO_CHROMIUM)

const ROOT = join(import.meta.dirname, '../../../..')
/** Where the pictures of the last run are kept. */
const PICTURES = join(ROOT, '.cache/screenshots')
/** Pictures that the documentation shows. */
const IN_DOCUMENTATION = join(ROOT, 'docs/images/console')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] })

/** Opens a tab; an error in the page or on its console fails the test through `problems`. */
export async function openTab(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ tab: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const tab = await context.newPage()
  const problems: string[] = []
  tab.on('pageerror', (error) => problems.push(error.message))
  tab.on('console', (message) => {
    // A request that is refused on purpose is logged by the browser too.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text())
  })
  return { tab, problems }
}

/** Signs in with a key, without the sign-in page, which has tests of its own. */
export async function signIn(tab: Page, url: string, key: string): Promise<void> {
  const response = await tab.request.post(`${url}/session`, { data: { key }, headers: { origin: url } })
  expect(response.status()).toBe(200)
}

/** Fails if axe finds a problem that is serious for people with disabilities. */
export async function expectAccessible(tab: Page): Promise<void> {
  await tab.evaluate(AXE) // not a script element, which the page's policy forbids
  const violations = await tab.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
  })
  expect(violations).toEqual([])
}

/**
 * Keeps a picture of the page, to look at. With SWITCHBOARD_SCREENSHOTS=update it replaces the one of the same name in the
 * documentation, if there is one.
 */
export async function takePicture(tab: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  const picture = join(PICTURES, `${name}.png`)
  await tab.screenshot({ path: picture })
  const shown = join(IN_DOCUMENTATION, `${name}.png`)
  if (process.env.SWITCHBOARD_SCREENSHOTS === 'update' && existsSync(shown)) cpSync(picture, shown)
}
