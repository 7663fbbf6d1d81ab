import type { JsonObject } from '@switchboard/protocol'

/** How one operation of an agent did with an example of its own. */
export interface ProbeResult {
  readonly operation: string
  readonly passed: boolean
  /** Milliseconds until the response or the failure. */
  readonly ms: number
  /** Why it failed; for the owner only, because it may quote the agent. */
  readonly reason?: string
}

/** The last probe of an agent. Times are milliseconds since 1970. */
export interface Probe {
  readonly at: number
  readonly results: readonly ProbeResult[]
  /** Failed probes since the last one that passed. */
  readonly failures: number
}

/** Longest wait between probes, in intervals, of an agent that keeps failing. */
const MAX_INTERVALS = 8
/** Share of a wait by which it is longer or shorter at random. */
const JITTER = 0.1

export const afterProbe = (before: Probe | undefined, results: readonly ProbeResult[], now: number): Probe => ({
  at: now,
  results,
  failures: results.every(({ passed }) => passed) ? 0 : (before?.failures ?? 0) + 1,
})

/**
 * Milliseconds until the next probe: longer and longer while the agent fails, because somebody pays for every call.
 *
 * @param random from 0 to 1
 */
export const nextProbe = ({ failures }: Probe, intervalMs: number, random: number): number =>
  intervalMs * Math.min(2 ** Math.max(0, failures - 1), MAX_INTERVALS) * (1 + JITTER * (2 * random - 1))

/** What everybody sees; not the names of the operations, which may be private. */
export const showProbe = ({ at, failures }: Probe): JsonObject => ({
  state: failures === 0 ? 'passed' : 'failed',
  at: new Date(at).toISOString(),
})

/** What the owner sees. */
export const showProbeDetail = (probe: Probe): JsonObject => ({
  ...showProbe(probe),
  results: probe.results.map(({ operation, passed, ms, reason }) => ({
    operation,
    state: passed ? 'passed' : 'failed',
    latency_ms: ms,
    ...(reason !== undefined && { reason }),
  })),
})
