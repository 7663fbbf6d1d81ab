import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_POSTGRES, testDatabase } from '../postgres.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

const database = await testDatabase()
const SOON = { timeout: 20_000, interval: 50 }

describe.skipIf(!database)(database ? 'replicas that read from a peer' : `replicas, ${NO_POSTGRES}`, () => {
  const clock = createTestClock()
  /** Who asked the peer: replicas send the token of their own config. */
  let askers: string[] = []
  let description = 'One.'
  const peer = createServer((request, response) => {
    askers.push(String(request.headers.authorization))
    const { url } = request
    const record = { id: 'copied', format: 'aidip', document: aidipAgent({ id: 'copied', description }) }
    const page = { agents: [{ record, path: [] }], removed: [], full: true, more: false, cursor: 'x' }
    response.writeHead(url?.startsWith('/feed') ? 200 : 404).end(JSON.stringify(page))
  })
  let one: TestDirectory
  let two: TestDirectory

  beforeAll(async () => {
    peer.listen(0, '127.0.0.1')
    await once(peer, 'listening')
    const url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`
    const start = (token: string) =>
      startDirectory(
        {
          database: database?.url ?? '',
          secret: 'shared-by-the-replicas',
          peers: [{ name: 'p', url, token, trust: 'full', intervalSeconds: 1 }],
        },
        clock,
      )
    one = await start('one')
    two = await start('two')
  })
  afterAll(async () => {
    await Promise.all([one.close(), two.close()])
    await database?.drop()
    peer.closeAllConnections()
    peer.close()
  })

  const described = async (...directories: TestDirectory[]): Promise<string[]> =>
    Promise.all(directories.map(async (directory) => (await directory.get('/agents/copied')).json.description))

  it('read once for all, show the same, and take over from one that stops', async () => {
    await expect.poll(() => described(one, two), SOON).toEqual(['One.', 'One.'])
    description = 'Two.'
    await expect.poll(() => described(one, two), SOON).toEqual(['Two.', 'Two.'])
    expect(new Set(askers).size).toBe(1)
    for (const replica of [one, two])
      expect((await replica.get('/agents/copied')).json.provenance).toMatchObject({
        origin_authority: expect.any(String),
      })
    const [reader, other] = askers[0] === 'Bearer one' ? [one, two] : [two, one]
    await reader.close()
    askers = []
    description = 'Three.'
    await expect.poll(() => described(other), SOON).toEqual(['Three.'])
    expect(new Set(askers).size).toBe(1)
  })
})
