import { createDeadlines } from '../registry/deadlines.js'
import type { CheckLease } from './check-lease.js'

/** Agents by the time at which they are to be checked, by the one replica that holds the lease. */
export interface CheckQueue {
  /** Schedules the check of the agent with this number, in so many milliseconds. */
  add(number: number, inMs: number): void
  /** The next agents that are due; undefined if another replica checks them. */
  take(limit: number): Promise<readonly number[] | undefined>
}

export interface CheckQueueOptions {
  readonly lease: CheckLease
  readonly intervalMs: number
  readonly monotonic: () => number
}

export function createCheckQueue({ lease, intervalMs, monotonic }: CheckQueueOptions): CheckQueue {
  const deadlines = createDeadlines<number>()
  let due: number[] = []

  const add = (number: number, inMs: number): void => deadlines.add(monotonic() + inMs, number)

  return {
    add,
    async take(limit) {
      due = due.concat(deadlines.takeUntil(monotonic()))
      if (await lease.hold()) return due.splice(0, limit)
      // The other replica checks them, but this one must be able to continue.
      for (const number of due) add(number, intervalMs)
      due = []
      return undefined
    },
  }
}
