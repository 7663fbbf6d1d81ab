import type { JsonObject } from '@switchboard/protocol'
import type { GaugeName, ProcessState } from '../../telemetry/metrics.js'
import type { Agent, Catalog } from '../registry/catalog.js'
import type { StoreStatus } from './store-status.js'

/** Milliseconds for which the agents are not counted again. */
const COUNTED_MS = 10_000

export interface OverviewOptions {
  readonly version: string
  /** When the directory was created, in milliseconds since 1970. */
  readonly startedAt: number
  readonly storeKind: 'sqlite' | 'postgres'
  readonly storeStatus: Pick<StoreStatus, 'fault' | 'staleSince'>
  readonly catalog: Pick<Catalog, 'index' | 'revision'>
  readonly gauges: () => { readonly [Name in GaugeName]?: number }
  readonly processState: () => ProcessState
  readonly replicas: () => number
  /** Copies from peers that wait for a review. */
  readonly quarantined: () => Promise<number | undefined>
  readonly now: () => number
  readonly monotonic: () => number
}

/** The state of this replica at a glance. */
export function createOverview(options: OverviewOptions): () => Promise<JsonObject> {
  const { version, startedAt, storeKind, storeStatus, catalog, now, monotonic } = options
  let counted: { readonly at: number; readonly counts: JsonObject } | undefined

  const countAgents = (): JsonObject => {
    if (counted === undefined || monotonic() - counted.at > COUNTED_MS)
      counted = {
        at: monotonic(),
        counts: countsOf(catalog.index.select({ conditions: [], view: ({ record }) => record })),
      }
    return counted.counts
  }

  return async () => {
    const gauges = options.gauges()
    const { fault, staleSince } = storeStatus
    const { node, uptimeSeconds, memory, eventLoopDelayMs } = options.processState()
    const quarantined = await options.quarantined()
    return {
      version,
      started_at: new Date(startedAt).toISOString(),
      replicas: options.replicas(),
      store: {
        kind: storeKind,
        state: fault?.kind ?? 'ok',
        ...(fault && { since: new Date(fault.since).toISOString(), reason: fault.reason }),
        ...(staleSince !== undefined && { stale_since: new Date(staleSince).toISOString() }),
      },
      agents: {
        total: catalog.index.size,
        ...countAgents(),
        ...(quarantined !== undefined && { quarantined }),
      },
      index: {
        agents: catalog.index.size,
        pending_words: gauges.pendingWords ?? 0,
        pending_vectors: gauges.pendingVectors ?? 0,
        word_bytes: gauges.wordBytes ?? 0,
        vector_bytes: gauges.vectorBytes ?? 0,
      },
      feed: {
        revision: catalog.revision,
        lag_seconds: round(gauges.feedLag ?? 0),
        peers_ok: gauges.peers ?? 0,
        peers_failing: gauges.failingPeers ?? 0,
      },
      queues: {
        writes: gauges.writeQueue ?? 0,
        embedding: gauges.embeddingQueue ?? 0,
        calls: gauges.callQueue ?? 0,
        tasks: gauges.taskQueue ?? 0,
      },
      connections: gauges.connections ?? 0,
      calls_in_progress: gauges.calls ?? 0,
      process: {
        node,
        uptime_seconds: uptimeSeconds,
        memory: {
          rss: memory.rss,
          heap_used: memory.heapUsed,
          heap_total: memory.heapTotal,
          external: memory.external,
        },
        ...(eventLoopDelayMs && { event_loop_delay_ms: { ...eventLoopDelayMs } }),
      },
      at: new Date(now()).toISOString(),
    }
  }
}

/** How many agents have each status and visibility, are copies of other directories', and have been marked unsafe. */
function countsOf(agents: Iterable<Agent>): JsonObject {
  const status: Record<string, number> = {}
  const visibility: Record<string, number> = {}
  let [copies, unsafe] = [0, 0]
  for (const agent of agents) {
    status[agent.status] = (status[agent.status] ?? 0) + 1
    visibility[agent.record.visibility] = (visibility[agent.record.visibility] ?? 0) + 1
    if (agent.stored.marks.origin) copies++
    if (agent.stored.marks.unsafe) unsafe++
  }
  return { by_status: status, by_visibility: visibility, copies, unsafe }
}

const round = (value: number): number => Math.round(value * 10) / 10
