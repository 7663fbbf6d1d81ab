// Every example is a program that asserts: it must end by itself, with exit code 0.
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findChromium, NO_CHROMIUM } from '../packages/client/test/support/chromium.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const IN_BROWSER = 'browser-to-local'
/** What a full implementation of agent:// shows (AURI appendix C), and the example that shows it. */
const AGENT_URI = new Map([
  ['resolution', 'parses and resolves URIs, and caches descriptors'],
  ['transports', 'calls over HTTPS, WebSocket, Matrix and local transports'],
  ['travel-planner', 'orchestrates agents'],
  ['versions-and-errors', 'handles errors and negotiates formats and versions'],
  ['authentication', 'authenticates with OAuth2, JWT and mTLS'],
])
/** Milliseconds; an example that hangs is killed and fails. */
const TIMEOUT_MS = 100_000

const examples = readdirSync(HERE, { withFileTypes: true }).flatMap((item) => (item.isDirectory() ? [item.name] : []))
const chromium = findChromium()
const exec = promisify(execFile)
const run = (...args: string[]) => {
  const env = { ...process.env, ...(chromium !== undefined && { CHROMIUM: chromium }) }
  // Rejects with the output of the program unless the exit code is 0.
  return exec(process.execPath, ['run.mjs', ...args], { cwd: HERE, env, timeout: TIMEOUT_MS })
}

describe('the examples', () => {
  it('are complete', () => {
    expect(examples.toSorted()).toEqual([
      'authentication',
      'browser-to-local',
      'deferred-report',
      'quickstart',
      'resolution',
      'streaming-chat',
      'transports',
      'travel-planner',
      'versions-and-errors',
    ])
  })

  it('are listed if none is named', async () => {
    await expect(run()).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('quickstart') })
  })

  // Concurrently, since they mostly wait.
  for (const example of examples) {
    const isSkipped = example === IN_BROWSER && chromium === undefined
    const shown = AGENT_URI.get(example)
    const title = shown === undefined ? `${example} runs successfully` : `AURI-C-01 ${example} ${shown}`
    it.skipIf(isSkipped).concurrent(
      isSkipped ? `${example}: ${NO_CHROMIUM}` : title,
      async () => {
        const { stdout } = await run(example)
        expect(stdout.trim().split('\n').length).toBeGreaterThan(2)
      },
      TIMEOUT_MS + 5000,
    )
  }
})
