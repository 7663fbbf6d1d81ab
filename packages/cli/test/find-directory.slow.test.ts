import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { multicastProblem } from '../../server/test/support/multicast.js'
import { type ServerProcess, startServer, switchboard, temporaryFolder } from '../../server/test/support/process.js'

const problem = await multicastProblem()
if (problem) console.warn(`multicast DNS: ${problem}`)

describe.skipIf(problem)(problem ? `switchboard find-directory, ${problem}` : 'switchboard find-directory', () => {
  const folder = temporaryFolder()
  let server: ServerProcess
  beforeAll(async () => {
    server = await startServer(['--data', join(folder.path, 'data'), '--mdns'])
  })
  afterAll(async () => {
    await server.stop()
    folder.remove()
  })

  it('AD-3.2-01 finds a directory that was started with --mdns, and prints what it offers', async () => {
    await vi.waitFor(
      async () => {
        const { stdout } = await switchboard(['find-directory', '--timeout', '2', '--json']).ended
        const found: { url: string }[] = JSON.parse(stdout)
        expect(found.find(({ url }) => url === server.url)).toMatchObject({ offer: { registration: '/ad/r' } })
      },
      { timeout: 60_000, interval: 500 },
    )
    const { code, stdout } = await switchboard(['find-directory', '--timeout', '2']).ended
    expect(code).toBe(0)
    expect(stdout).toContain(server.url)
    expect(stdout).toMatch(/^registration +\/ad\/r$/m)
  })
})
