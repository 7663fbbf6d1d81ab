import { createFairQueue } from '../../gateway/resilience/fair-queue.js'

/** Something to read from a host, on behalf of an owner. */
export interface Reading {
  readonly owner: string
  readonly host: string
  readonly read: () => Promise<void>
}

/** Readings at once. */
const MAX_ACTIVE = 8
const WAITING = { all: 10_000, each: 2000 }

/**
 * Starts readings: a few at once, one at a time for each host, and the owners in turn, so that one with slow hosts cannot hold up
 * the others.
 *
 * @returns false if too many are waiting
 */
export function createReadInTurn(onError: (error: unknown) => void): (reading: Reading) => boolean {
  const waiting = createFairQueue<Reading>(WAITING)
  const busy = new Set<string>()

  const startReady = (): void => {
    while (busy.size < MAX_ACTIVE) {
      const next = waiting.take(({ host }) => !busy.has(host))
      if (!next) return
      busy.add(next.host)
      next
        .read()
        .catch(onError)
        .finally(() => {
          busy.delete(next.host)
          startReady()
        })
    }
  }

  return (reading) => {
    const isAccepted = waiting.add(reading.owner, reading)
    if (isAccepted) startReady()
    return isAccepted
  }
}
