import { type Config, maxCallsPerCallerOf } from '../config/settings.js'
import type { LimitTarget, LimitValues } from '../policy/limits.js'
import { type Budgets, createBudgets } from '../services/operations/budgets.js'
import { createLimits, type Limits } from '../services/operations/limits.js'
import { createRefusals, type Refusals } from '../services/operations/refusals.js'
import { createReplicas, type Replicas } from '../services/replicas/replicas.js'
import { MAX_OPEN_TASKS, MAX_TASK_BYTES } from '../services/tasks/tasks.js'
import type { Base } from './base.js'

export interface LimitParts {
  readonly limits: Limits
  readonly budgets: Budgets
  readonly replicas: Replicas
  readonly refusals: Refusals
  /** The limits of the config. */
  readonly defaults: LimitValues
}

/** Limits that operators set at run time, above those of the config. */
export async function wireLimits({ config, store, log, now, monotonic, logError }: Base): Promise<LimitParts> {
  const limits = await createLimits(store, now)
  const onError = logError('could not count calls of the day')
  // Faults of the database are reported by its health.
  const onState = (error: unknown): void =>
    log.debug(
      error === undefined
        ? 'limits are shared with the other replicas again'
        : 'limits are counted by this replica alone',
    )
  const refusals = createRefusals({ now, addresses: config.audit.addresses })
  const onRefused = ({ kind, name }: LimitTarget): void => {
    if (kind !== 'scope') refusals.note('calls_per_day', { kind, name })
  }
  return {
    refusals,
    replicas: createReplicas({ store: store.replicas, onState }),
    limits,
    budgets: createBudgets({ store, limits, now, monotonic, onRefused, onError }),
    defaults: defaultsOf(config),
  }
}

const defaultsOf = ({ rateLimits, gateway, quotas }: Config): LimitValues => ({
  search_per_minute: rateLimits.search,
  register_per_minute: rateLimits.register,
  lookup_per_minute: rateLimits.lookup,
  invoke_per_minute: rateLimits.invoke,
  concurrent_calls: maxCallsPerCallerOf(gateway),
  open_tasks: MAX_OPEN_TASKS,
  task_bytes: MAX_TASK_BYTES,
  ...quotas,
})
