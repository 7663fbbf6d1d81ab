import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { NO_POSTGRES } from '../postgres.js'
import { ADMIN_KEY } from '../support/process.js'
import { checkHistory } from './check-history.js'
import { REPLICAS, startCluster } from './cluster.js'
import { createFaults } from './faults.js'
import { createRandom, type Random } from './random.js'
import { createRecorder } from './recorder.js'
import { createWriters } from './writers.js'

/** For another run: SWITCHBOARD_TEST_SEED, and for a longer one SWITCHBOARD_TEST_SECONDS. */
const SEED = Number(process.env.SWITCHBOARD_TEST_SEED ?? 20_261)
const SECONDS = Number(process.env.SWITCHBOARD_TEST_SECONDS ?? 70)
const WRITERS = 6
/** Milliseconds between two lists of everything, by replica. */
const LIST_MS = 400
/** Milliseconds in which all replicas must agree after the last fault. */
const CONVERGE_MS = 30_000

const cluster = await startCluster()

describe.skipIf(!cluster)(cluster ? 'three replicas' : `three replicas, ${NO_POSTGRES}`, () => {
  afterAll(() => cluster?.close())

  it(
    'lose nothing and show nothing wrong while replicas and database are killed, stopped and replaced',
    async () => {
      if (!cluster) return
      console.log(`seed ${SEED}, ${SECONDS} s`)
      const random = createRandom(SEED)
      const recorder = createRecorder(cluster.urlOf)
      const faults = createFaults(cluster, createRandom(SEED + 1))
      const keys = new Map<string, string>()
      for (const subject of ['alice', 'bob', 'carol']) {
        const body = { subject, scopes: ['publish', 'discover'] }
        const made = await recorder.send(0, ADMIN_KEY, 'POST', '/admin/keys', { body })
        keys.set(subject, made?.json.key)
      }
      await sleep(1000)
      const writers = createWriters({ recorder, random, keys, isCalm: faults.isCalm })
      const stopping = new AbortController()
      const working = [
        ...Array.from({ length: WRITERS }, (_, writer) => writers.run(writer)),
        ...REPLICAS.map((replica) => list(recorder, writers.agents, replica, stopping.signal)),
        rollBack(cluster.databaseUrl, random, stopping.signal),
      ]
      await Promise.all([faults.run(SECONDS * 1000), sleep(SECONDS * 1000)])
      writers.stop()
      stopping.abort()
      await Promise.all(working)

      const { history } = recorder
      await expect
        .poll(() => Promise.all(REPLICAS.map(readiness)), { timeout: CONVERGE_MS })
        .toEqual(REPLICAS.map(() => 'ready'))
      const states = () => Promise.all(REPLICAS.map(async (replica) => JSON.stringify(await stateOf(replica))))
      await expect.poll(async () => new Set(await states()).size, { timeout: CONVERGE_MS, interval: 200 }).toBe(1)
      const readAll = async (replica: number): Promise<void> => {
        for (const agent of writers.agents) {
          const seen = await recorder.read(replica, ADMIN_KEY, agent, { isFinal: true })
          if (agent.startsWith('claimed') && seen?.value !== undefined) noteOwner(agent, replica, seen.value)
        }
      }
      await Promise.all(REPLICAS.map(readAll))
      const counts = countsOf(history.map(({ kind, outcome }) => `${kind} ${outcome}`))
      console.log(Object.fromEntries(faults.done), counts)
      const { delays } = writers
      console.log(
        `visible on another replica: p50 ${quantile(delays, 0.5)} ms, p99 ${quantile(delays, 0.99)} ms, ${delays.length} times`,
      )

      expect(checkHistory(history)).toEqual([])
      expect(counts['update ok']).toBeGreaterThan(50)
      expect(counts['delete ok']).toBeGreaterThan(10)
      expect(counts['search ok']).toBeGreaterThan(10)
      expect(delays.length).toBeGreaterThan(5)
      expect(
        cluster
          .log()
          .split('\n')
          .filter((line) => line.includes('"stack"')),
      ).toEqual([])

      function noteOwner(agent: string, replica: number, owner: string): void {
        history.push({ kind: 'read', agent, replica, start: 0, end: 0, outcome: 'ok', value: owner, owner })
      }
      async function readiness(replica: number): Promise<string> {
        return (await recorder.send(replica, ADMIN_KEY, 'GET', '/health/ready'))?.json.status
      }
      async function stateOf(replica: number): Promise<unknown> {
        const answer = await recorder.send(replica, ADMIN_KEY, 'GET', LIST)
        return answer?.json.map(({ id, marker }: Listed) => [id, marker])
      }
    },
    (SECONDS + 180) * 1000,
  )
})

interface Listed {
  readonly id: string
  readonly marker: string
}

const LIST = '/agents?include_metadata=true&shape=array&top=100'

/** Lists everything again and again, and records what is there and what is not. */
async function list(
  { send, history }: ReturnType<typeof createRecorder>,
  agents: ReadonlySet<string>,
  replica: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const known = [...agents]
    const start = Date.now()
    const answer = await send(replica, ADMIN_KEY, 'GET', LIST)
    const end = Date.now()
    if (answer?.status === 200) {
      const listed: Listed[] = answer.json
      if (listed.length === 100) throw new Error('there are too many agents for one page')
      const seen = new Map(listed.map(({ id, marker }) => [id, marker]))
      expect(seen.size, 'an agent is listed twice').toBe(listed.length)
      for (const agent of known) {
        const value = seen.get(agent)
        const owner = agent.startsWith('claimed') ? value : undefined
        history.push({
          ...{ kind: 'read', agent, replica, start, end, outcome: 'ok', value },
          ...(owner !== undefined && { owner }),
        })
      }
    }
    await sleep(LIST_MS)
  }
}

/** Another program whose transactions lock agents, write to the change log, and are rolled back. */
async function rollBack(url: string, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000, query_timeout: 1000 })
    client.on('error', () => {})
    try {
      await client.connect()
      while (!signal.aborted) {
        await client.query('BEGIN')
        await client.query('UPDATE presence SET received_at = 1 WHERE number IN (SELECT number FROM presence LIMIT 3)')
        await client.query(`INSERT INTO changes (kind, id, number, at) VALUES ('remove', 'shared-0', 1, 1)`)
        await sleep(random.between(5, 30))
        await client.query('ROLLBACK')
        await sleep(random.between(50, 150))
      }
    } catch {
      await sleep(200)
    } finally {
      client.connection.stream.destroy()
    }
  }
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

const quantile = (values: readonly number[], share: number): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]
