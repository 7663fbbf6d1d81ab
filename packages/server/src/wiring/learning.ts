import { randomUUID } from 'node:crypto'
import type { Gateway } from '../gateway/gateway.js'
import { createLearner } from '../services/learning/learner.js'
import { createReadOperations, type ReadOperations } from '../services/learning/read-operations.js'
import type { Catalog } from '../services/registry/catalog.js'
import type { Quotas } from '../services/registry/quotas.js'
import { createCheckLease } from '../services/trust/check-lease.js'
import { createCheckQueue } from '../services/trust/check-queue.js'
import { createSchedule } from '../services/trust/schedule.js'
import { createSharedResults } from '../services/trust/shared-results.js'
import type { Base } from './base.js'

/** Milliseconds between looks for agents whose lists are due. */
const TICK_MS = 250

export interface Learning {
  readonly read: ReadOperations
  /** Called if a call has seen another list than that in the agent's views. */
  outdated(id: string): void
  start(): void
  stop(): Promise<void>
}

/** Reading of what agents list themselves; nothing is read in the background if the operator has switched it off. */
export async function wireLearning(
  { config, store, now, monotonic, logError }: Base,
  catalog: Catalog,
  quotas: Pick<Quotas, 'quotaOf'>,
  gateway: Gateway,
): Promise<Learning> {
  const read = createReadOperations({ fetch: gateway.fetch, newId: randomUUID })
  if (!config.operations.fetch || !config.gateway.enabled) return { read, outdated() {}, start() {}, async stop() {} }
  const onError = logError('could not read the operations of an agent')
  const intervalMs = config.operations.intervalSeconds * 1000
  const lease = createCheckLease({ store: store.trust, key: 'operations', now })
  const learner = createLearner({
    catalog,
    read,
    queue: createCheckQueue({ lease, intervalMs, monotonic }),
    results: await createSharedResults({ store: store.trust, kind: 'operations', now }),
    bytesOf: (owner) => quotas.quotaOf(owner).bytes,
    intervalMs,
    now,
    monotonic,
    random: Math.random,
    onError,
  })
  catalog.subscribe(learner)
  const schedule = createSchedule(learner.run, TICK_MS, onError)
  return {
    read,
    outdated: learner.outdated,
    start: schedule.start,
    async stop() {
      await schedule.stop()
      await lease.release()
    },
  }
}
