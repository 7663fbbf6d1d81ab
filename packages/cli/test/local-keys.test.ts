import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from '@switchboard/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { switchboard } from '../../server/test/support/process.js'
import { type Bench, startBench } from './support/cli.js'
import { type Finished, runQuietly } from './support/run-quietly.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench.close())

const keysOf = (key: string) => fetch(`${bench.url}/admin/keys`, { headers: { 'x-api-key': key } })

/** Expects one line on stderr that matches, and exit code 2. */
function expectRefusal({ code, stdout, stderr }: Finished, reason: RegExp): void {
  expect(stderr).toMatch(reason)
  expect(stderr).toMatch(/^switchboard: [^\n]+\n$/)
  expect([code, stdout]).toEqual([2, ''])
}

describe('switchboard keys create', () => {
  it('needs no key where it can write the data, and the running directory accepts the new key', async () => {
    const args = ['keys', 'create', 'me', '--scopes', 'publish,discover', '--quiet']
    // Another process than that of the directory, as it usually is.
    const { code, stdout, stderr } = await switchboard(args, { env: { SWITCHBOARD_DATA: bench.data } }).ended
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^\S{24,}\n$/)
    const response = await fetch(`${bench.url}/agents/me`, { headers: { 'x-api-key': stdout.trim() } })
    expect(response.status).toBe(404)
    expect(await (await keysOf(bench.adminKey)).json()).toMatchObject({
      keys: [{}, { subject: 'me', scopes: ['publish', 'discover'] }],
    })
    const unknown = await runQuietly(['keys', 'create', 'me', '--scopes', 'all', '--data', bench.data])
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown scope "all"') })
  })

  it('does so also with a key of everyday use in the environment, such as when it is pasted twice', async () => {
    const args = ['keys', 'create', 'me', '--quiet']
    const env = { SWITCHBOARD_DATA: bench.data, SWITCHBOARD_TOKEN: 'sb_of-me' }
    const { code, stdout } = await runQuietly(args, env)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\S{24,}\n$/)])
  })

  it('says what to do where there is neither a key nor data', async () => {
    const { ended } = switchboard(['keys', 'create', 'me'], { cwd: bench.folder })
    expectRefusal(await ended, /there is no store in .*--data.*--token/)
  })
})

describe('switchboard keys reset-admin', () => {
  it('works on data without a running server', async () => {
    const other = join(bench.folder, 'stopped')
    const start = () => createServer({ port: 0, data: other, logLevel: 'silent', search: { embedder: 'none' } })
    const first = await start()
    expect(first.generatedAdminKey).toMatch(/^\S{24,}$/)
    await first.close()
    const { stdout } = await runQuietly(['keys', 'reset-admin', '--data', other])
    const restarted = await start()
    try {
      expect(restarted.generatedAdminKey).toBeUndefined()
      const status = async (key = '') =>
        (await restarted.app.inject({ url: '/admin/keys', headers: { 'x-api-key': key } })).statusCode
      expect(await status(stdout.trim())).toBe(200)
      expect(await status(first.generatedAdminKey)).toBe(401)
    } finally {
      await restarted.close()
    }
  })

  it('says so in a folder without a store, and leaves the folder as it is', async () => {
    const empty = join(bench.folder, 'empty')
    mkdirSync(empty)
    expectRefusal(await runQuietly(['keys', 'reset-admin', '--data', empty]), /there is no store in /)
    expect(readdirSync(empty)).toEqual([])
  })

  it('fails in one line if the data is not accessible', async () => {
    const unreachable = await runQuietly(['keys', 'reset-admin', '--database', 'postgres://127.0.0.1:1/x'])
    expectRefusal(unreachable, /127\.0\.0\.1|ECONNREFUSED/)
    expectRefusal(await runQuietly(['keys', 'reset-admin', '--nonsense']), /--nonsense/)
  })

  it('creates a new key while a server runs; the old one is revoked within a second', async () => {
    expect((await keysOf(bench.adminKey)).status).toBe(200)
    const { code, stdout, stderr } = await switchboard(['keys', 'reset-admin', '--data', bench.data]).ended
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^\S{24,}\n$/)
    await expect.poll(async () => (await keysOf(stdout.trim())).status, { timeout: 10_000 }).toBe(200)
    expect((await keysOf(bench.adminKey)).status).toBe(401)
  })
})
