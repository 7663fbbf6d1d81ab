import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { ProcessState } from './metrics.js'

/** Milliseconds between the samples of the event loop's delay. */
const RESOLUTION_MS = 20
const NS_PER_MS = 1e6

let delays: IntervalHistogram | undefined

/**
 * Memory and event loop of this process. The delays are those since the last read; nothing is measured before the first,
 * so that it costs nothing for operators who never look.
 */
export function readProcessState(): ProcessState {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const measured = delays
  if (measured === undefined) {
    delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    delays.enable()
  }
  // A sample contains the time between samples.
  const ms = (ns: number): number => Math.max(0, Math.round((ns / NS_PER_MS - RESOLUTION_MS) * 10) / 10)
  const eventLoop =
    measured && measured.count > 0
      ? { p50: ms(measured.percentile(50)), p99: ms(measured.percentile(99)), max: ms(measured.max) }
      : undefined
  measured?.reset()
  return {
    node: process.version,
    uptimeSeconds: Math.round(process.uptime()),
    memory: { rss, heapUsed, heapTotal, external },
    eventLoopDelayMs: eventLoop,
  }
}
