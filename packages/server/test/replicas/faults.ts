import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, REPLICAS } from './cluster.js'
import type { Random } from './random.js'

export interface Faults {
  /** Makes one fault after another, with calm times between them, for at least this time. */
  run(ms: number): Promise<void>
  /** Whether everything has worked for a while. */
  isCalm(): boolean
  /** What was done, and how often. */
  readonly done: ReadonlyMap<string, number>
}

/** Milliseconds after a fault until everything works again. */
const SETTLE_MS = 2000

export function createFaults(cluster: Cluster, random: Random): Faults {
  const done = new Map<string, number>()
  let calmFrom = 0

  const killReplica = async (): Promise<void> => {
    const replica = random.pick(REPLICAS)
    await cluster.kill(replica)
    await sleep(random.between(200, 1000))
    await cluster.restart(replica)
  }
  const faults: [string, () => Promise<void>][] = [
    ['a replica is killed', killReplica],
    [
      'the database restarts',
      async () => {
        await cluster.primary.stop('fast')
        await sleep(random.between(0, 1500))
        await cluster.primary.start()
      },
    ],
    [
      'the database is stopped with SIGSTOP',
      async () => {
        cluster.primary.pause()
        await sleep(random.between(6000, 9000))
        cluster.primary.resume()
      },
    ],
    [
      'the database crashes while a replica is killed',
      async () => {
        await Promise.all([cluster.primary.stop('immediate'), cluster.kill(2)])
        await cluster.primary.start()
        await cluster.restart(2)
      },
    ],
    ['a replica is killed', killReplica],
  ]
  const failOver: [string, () => Promise<void>] = ['the database fails over to its standby', () => cluster.failOver()]

  return {
    done,
    isCalm: () => Date.now() > calmFrom,
    async run(ms) {
      const end = Date.now() + ms
      // The failover comes once: afterwards there is no standby.
      for (let round = 0; Date.now() < end || round < 1; round++) {
        const order = round === 0 ? [...faults, failOver] : faults
        for (const [name, make] of order) {
          await sleep(random.between(4000, 6000))
          calmFrom = Number.POSITIVE_INFINITY
          await make()
          calmFrom = Date.now() + SETTLE_MS
          done.set(name, (done.get(name) ?? 0) + 1)
          if (round > 0 && Date.now() > end) return
        }
      }
    },
  }
}
