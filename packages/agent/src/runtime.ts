import { setTimeout as delay } from 'node:timers/promises'

/** Clocks, ids, randomness and network; tests replace them. */
export interface Runtime {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a clock that is never set, to measure intervals. */
  readonly monotonic: () => number
  readonly newId: () => string
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /** Resolves early if the signal aborts. Does not keep the process alive. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly fetch: typeof fetch
}

export const SYSTEM: Runtime = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  newId: () => crypto.randomUUID(),
  random: () => Math.random(),
  sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
  fetch: (input, init) => globalThis.fetch(input, init),
}
