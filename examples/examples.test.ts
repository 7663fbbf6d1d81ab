// Every example is a program that asserts: it must end by itself, with exit code 0.
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findChromium, NO_CHROMIUM } from '../packages/client/test/support/chromium.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const IN_BROWSER = 'browser-to-local'
/** Milliseconds; one that hangs is ended, and has failed. */
const PATIENCE = 50_000

const stories = readdirSync(HERE, { withFileTypes: true }).flatMap((item) => (item.isDirectory() ? [item.name] : []))
const chromium = findChromium()
const run = promisify(execFile)

describe('the examples', () => {
  it('are all here', () => {
    expect(stories.toSorted()).toEqual([
      'browser-to-local',
      'deferred-report',
      'quickstart',
      'streaming-chat',
      'travel-planner',
    ])
  })

  // At once, since they mostly wait.
  for (const story of stories) {
    const isSkipped = story === IN_BROWSER && chromium === undefined
    it.skipIf(isSkipped).concurrent(
      isSkipped ? `${story}: ${NO_CHROMIUM}` : `${story} does what it says`,
      async () => {
        const env = { ...process.env, ...(chromium !== undefined && { CHROMIUM: chromium }) }
        // Rejects with what was printed if the exit code is another.
        const { stdout } = await run(process.execPath, [`${story}/main.mjs`], { cwd: HERE, env, timeout: PATIENCE })
        expect(stdout.trim().split('\n').length).toBeGreaterThan(2)
      },
      PATIENCE + 5000,
    )
  }
})
