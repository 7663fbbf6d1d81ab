import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Catalog } from '../src/services/registry/catalog.js'
import { createExpiry, type Expiry } from '../src/services/registry/expire.js'
import { loadAgents } from '../src/services/registry/load.js'
import { openSqliteStore } from '../src/store/sqlite/open-sqlite-store.js'
import type { Lease, Store } from '../src/store/store.js'
import { StoreError } from '../src/store/store-error.js'
import { newestEntries, put, refresh, stored } from './store/fixtures.js'
import { testCatalog } from './support/catalog.js'
import { createTestClock, type TestClock } from './support/clock.js'
import { aidipAgent } from './support/documents.js'
import { temporaryFolder } from './support/process.js'

/** Seconds. */
const HOUR = 3600
/** Longer than the time between two checks. */
const CHECKED_MS = 400

let folder: ReturnType<typeof temporaryFolder>
let store: Store
let catalog: Catalog
let clock: TestClock
let expiry: Expiry | undefined
let steps: number[]
/** Whether the store rejects writes of the expiry. */
let isFailing: boolean
/** Whether it does not respond to them. */
let isHanging: boolean
/** Seconds since the process has read all changes. */
let lag: number

beforeEach(async () => {
  folder = temporaryFolder()
  store = await openSqliteStore(folder.path)
  clock = createTestClock()
  steps = []
  isFailing = false
  isHanging = false
  lag = 0
})
afterEach(async () => {
  expiry?.stop()
  await store.close()
  folder.remove()
})

/** Starts a process on the store, whose clock may be ahead of the store's. */
const start = async (clockAhead = 0): Promise<void> => {
  catalog = testCatalog(store, clock.now)
  const onError = (error: unknown): void => {
    if (!isFailing) throw error
  }
  const failing: Pick<Store, 'write'> = {
    write: async (change) => {
      if (isHanging) return new Promise(() => {})
      if (isFailing) throw new StoreError('unavailable', 'no room')
      return store.write(change)
    },
  }
  const syncedAt = (): number => clock.now() - lag * 1000
  const onStep = (ms: number): void => void steps.push(Math.round(ms / 1000))
  expiry = createExpiry({ store: failing, catalog, ...clock, clockAhead, syncedAt, onStep, onError })
  catalog.subscribe(expiry)
  await loadAgents(store, catalog)
}

const leaseOf = (seconds: number, grantedAt = clock.now()): Lease => ({
  seconds,
  expiresAt: grantedAt + seconds * 1000,
})
const register = async (id: string, lease: Lease) =>
  catalog.apply(await stored(store.write(put(id, { document: aidipAgent({ id }), lease, at: clock.now() })))).stored
const isThere = async (id: string): Promise<boolean> => {
  await sleep(CHECKED_MS)
  return catalog.get(id) !== undefined && (await store.get(id)) !== undefined
}

describe('the expiry of leases', () => {
  it('reports a step of the clock, and no passing of time', async () => {
    await start()
    await register('a', leaseOf(HOUR))
    clock.advance(60)
    await sleep(CHECKED_MS)
    expect(steps).toEqual([])
    clock.step(-600)
    await expect.poll(() => steps).toEqual([-600])
  })

  it.each([-HOUR, HOUR])(
    'keeps an agent that another replica refreshes, though its clock differs by %i seconds',
    async (skew) => {
      await start()
      let agent = await register('a', leaseOf(60))
      for (let round = 0; round < 3; round++) {
        clock.advance(40)
        const lease = leaseOf(60, clock.now() + skew * 1000)
        agent = await stored(store.write(refresh(agent, { lease, at: clock.now() + skew * 1000 })))
        clock.advance(21)
        expect(await isThere('a'), `round ${round}`).toBe(true)
      }
      clock.advance(61)
      expect(await isThere('a')).toBe(false)
    },
  )

  it('of agents loaded by a process whose clock is ahead of the database’s counts by that of the database', async () => {
    await start()
    await register('a', leaseOf(60))
    expiry?.stop()
    clock.step(HOUR)
    await start(HOUR * 1000)
    expect(await isThere('a')).toBe(true)
    clock.advance(61)
    expect(await isThere('a')).toBe(false)
  })

  it('of agents loaded after the clock was set back is no longer than their lease', async () => {
    await start()
    await register('a', leaseOf(60))
    expiry?.stop()
    clock.step(-HOUR)
    await start()
    clock.advance(59)
    expect(await isThere('a')).toBe(true)
    clock.advance(2)
    expect(await isThere('a')).toBe(false)
  })

  it('renewed by a replica that is gone ends a lease’s length after the renewal, and not after it was noticed', async () => {
    await start()
    const agent = await register('a', leaseOf(60))
    clock.advance(20)
    await store.write(refresh(agent, { lease: leaseOf(60), at: clock.now() }))
    clock.advance(41)
    expect(await isThere('a')).toBe(true)
    clock.advance(18)
    expect(await isThere('a')).toBe(true)
    clock.advance(3)
    expect(await isThere('a')).toBe(false)
  })

  it('of an agent that was registered while this process could not follow counts from its registration', async () => {
    await start()
    lag = 100
    await register('a', leaseOf(60, clock.now() - 50_000))
    clock.advance(9)
    expect(await isThere('a')).toBe(true)
    clock.advance(3)
    expect(await isThere('a')).toBe(false)
  })

  it('ends what is served even if the store cannot be written, which follows when it can', async () => {
    await start()
    await register('a', leaseOf(60))
    isFailing = true
    clock.advance(61)
    await expect.poll(() => catalog.get('a')).toBeUndefined()
    expect(await store.get('a')).toBeDefined()
    // Read again, such as after the connection is back.
    await catalog.reload('a')
    await expect.poll(() => catalog.get('a')).toBeUndefined()
    isFailing = false
    await expect.poll(() => store.get('a')).toBeUndefined()
    expect(await newestEntries(store, { action: 'expire', limit: 10 })).toHaveLength(1)
  })

  it('ends what is served even if the store does not respond', async () => {
    await start()
    await register('a', leaseOf(60))
    isHanging = true
    clock.advance(61)
    await expect.poll(() => catalog.get('a')).toBeUndefined()
    expect(await store.get('a')).toBeDefined()
  })

  it('that ended while the store could not be written goes on if another replica has renewed it', async () => {
    await start()
    const agent = await register('a', leaseOf(60))
    clock.advance(30)
    await store.write(refresh(agent, { lease: leaseOf(60), at: clock.now() }))
    isFailing = true
    clock.advance(31)
    await expect.poll(() => catalog.get('a')).toBeUndefined()
    isFailing = false
    await expect.poll(() => catalog.get('a')).toBeDefined()
    expect(await isThere('a')).toBe(true)
  })
})
