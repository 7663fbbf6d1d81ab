import { LRUCache } from 'lru-cache'

/** What a call says about the health of the agent. `unknown`: it was cancelled, or never reached the agent. */
export type CallResult = 'ok' | 'failed' | 'unknown'

/** Whether a call may be made. */
export type Admission =
  | { readonly isOpen: false; settle(result: CallResult): void }
  /** Milliseconds after which to try again. */
  | { readonly isOpen: true; readonly retryAfterMs: number }

/** Circuit breakers by key: after repeated failures, calls are rejected for a while. */
export interface CircuitBreakers {
  admit(key: string): Admission
  /** Number of circuits kept. */
  readonly size: number
}

/** A circuit opens after this many consecutive failures … */
const CONSECUTIVE_FAILURES = 5
/** … or if this share of at least so many recent calls failed. */
const FAILURE_SHARE = 0.5
const MIN_CALLS = 20
/** Milliseconds after which a call counts half in that share. */
const HALF_LIFE_MS = 10_000
/** Milliseconds that a circuit stays open; doubled by each failed probe, up to the maximum. */
const FIRST_OPEN_MS = 2000
const MAX_OPEN_MS = 60_000
/** `retryAfterMs` while a probe is running. */
const PROBE_MS = 1000

interface Circuit {
  consecutiveFailures: number
  /** Calls and failures, decayed to the time `at`. */
  calls: number
  failures: number
  at: number
  /** Undefined: closed. */
  openUntil: number | undefined
  openMs: number
  isProbing: boolean
}

/**
 * Not a library: those that run on Node 20 use their own clock, have no neutral result for cancelled calls, and do not
 * evict the circuits of agents that are no longer called.
 */
export function createCircuitBreakers({
  now,
  random,
  limit = 10_000,
}: {
  now: () => number
  /** From 0 to 1; spreads the probes of replicas and endpoints over time. */
  random: () => number
  /** Circuits kept; the least recently used is evicted, which closes it. */
  limit?: number
}): CircuitBreakers {
  const circuits = new LRUCache<string, Circuit>({ max: limit })

  const count = (circuit: Circuit, failure: 0 | 1): void => {
    const decay = 0.5 ** ((now() - circuit.at) / HALF_LIFE_MS)
    circuit.calls = circuit.calls * decay + 1
    circuit.failures = circuit.failures * decay + failure
    circuit.consecutiveFailures = failure === 0 ? 0 : circuit.consecutiveFailures + 1
    circuit.at = now()
  }

  const open = (circuit: Circuit, openMs: number): void => {
    circuit.openMs = Math.min(openMs, MAX_OPEN_MS)
    circuit.openUntil = now() + circuit.openMs * (0.5 + random() / 2)
    circuit.calls = 0
    circuit.failures = 0
    circuit.consecutiveFailures = 0
  }

  const isFailing = ({ consecutiveFailures, calls, failures }: Circuit): boolean =>
    consecutiveFailures >= CONSECUTIVE_FAILURES || (calls >= MIN_CALLS && failures >= calls * FAILURE_SHARE)

  const settleProbe = (circuit: Circuit, result: CallResult): void => {
    circuit.isProbing = false
    if (result === 'failed') open(circuit, circuit.openMs * 2)
    else if (result === 'ok') circuit.openUntil = undefined
  }

  const settleCall = (circuit: Circuit, result: CallResult): void => {
    if (result === 'unknown') return
    count(circuit, result === 'failed' ? 1 : 0)
    // Calls that were already running when the circuit opened do not open it again.
    if (circuit.openUntil === undefined && isFailing(circuit)) open(circuit, FIRST_OPEN_MS)
  }

  return {
    get size() {
      return circuits.size
    },
    admit(key) {
      const circuit = circuits.get(key) ?? createCircuit(now())
      circuits.set(key, circuit)
      if (circuit.openUntil === undefined) {
        return { isOpen: false, settle: once((result) => settleCall(circuit, result)) }
      }
      const left = circuit.openUntil - now()
      if (left > 0) return { isOpen: true, retryAfterMs: left }
      if (circuit.isProbing) return { isOpen: true, retryAfterMs: PROBE_MS }
      circuit.isProbing = true
      return { isOpen: false, settle: once((result) => settleProbe(circuit, result)) }
    },
  }
}

const createCircuit = (at: number): Circuit => ({
  consecutiveFailures: 0,
  calls: 0,
  failures: 0,
  at,
  openUntil: undefined,
  openMs: FIRST_OPEN_MS,
  isProbing: false,
})

function once<T>(work: (value: T) => void): (value: T) => void {
  let isDone = false
  return (value) => {
    if (isDone) return
    isDone = true
    work(value)
  }
}
