import type { Invoke } from '../services/calls/invoke.js'
import type { Catalog } from '../services/registry/catalog.js'
import { createCheckLease } from '../services/trust/check-lease.js'
import { createCheckQueue } from '../services/trust/check-queue.js'
import { createProbeOperation } from '../services/trust/probe-agent.js'
import { createProbes, type Probes } from '../services/trust/probes.js'
import { createSchedule } from '../services/trust/schedule.js'
import { createSharedResults } from '../services/trust/shared-results.js'
import type { Base } from './base.js'

/** Milliseconds between looks for probes that are due. */
const TICK_MS = 1000

export interface ProbeParts {
  readonly probes: Probes
  start(): void
  stop(): Promise<void>
}

/** Regular trials of agents; undefined if the operator has not enabled them. */
export async function wireProbes(
  { config, store, now, monotonic, logError }: Base,
  catalog: Catalog,
  invoke: Invoke,
): Promise<ProbeParts | undefined> {
  if (!config.probes.enabled || !config.gateway.enabled) return undefined
  const lease = createCheckLease({ store: store.trust, key: 'probes', now })
  const intervalMs = config.probes.intervalSeconds * 1000
  const probes = createProbes({
    catalog,
    probe: createProbeOperation(invoke, monotonic),
    queue: createCheckQueue({ lease, intervalMs, monotonic }),
    results: await createSharedResults({ store: store.trust, kind: 'probe', now }),
    intervalMs,
    now,
    random: Math.random,
  })
  catalog.subscribe(probes)
  const schedule = createSchedule(probes.run, TICK_MS, logError('could not probe an agent'))
  return {
    probes,
    start: schedule.start,
    async stop() {
      await schedule.stop()
      await lease.release()
    },
  }
}
