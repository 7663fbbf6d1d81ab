import { setTimeout as delay } from 'node:timers/promises'

/** Clock, ids, randomness and network; tests replace them. */
export interface Runtime {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newId: () => string
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /** Resolves early if the signal aborts. Does not keep the process alive. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly fetch: typeof fetch
}

export const SYSTEM: Runtime = {
  now: () => Date.now(),
  newId: () => crypto.randomUUID(),
  random: () => Math.random(),
  sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
  fetch: (input, init) => globalThis.fetch(input, init),
}
