import { describeSettings } from '../config/describe-settings.js'
import { createOperateRoutes } from '../faces/operate/operate-routes.js'
import type { RouteGroup } from '../faces/route-group.js'
import { createListAgentHealth } from '../services/operations/agent-health.js'
import { createOverview } from '../services/operations/overview.js'
import { readProcessState } from '../telemetry/process-state.js'
import type { Base } from './base.js'
import type { HttpParts } from './http.js'

/** What operators see of a running directory. */
export function wireOperate(
  { config, store, storeStatus, metrics, now, monotonic }: Base,
  {
    context,
    outcomes,
    trust,
    limits,
    version,
  }: Pick<HttpParts, 'context' | 'outcomes' | 'trust' | 'limits' | 'version'>,
): RouteGroup {
  const { catalog } = context
  const quarantined = async (): Promise<number> =>
    (await store.federation.counts()).reduce((sum, { state, count }) => sum + (state === 'quarantined' ? count : 0), 0)
  return createOperateRoutes({
    overview: createOverview({
      version,
      startedAt: metrics.history.startedAt,
      storeKind: config.database === undefined ? 'sqlite' : 'postgres',
      storeStatus,
      catalog,
      gauges: metrics.values,
      processState: readProcessState,
      replicas: () => limits.replicas.count,
      // Without the store, the rest can still be shown.
      quarantined: () => quarantined().catch(() => undefined),
      now,
      monotonic,
    }),
    history: metrics.history,
    refusals: limits.refusals,
    listHealth: createListAgentHealth({ catalog, liveness: trust.liveness, outcomes }),
    settings: () => describeSettings(config),
    now,
  })
}
