/** What a call says about the health of what the circuit protects. `unknown`: it was cancelled, or never got there. */
export type CircuitResult = 'ok' | 'failed' | 'unknown'

/** Whether a call may be made. */
export type Admission<Result> =
  | { readonly isOpen: false; settle(result: Result): void }
  /** Milliseconds after which to try again. */
  | { readonly isOpen: true; readonly retryAfterMs: number }

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
/** Milliseconds after which another call may probe, so that a slow one does not block the others. */
const MAX_PROBE_MS = 10_000

/** The state of one circuit breaker; plain data, because there are many. */
export interface Circuit {
  consecutiveFailures: number
  /** Calls and failures, decayed to the time `at`. */
  calls: number
  failures: number
  at: number
  /** Undefined: closed. */
  openUntil: number | undefined
  openMs: number
  /** When the running probe began. */
  probingSince: number | undefined
}

/** How circuits measure time. */
export interface CircuitTiming {
  readonly monotonic: () => number
  /** From 0 to 1; spreads the probes of replicas and endpoints over time. */
  readonly random: () => number
}

export const newCircuit = (at: number): Circuit => ({
  consecutiveFailures: 0,
  calls: 0,
  failures: 0,
  at,
  openUntil: undefined,
  openMs: FIRST_OPEN_MS,
  probingSince: undefined,
})

/** Admits a call, or a probe if the circuit has been open for long enough. The result must be settled once. */
export function admitTo(circuit: Circuit, timing: CircuitTiming): Admission<CircuitResult> & { isProbe: boolean } {
  const { openUntil, probingSince } = circuit
  if (openUntil === undefined) {
    return { isOpen: false, isProbe: false, settle: (result) => settleCall(circuit, result, timing) }
  }
  const now = timing.monotonic()
  if (openUntil > now) return { isOpen: true, isProbe: false, retryAfterMs: openUntil - now }
  if (probingSince !== undefined && now - probingSince < MAX_PROBE_MS) {
    return { isOpen: true, isProbe: false, retryAfterMs: PROBE_MS }
  }
  circuit.probingSince = now
  return { isOpen: false, isProbe: true, settle: (result) => settleProbe(circuit, result, timing) }
}

/** Counts the result of a call, and opens the circuit if there are too many failures. */
export function settleCall(circuit: Circuit, result: CircuitResult, timing: CircuitTiming): void {
  if (result === 'unknown') return
  count(circuit, result === 'failed' ? 1 : 0, timing.monotonic())
  // Calls that were already running when the circuit opened do not open it again.
  if (circuit.openUntil === undefined && isFailing(circuit)) openCircuit(circuit, timing)
}

/** Opens the circuit, for longer than usual only after failed probes. */
export function openCircuit(circuit: Circuit, { monotonic, random }: CircuitTiming, openMs = FIRST_OPEN_MS): void {
  circuit.openMs = Math.min(openMs, MAX_OPEN_MS)
  circuit.openUntil = monotonic() + circuit.openMs * (0.5 + random() / 2)
  circuit.calls = 0
  circuit.failures = 0
  circuit.consecutiveFailures = 0
}

function settleProbe(circuit: Circuit, result: CircuitResult, timing: CircuitTiming): void {
  // A later probe was faster.
  const isStale = circuit.openUntil === undefined
  circuit.probingSince = undefined
  if (isStale) settleCall(circuit, result, timing)
  else if (result === 'failed') openCircuit(circuit, timing, circuit.openMs * 2)
  else if (result === 'ok') circuit.openUntil = undefined
}

function count(circuit: Circuit, failure: 0 | 1, now: number): void {
  const decay = 0.5 ** ((now - circuit.at) / HALF_LIFE_MS)
  circuit.calls = circuit.calls * decay + 1
  circuit.failures = circuit.failures * decay + failure
  circuit.consecutiveFailures = failure === 0 ? 0 : circuit.consecutiveFailures + 1
  circuit.at = now
}

const isFailing = ({ consecutiveFailures, calls, failures }: Circuit): boolean =>
  consecutiveFailures >= CONSECUTIVE_FAILURES || (calls >= MIN_CALLS && failures >= calls * FAILURE_SHARE)
