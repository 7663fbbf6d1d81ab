import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { NO_POSTGRES, type TestDatabase, testDatabase } from './postgres.js'
import { type Balancer, startBalancer } from './support/balancer.js'
import { buildPreviousVersion, hasPreviousVersion, NO_HISTORY } from './support/previous-version.js'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from './support/process.js'
import { type Load, startLoad } from './support/rolling-load.js'

/** Milliseconds that a replica waits before it refuses connections: time for many checks on a busy machine. */
const DELAY_MS = 1500
const CLIENTS = 8
const RATE_LIMIT = 1_000_000
const SOON = { timeout: 20_000 }

const available = await testDatabase()
await available?.drop()
const withHistory = hasPreviousVersion()

describe.skipIf(!available)(available ? 'replicas behind a load balancer' : `replicas, ${NO_POSTGRES}`, () => {
  const folder = temporaryFolder()
  const secret = randomBytes(32).toString('base64')
  const running: ServerProcess[] = []
  let [agent, balancer, database]: [TestAgent?, Balancer?, TestDatabase?] = []
  let load: Load | undefined

  beforeAll(async () => {
    agent = await startAgent()
  })
  beforeEach(async () => {
    balancer = await startBalancer()
    database = await testDatabase()
  })
  afterEach(async () => {
    await load?.stop()
    for (const { child } of running.splice(0)) child.kill('SIGKILL')
    await balancer?.close()
    await database?.drop()
  })
  afterAll(async () => {
    await agent?.close()
    folder.remove()
  })

  /** Starts a replica, of this version or of another, and waits until it gets requests. */
  const start = async (cli?: string): Promise<ServerProcess> => {
    const config = join(folder.path, 'config.json')
    const rateLimits = { search: RATE_LIMIT, register: RATE_LIMIT, lookup: RATE_LIMIT, invoke: RATE_LIMIT }
    const search = { embedder: 'none' }
    writeFileSync(
      config,
      JSON.stringify({ database: database?.url, shutdown: { delayMs: DELAY_MS }, search, rateLimits }),
    )
    const env = { SWITCHBOARD_SECRET: secret }
    const server = await startServer(['--config', config], { env, ...(cli !== undefined && { cli }) })
    running.push(server)
    balancer?.add(server.url)
    await expect.poll(() => balancer?.isReady(server.url), SOON).toBe(true)
    return server
  }
  const stop = async (server: ServerProcess): Promise<void> => {
    const { code } = await server.stop()
    balancer?.remove(server.url)
    expect(code).toBe(0)
  }
  const underLoad = async (): Promise<Load> => {
    const document = agent?.document() ?? {}
    load = await startLoad({ url: balancer?.url ?? '', token: ADMIN_KEY, clients: CLIENTS, callee: document })
    await load.rounds(1)
    return load
  }

  it('can be restarted one after the other under load: no request fails, and nothing is lost', async () => {
    const [one, two] = [await start(), await start()]
    const traffic = await underLoad()
    await stop(one)
    const three = await start()
    await traffic.rounds(1)
    await stop(two)
    const four = await start()
    await traffic.rounds(1)
    await traffic.stop()
    expect(traffic.failures).toEqual([])
    for (const server of [three, four]) expect(await traffic.missingAt(server.url)).toEqual([])
    await Promise.all([stop(three), stop(four)])
  }, 300_000)

  it.skipIf(!withHistory)(
    withHistory
      ? 'can be upgraded one after the other under load: no request fails, and nothing is lost'
      : `can be upgraded, ${NO_HISTORY}`,
    async () => {
      const previous = temporaryFolder()
      try {
        const old = buildPreviousVersion(previous.path)
        const [one, two] = [await start(old), await start(old)]
        const before = await schemaVersion()
        const traffic = await underLoad()

        const three = await start() // migrates, and all three serve
        expect(await schemaVersion()).toBeGreaterThan(before)
        await traffic.rounds(2)
        await stop(one)
        await traffic.rounds(1) // the other old one goes on with the migrated database
        const four = await start()
        await stop(two)
        await traffic.rounds(1)
        await traffic.stop()
        expect(traffic.failures).toEqual([])
        for (const server of [three, four]) expect(await traffic.missingAt(server.url)).toEqual([])
        await Promise.all([stop(three), stop(four)])
      } finally {
        previous.remove()
      }
    },
    300_000,
  )

  const schemaVersion = async (): Promise<number> => {
    const { default: pg } = await import('pg')
    const client = new pg.Client(database?.url)
    await client.connect()
    try {
      return Number((await client.query('SELECT version FROM switchboard')).rows[0]?.version)
    } finally {
      await client.end()
    }
  }
})
