import { hash } from 'node:crypto'
import { createTokenBuckets, type TokenBucketOptions } from '@switchboard/protocol'
import type { Buckets } from '../../policy/rate-limit.js'
import type { BucketSpending } from '../../store/replica-store.js'
import type { Replicas } from './replicas.js'

/** Keys in one report at most; the others follow with the next ones. */
const MAX_REPORTED = 5000

/** A request that waits until all replicas have counted it. */
interface Waiting {
  readonly cost: number
  isGranted: boolean
}

/**
 * Token buckets that replicas share. Each takes from its own copy and tells the others every half second. Who takes much at
 * once waits until the store has counted it, so all replicas together grant hardly more than the bucket has.
 *
 * @param name distinguishes these buckets from others
 */
export function createSharedBuckets(name: string, options: TokenBucketOptions, replicas: Replicas): Buckets {
  const local = createTokenBuckets(options)
  const { capacity, refillMs } = options
  const capacityOf = typeof capacity === 'number' ? () => capacity : capacity
  /** Taken here, and not told yet. */
  const untold = new Map<string, number>()
  const waiting = new Map<string, Set<Waiting>>()
  /** What the last report says, until the answer arrives. */
  let reported = new Map<
    string,
    { readonly storedKey: string; readonly spent: number; readonly waiting: Set<Waiting> }
  >()

  const note = (key: string, cost: number): void => {
    if (replicas.count > 1) untold.set(key, (untold.get(key) ?? 0) + cost)
  }
  const takeHere = (key: string, cost: number): number | undefined => {
    const wait = local.take(key, cost)
    if (wait === undefined) note(key, cost)
    return wait
  }
  const takeTogether = async (key: string, cost: number): Promise<number | undefined> => {
    const entry: Waiting = { cost, isGranted: false }
    const entries = waiting.get(key) ?? new Set()
    waiting.set(key, entries.add(entry))
    await replicas.exchange()
    entries.delete(entry)
    return entry.isGranted ? undefined : takeHere(key, cost)
  }

  replicas.join({
    report() {
      reported = new Map()
      const spending: BucketSpending[] = []
      for (const key of new Set([...waiting.keys(), ...untold.keys()])) {
        if (spending.length === MAX_REPORTED) break
        const storedKey = hash('sha256', `${name} ${key}`, 'base64url')
        const entries = waiting.get(key) ?? new Set()
        const spent = untold.get(key) ?? 0
        const wanted = [...entries].reduce((sum, { cost }) => sum + cost, 0)
        spending.push({ key: storedKey, capacity: capacityOf(key), refillMs, spent, wanted })
        reported.set(key, { storedKey, spent, waiting: entries })
        waiting.delete(key)
        untold.delete(key)
      }
      return { spending }
    },
    learn(_others, buckets) {
      for (const [key, { storedKey, waiting: entries }] of reported) {
        const state = buckets.get(storedKey)
        if (!state) continue
        let left = state.granted
        for (const entry of entries) {
          if (entry.cost > left) continue
          entry.isGranted = true
          left -= entry.cost
        }
        // Tokens that were enough for none of them are given back.
        if (left > 0) note(key, -left)
        local.set(key, state.tokens - (untold.get(key) ?? 0))
      }
      reported = new Map()
    },
  })

  return {
    take(key, cost = 1) {
      const needed = Math.min(cost, capacityOf(key))
      if (replicas.count === 1 || local.levelOf(key).tokens < needed) return takeHere(key, needed)
      const ahead = (untold.get(key) ?? 0) + (reported.get(key)?.spent ?? 0) + needed
      return ahead <= replicas.aheadOf(capacityOf(key)) ? takeHere(key, needed) : takeTogether(key, needed)
    },
    charge(key, cost) {
      local.charge(key, cost)
      note(key, cost)
    },
    levelOf: local.levelOf,
  }
}
