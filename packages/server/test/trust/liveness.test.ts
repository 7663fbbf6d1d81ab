import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CheckEndpoint, Reachability } from '../../src/services/trust/check-endpoint.js'
import { createCheckLease } from '../../src/services/trust/check-lease.js'
import { createCheckQueue } from '../../src/services/trust/check-queue.js'
import { createLiveness } from '../../src/services/trust/liveness.js'
import { createSharedResults } from '../../src/services/trust/shared-results.js'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.js'
import type { Store } from '../../src/store/store.js'
import { put, stored } from '../store/fixtures.js'
import { testCatalog } from '../support/catalog.js'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { type PublisherHost, startPublisherHost } from './publisher-host.js'

const INTERVAL = 60
const liveness = { enabled: true, intervalSeconds: INTERVAL }

describe('an agent', () => {
  let clock: TestClock
  let directory: TestDirectory
  let host: PublisherHost

  beforeEach(async () => {
    clock = createTestClock()
    host = await startPublisherHost()
    directory = await startDirectory({ liveness }, clock)
  })
  afterEach(async () => {
    await directory.close()
    await host.close()
  })

  const register = (id: string, changes: JsonObject = {}) =>
    directory.post('/agents', { as: 'tokA', body: aidipAgent({ id, endpoint: `${host.url}/${id}`, ...changes }) })
  const health = async (id = 'x'): Promise<JsonObject | undefined> =>
    (await directory.get(`/agents/${id}`)).json.verification.health

  /** Lets time pass until the health of the agent is this. */
  const untilHealth = (state: string, id = 'x') =>
    vi.waitFor(
      async () => {
        clock.advance(INTERVAL * 2)
        expect(await health(id)).toMatchObject({ state })
      },
      { timeout: 30_000, interval: 500 },
    )

  it('that responds is shown as reachable in every view, whatever it responds', async () => {
    await register('x')
    expect(await health()).toBeUndefined()
    const before = (await directory.get('/agents/x')).headers.get('etag')
    await untilHealth('reachable')
    for (const view of ['/agents/x', '/discover/agents/x', '/agents/x/agent.json']) {
      const { json } = await directory.get(view)
      expect(json.verification.health, view).toEqual({
        state: 'reachable',
        since: expect.any(String),
        checked_at: expect.any(String),
      })
    }
    expect((await directory.get('/agents/x')).headers.get('etag')).not.toBe(before)
    expect(new Set(host.methods)).toEqual(new Set(['HEAD']))
    expect(new Set(host.requests)).toEqual(new Set(['/x']))
  })

  it('that does not respond stays listed, is marked and ranks lower, also after a restart, until it is back', async () => {
    const other = await startPublisherHost()
    try {
      await register('x')
      await register('y', { endpoint: `${other.url}/y` })
      const scores = async (): Promise<Record<string, JsonObject>> => {
        const body = { query: 'an agent made for a test', include_evidence: true }
        const { json } = await directory.post('/discover', { body })
        return Object.fromEntries(json.candidates.map((each: JsonObject) => [each.id, each]))
      }
      host.status = 503
      await untilHealth('unreachable')
      const unreachable = (await directory.get('/admin/health?state=unreachable', { as: 'admin' })).json
      expect(unreachable).toMatchObject({
        checked: true,
        counts: { unreachable: 1, reachable: 1 },
        agents: [{ id: 'x', owner: 'tokA', failures: expect.any(Number), reason: expect.stringContaining('503') }],
      })
      expect(await health('y')).toMatchObject({ state: 'reachable' })
      const { x, y } = await scores()
      expect(Number(x?.score)).toBeLessThan(Number(y?.score))
      expect(x?.explanation).toContainEqual(expect.objectContaining({ text: 'could not be reached' }))
      expect(y?.score_components).not.toHaveProperty('availability')
      const listed = (await directory.get('/agents')).json.map(({ id }: { id: string }) => id)
      expect(listed).toEqual(expect.arrayContaining(['x', 'y']))
      const filters = { verification: { health: { state: 'unreachable' } } }
      expect((await directory.post('/agents/search', { body: { filters } })).json).toHaveLength(1)

      await directory.restart()
      expect(await health()).toMatchObject({ state: 'unreachable' })
      host.status = undefined
      await untilHealth('reachable')
    } finally {
      await other.close()
    }
  })

  it('whose host is gone is unreachable, and is checked anew when its endpoint changes', async () => {
    const gone = await startPublisherHost()
    await gone.close()
    await register('x', { endpoint: `${gone.url}/x` })
    await untilHealth('unreachable')
    await register('x')
    expect(await health()).toBeUndefined()
    await untilHealth('reachable')
  })

  it('is not checked unless the operator enables it', async () => {
    await directory.restart({ liveness: { enabled: false } })
    await register('x')
    clock.advance(INTERVAL * 10)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(host.requests).toEqual([])
    expect(await health()).toBeUndefined()
  })
})

