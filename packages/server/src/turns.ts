/** Milliseconds that requests may use of one turn of the event loop before the next one has to wait. */
const TURN_MS = 10

/**
 * For work that may be costly: returns undefined if it may start now, or a promise of a later turn of the event loop if
 * others have used up this one. Without it, the work of all requests that arrive together would be done in one turn, and
 * timers, new connections and responses of agents would wait for all of it. Those that wait go first, in their order.
 * Await only a promise: all who await `undefined` together would start in the same turn.
 */
export type WaitForTurn = () => Promise<void> | undefined

export function createTurns(maxMs = TURN_MS): WaitForTurn {
  /** When this turn is used up; undefined: nobody has used it yet. */
  let end: number | undefined
  const startNextTurn = (): void => {
    end = undefined
  }
  const hasTime = (): boolean => {
    const now = performance.now()
    if (end === undefined) {
      end = now + maxMs
      // Scheduled before all that wait for the next turn, so it runs before them.
      setImmediate(startNextTurn)
    }
    return now < end
  }
  const retry = (start: () => void): void => {
    if (hasTime()) start()
    else setImmediate(retry, start)
  }
  return () => (hasTime() ? undefined : new Promise((start) => setImmediate(retry, start)))
}

/** Shared by all parts of the process, like the event loop itself. */
export const waitForTurn: WaitForTurn = createTurns()
