import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { NO_POSTGRES, testDatabase } from '../postgres.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { CARD, card, startSite, type TestSite } from './site.js'

const database = await testDatabase()

describe.skipIf(!database)(database ? 'two replicas that crawl' : `two replicas that crawl, ${NO_POSTGRES}`, () => {
  const clock = createTestClock()
  let site: TestSite
  let replicas: TestDirectory[]
  beforeAll(async () => {
    site = await startSite({ [CARD]: { body: card() } })
    const crawl = { intervalSeconds: 3600, pauseMs: 50, urls: [site.url] }
    const start = () => startDirectory({ database: database?.url ?? '', crawl }, clock)
    replicas = [await start(), await start()]
  })
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()))
    await site.close()
    await database?.drop()
  })

  const visits = (): number => site.requests.filter(({ path }) => path === CARD).length
  const path = (): string => `/agents/${encodeURIComponent(site.url + CARD)}`

  it('visit a site once for each interval, and both show what was found', async () => {
    for (const replica of replicas) {
      await vi.waitFor(async () => {
        expect((await replica.get(path())).status).toBe(200)
        const { json } = await replica.get('/crawl', { as: 'admin' })
        expect(json.sites).toMatchObject([{ state: 'read', agents: [{ status: 'created' }] }])
      }, 20_000)
    }
    expect(visits()).toBe(1)
    clock.advance(4000)
    await vi.waitFor(() => expect(visits()).toBe(2), 20_000)
    // Longer than the interval at which each replica looks for visits that are due.
    await expect(vi.waitUntil(() => visits() > 2, 3000)).rejects.toThrow()
  })

  it('go on if the one that made the visits stops', async () => {
    const [one] = replicas.splice(0, 1)
    await one?.close()
    const before = visits()
    clock.advance(4000)
    await vi.waitFor(() => expect(visits()).toBeGreaterThan(before), 20_000)
  })
})
