import type { Invoke } from '../services/calls/invoke.js'
import type { Catalog } from '../services/registry/catalog.js'
import { createCheckLease } from '../services/trust/check-lease.js'
import { createProbeOperation } from '../services/trust/probe-agent.js'
import { createProbes, type Probes } from '../services/trust/probes.js'
import { createSchedule } from '../services/trust/schedule.js'
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
  const probes = await createProbes({
    store: store.trust,
    catalog,
    probe: createProbeOperation(invoke, monotonic),
    lease,
    intervalMs: config.probes.intervalSeconds * 1000,
    now,
    monotonic,
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