describe('replicas', () => {
  let folder: string
  let store: Store
  const now = { at: 1_800_000_000_000 }
  const clock = () => now.at

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-liveness-'))
    store = await openSqliteStore(folder)
  })
  afterEach(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** A replica: its own catalog, lease and schedule on the shared store. */
  const startReplica = async (check: CheckEndpoint) => {
    const catalog = testCatalog(store, clock)
    const lease = createCheckLease({ store: store.trust, key: 'checks', now: clock })
    const intervalMs = 60_000
    const service = createLiveness({
      catalog,
      check,
      queue: createCheckQueue({ lease, intervalMs, monotonic: clock }),
      results: await createSharedResults({ store: store.trust, kind: 'health', now: clock }),
      intervalMs,
      now: clock,
      random: () => 0.5,
    })
    catalog.subscribe(service)
    return { catalog, lease, run: () => service.run(new AbortController().signal) }
  }

  const writeAgents = (count: number, host: (i: number) => string) =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        stored(
          store.write(put(`a${i}`, { document: aidipAgent({ id: `a${i}`, endpoint: `https://${host(i)}/${i}` }) })),
        ),
      ),
    )

  it('share one lease: only one of them checks, the other reads its results and takes over', async () => {
    const checks: string[] = []
    const check =
      (replica: string, result: Reachability): CheckEndpoint =>
      async (url) => {
        checks.push(`${replica} ${url.pathname}`)
        return result
      }
    const agents = await writeAgents(2, (i) => `h${i}.example`)
    const [one, two] = [await startReplica(check('one', 'silent')), await startReplica(check('two', 'reachable'))]
    for (const agent of agents) for (const { catalog } of [one, two]) catalog.apply(agent)
    const stateAt = ({ catalog }: typeof one) => catalog.get('a0')?.findings.members.health
    for (let i = 0; i < 3; i++) {
      now.at += 61_000
      await one.run()
      await two.run()
    }
    expect(new Set(checks.map((each) => each.split(' ')[0]))).toEqual(new Set(['one']))
    expect(stateAt(one)).toMatchObject({ state: 'unreachable' })
    expect(stateAt(two)).toEqual(stateAt(one))

    await one.lease.release()
    now.at += 200_000
    await two.run()
    expect(checks).toContain('two /0')
    expect(stateAt(two)).toMatchObject({ state: 'reachable' })
  })

  it('check one agent of a host at a time, and a silent host once in a batch', async () => {
    const open = new Map<string, number>()
    const most = { perHost: 0, silent: 0 }
    const check: CheckEndpoint = async ({ host }) => {
      open.set(host, (open.get(host) ?? 0) + 1)
      most.perHost = Math.max(most.perHost, open.get(host) ?? 0)
      if (host.startsWith('silent')) most.silent++
      await new Promise((resolve) => setTimeout(resolve, 1))
      open.set(host, (open.get(host) ?? 0) - 1)
      return host.startsWith('silent') ? 'silent' : 'reachable'
    }
    const agents = await writeAgents(24, (i) => (i % 2 === 0 ? 'busy.example' : 'silent.example'))
    const replica = await startReplica(check)
    for (const agent of agents) replica.catalog.apply(agent)
    now.at += 61_000
    await replica.run()
    expect(most).toEqual({ perHost: 1, silent: 1 })
  })
})
