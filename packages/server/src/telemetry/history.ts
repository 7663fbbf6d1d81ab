import type { History, HistoryPoint, Percentiles, TimedAction } from './metrics.js'

const MINUTE_MS = 60_000
/** Minutes that are kept. */
const KEPT = 24 * 60
/** Buckets of durations; each ends at 1.5 times the end of the one before, the first at 1 ms, the last at over two minutes. */
const BUCKETS = 30
const GROWTH = 1.5
const TIMED: readonly TimedAction[] = ['search', 'register', 'lookup', 'invoke', 'agent']
/** Names that are counted besides durations: error codes and outcomes of calls. There are about thirty; more are dropped. */
const MAX_NAMES = 64
const SIZE = TIMED.length * BUCKETS + MAX_NAMES

/** The status of requests that the rate limit refused: their durations say nothing. */
const REFUSED = 429

/**
 * What happened in each of the last 1440 minutes, as counters in memory: a kilobyte for each minute in which something
 * happened. The counters of several minutes can be added up, percentiles could not.
 */
export function createHistory(now: () => number): History {
  /** Counters by the number of the minute, in ascending order. */
  const minutes = new Map<number, Uint32Array>()
  const names: string[] = []
  const startedAt = now()

  const current = (): Uint32Array => {
    const number = Math.floor(now() / MINUTE_MS)
    const known = minutes.get(number)
    if (known) return known
    for (const old of minutes.keys()) if (old <= number - KEPT) minutes.delete(old)
    const counters = new Uint32Array(SIZE)
    minutes.set(number, counters)
    return counters
  }
  const add = (index: number): void => {
    const counters = current()
    counters[index] = (counters[index] ?? 0) + 1
  }
  const count = (name: string): void => {
    if (!names.includes(name) && names.length < MAX_NAMES) names.push(name)
    const index = names.indexOf(name)
    if (index >= 0) add(TIMED.length * BUCKETS + index)
  }
  const time = (action: TimedAction, ms: number): void => add(TIMED.indexOf(action) * BUCKETS + bucketOf(ms))

  /** The sum of the counters of a step. */
  const sumOf = (first: number, length: number): Uint32Array | undefined => {
    let sum: Uint32Array | undefined
    for (let number = first; number < first + length; number++) {
      const counters = minutes.get(number)
      if (!counters) continue
      sum ??= new Uint32Array(SIZE)
      for (let i = 0; i < SIZE; i++) sum[i] = (sum[i] ?? 0) + (counters[i] ?? 0)
    }
    return sum
  }

  const show = (first: number, counters: Uint32Array | undefined): HistoryPoint => {
    const at = new Date(first * MINUTE_MS).toISOString()
    if (!counters) return { at, counts: {}, latency_ms: {}, calls: {}, errors: {} }
    const timed = TIMED.flatMap((action, i) => {
      const buckets = counters.subarray(i * BUCKETS, (i + 1) * BUCKETS)
      const total = buckets.reduce((sum, n) => sum + n, 0)
      return total === 0 ? [] : [{ action, total, percentiles: percentilesOf(buckets, total) }]
    })
    const named = (kind: string): Record<string, number> =>
      Object.fromEntries(
        names.flatMap((name, i) => {
          const value = counters[TIMED.length * BUCKETS + i] ?? 0
          return name.startsWith(kind) && value > 0 ? [[name.slice(kind.length), value]] : []
        }),
      )
    return {
      at,
      counts: Object.fromEntries(timed.map(({ action, total }) => [action, total])),
      latency_ms: Object.fromEntries(timed.map(({ action, percentiles }) => [action, percentiles])),
      calls: named(CALL),
      errors: named(ERROR),
    }
  }

  return {
    startedAt,
    request(action, status, ms) {
      if (status !== REFUSED) time(action, ms)
    },
    call(outcome, agentMs) {
      time('agent', agentMs)
      count(CALL + outcome)
    },
    error: (code) => count(ERROR + code),
    read(since, stepMinutes) {
      const end = Math.floor(now() / MINUTE_MS)
      const earliest = Math.max(end - KEPT + 1, Math.floor(startedAt / MINUTE_MS), Math.floor(since / MINUTE_MS))
      const points: HistoryPoint[] = []
      // Steps start at multiples of their length, so that those of successive reads are the same.
      for (let first = earliest - (earliest % stepMinutes); first <= end; first += stepMinutes)
        points.push(show(first, sumOf(first, stepMinutes)))
      return points
    },
  }
}

const CALL = 'call '
const ERROR = 'error '

/** The bucket of a duration in milliseconds. */
const bucketOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(ms) / Math.log(GROWTH) - 1e-9))

function percentilesOf(buckets: Uint32Array, total: number): Percentiles {
  return {
    p50: quantile(buckets, total, 0.5),
    p95: quantile(buckets, total, 0.95),
    p99: quantile(buckets, total, 0.99),
  }
}

/** Interpolates within the bucket, so it is exact to about a fifth. */
function quantile(buckets: Uint32Array, total: number, share: number): number {
  const rank = share * total
  let below = 0
  for (const [i, inBucket] of buckets.entries()) {
    if (below + inBucket >= rank && inBucket > 0) {
      const [from, to] = [i === 0 ? 0 : GROWTH ** (i - 1), GROWTH ** i]
      return Number((from + (to - from) * ((rank - below) / inBucket)).toPrecision(3))
    }
    below += inBucket
  }
  return 0
}
