import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { findDirectories } from '@switchboard/client/find-directories'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { avahiProblem, multicastProblem } from './support/multicast.js'

const run = promisify(execFile)
const noMulticast = await multicastProblem()
const noAvahi = noMulticast ?? avahiProblem()
for (const reason of new Set([noMulticast, noAvahi])) if (reason) console.warn(`multicast DNS: ${reason}`)

/** Long enough for a busy machine: probing and announcing take one to two seconds. */
const SOON = { timeout: 30_000, interval: 200 }

const started: TestDirectory[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((directory) => directory.close()))
})
/** A name that no other test on the network has. */
const newName = (): string => `Test ${randomUUID().slice(0, 8)}`
async function start(name: string, enabled = true): Promise<TestDirectory> {
  const directory = await startDirectory({ mdns: { enabled, name } })
  started.push(directory)
  return directory
}
const browse = async (name: string) =>
  (await findDirectories({ interfaces: ['127.0.0.1'], timeoutMs: 1000 })).filter((each) => each.name.startsWith(name))

describe.skipIf(noMulticast)(noMulticast ? `multicast DNS, ${noMulticast}` : 'multicast DNS', () => {
  it('AD-3.2-01 advertises the directory as _ad._tcp with host and port, and says goodbye when it stops', async () => {
    const name = newName()
    const directory = await start(name)
    const { port } = new URL(directory.url)
    await vi.waitFor(async () => expect(await browse(name)).toHaveLength(1), SOON)
    expect(await browse(name)).toEqual([
      {
        name,
        url: `http://127.0.0.1:${port}`,
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        addresses: expect.arrayContaining(['127.0.0.1']),
        offer: { registration: '/ad/r', lookup: expect.stringContaining('/ad/l'), maxCount: 100 },
      },
    ])
    await directory.close()
    started.length = 0
    expect(await browse(name)).toEqual([])
  })

  it('AD-3.2-01 is off by default', async () => {
    const name = newName()
    await start(name, false)
    expect(await browse(name)).toEqual([])
  })

  it('takes another name if the name is in use on the network', async () => {
    const name = newName()
    await start(name)
    await vi.waitFor(async () => expect(await browse(name)).toHaveLength(1), SOON)
    await start(name)
    await vi.waitFor(async () => expect(await browse(name)).toHaveLength(2), SOON)
    expect((await browse(name)).map((each) => each.name).sort()).toEqual([name, `${name} (2)`])
  })
})

describe.skipIf(noAvahi)(noAvahi ? `Avahi, ${noAvahi}` : 'Avahi', () => {
  it('AD-3.2-01 finds the directory with avahi-browse, and no longer when it has stopped', async () => {
    const name = newName()
    const directory = await start(name)
    const { port } = new URL(directory.url)
    const list = async (): Promise<string> =>
      (await run('avahi-browse', ['--resolve', '--parsable', '--terminate', '_ad._tcp'])).stdout
    const escaped = name.replaceAll(' ', '\\032')
    await vi.waitFor(async () => expect(await list()).toContain(`;127.0.0.1;${port};`), SOON)
    const line = (await list()).split('\n').find((each) => each.startsWith('=') && each.includes(escaped))
    expect(line).toContain('"path=/.well-known/ad"')
    expect(line).toContain('"tls=0"')
    await directory.close()
    started.length = 0
    await vi.waitFor(async () => expect(await list()).not.toContain(escaped), SOON)
  })
})
