/** How a call went, as far as it says something about the agent. `unknown`: it was given up, or never got there. */
export type CallResult = 'ok' | 'failed' | 'unknown'

export type Admission =
  | { readonly isOpen: false; settle(result: CallResult): void }
  /** Milliseconds until it is worth asking again. */
  | { readonly isOpen: true; readonly retryAfterMs: number }

/** A breaker for each way to each agent: one that fails again and again is left alone for a while. */
export interface CircuitBreakers {
  admit(key: string): Admission
  /** How many are remembered. */
  readonly size: number
}

/** So many failures in a row open a circuit … */
const FAILURES_IN_A_ROW = 5
/** … and so does this share of failures among enough calls of the last while. */
const FAILURE_SHARE = 0.5
const ENOUGH_CALLS = 20
/** Milliseconds after which a call counts half. */
const HALF_LIFE_MS = 10_000
/** Milliseconds that a circuit stays open: doubled with each failed probe, up to the longest. */
const FIRST_OPEN_MS = 2000
const LONGEST_OPEN_MS = 60_000
/** Milliseconds: what those hear who come while a probe is under way. */
const PROBE_MS = 1000

interface Circuit {
  inARow: number
  calls: number
  failures: number
  at: number
  /** Undefined: closed. */
  openUntil: number | undefined
  openMs: number
  isProbing: boolean
}

/**
 * Small enough to be our own: the breakers that run on Node 20 keep their own clock, know no result that says nothing
 * (a caller who went away), and none forgets agents that are no longer called.
 */
export function createCircuitBreakers({
  now,
  random,
  limit = 10_000,
}: {
  now: () => number
  /** From 0 to 1: replicas and ways must not all probe at once. */
  random: () => number
  /** Circuits remembered; the least recently used is forgotten, which closes it. */
  limit?: number
}): CircuitBreakers {
  const breakers = new Map<string, Circuit>()

  const count = (circuit: Circuit, failure: 0 | 1): void => {
    const decay = 0.5 ** ((now() - circuit.at) / HALF_LIFE_MS)
    circuit.calls = circuit.calls * decay + 1
    circuit.failures = circuit.failures * decay + failure
    circuit.inARow = failure === 0 ? 0 : circuit.inARow + 1
    circuit.at = now()
  }

  const open = (circuit: Circuit, openMs: number): void => {
    circuit.openMs = Math.min(openMs, LONGEST_OPEN_MS)
    circuit.openUntil = now() + circuit.openMs * (0.5 + random() / 2)
    circuit.calls = 0
    circuit.failures = 0
    circuit.inARow = 0
  }

  const isFailing = ({ inARow, calls, failures }: Circuit): boolean =>
    inARow >= FAILURES_IN_A_ROW || (calls >= ENOUGH_CALLS && failures >= calls * FAILURE_SHARE)

  const settleProbe = (circuit: Circuit, result: CallResult): void => {
    circuit.isProbing = false
    if (result === 'failed') open(circuit, circuit.openMs * 2)
    else if (result === 'ok') circuit.openUntil = undefined
  }

  const settleCall = (circuit: Circuit, result: CallResult): void => {
    if (result === 'unknown') return
    count(circuit, result === 'failed' ? 1 : 0)
    // What was under way when it opened says nothing new.
    if (circuit.openUntil === undefined && isFailing(circuit)) open(circuit, FIRST_OPEN_MS)
  }

  return {
    get size() {
      return breakers.size
    },
    admit(key) {
      const circuit = breakers.get(key) ?? createCircuit(now())
      breakers.delete(key)
      breakers.set(key, circuit)
      if (breakers.size > limit) for (const oldest of breakers.keys()) if (breakers.delete(oldest)) break

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
  inARow: 0,
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
