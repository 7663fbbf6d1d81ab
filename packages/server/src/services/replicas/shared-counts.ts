import type { CallCounts } from '../../gateway/resilience/call-counts.js'
import { createCallCounts } from '../../gateway/resilience/call-counts.js'
import type { Replicas } from './replicas.js'

/**
 * Counts of calls in progress that include those of other replicas. If several calls begin at once, they wait until the others
 * know of them and their counts are known here.
 *
 * @param name distinguishes these counts from others
 */
export function createSharedCounts(name: string, replicas: Replicas): CallCounts {
  const local = createCallCounts()
  let told = new Map<string, number>()
  let reported = told
  let elsewhere = new Map<string, number>()
  const listeners: (() => void)[] = []

  replicas.join({
    report() {
      reported = new Map(local.entries())
      return { calls: Object.fromEntries([...reported].map(([key, count]) => [`${name} ${key}`, count])) }
    },
    learn(others) {
      told = reported
      elsewhere = new Map()
      for (const calls of others)
        for (const [key, count] of Object.entries(calls)) elsewhere.set(key, (elsewhere.get(key) ?? 0) + count)
      for (const listener of listeners) listener()
    },
  })

  const countElsewhere = (key: string): number => (replicas.count > 1 ? (elsewhere.get(`${name} ${key}`) ?? 0) : 0)
  return {
    ...local,
    of: (key) => local.of(key) + countElsewhere(key),
    settle(key, limit) {
      if (replicas.count === 1 || local.of(key) - (told.get(key) ?? 0) <= replicas.aheadOf(limit)) return undefined
      return replicas.exchange()
    },
    onChange: (listener) => void listeners.push(listener),
  }
}
