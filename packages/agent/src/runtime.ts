import { setTimeout as delay } from 'node:timers/promises'

/** What the kit takes from its surroundings; tests give their own. */
export interface Runtime {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newId: () => string
  /** From 0 to 1. */
  readonly random: () => number
  /** Ends early, without an error, if the signal does. Keeps no process alive. */
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
