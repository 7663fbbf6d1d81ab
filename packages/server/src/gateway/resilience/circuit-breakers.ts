import { LRUCache } from 'lru-cache'
import {
  type Admission,
  admitTo,
  type Circuit,
  type CircuitTiming,
  newCircuit,
  openCircuit,
  settleCall,
} from './circuit.js'

/**
 * What a call says about the health of an endpoint.
 * `failed`: the endpoint failed, which may be due to the input.
 * `unreachable`: there was no connection, which no input can cause.
 * `unknown`: the call was cancelled, or never reached the endpoint.
 */
export type CallResult = 'ok' | 'failed' | 'unreachable' | 'unknown'

/** Whether a call may be made; if not, `isForEveryone` says whether the circuit is open for all callers. */
export type CallAdmission = Admission<CallResult> & { readonly isForEveryone?: boolean }

/**
 * Circuit breakers by endpoint: after repeated failures, calls are rejected for a while. Failures that may be due to the
 * input reject only the calls of their caller, until several callers have them: nobody can cut others off from an agent.
 */
export interface CircuitBreakers {
  admit(endpoint: string, caller: string): CallAdmission
  /** Number of circuits kept. */
  readonly size: number
}

/** The circuit opens for everyone if so many callers failed last, and they are at least this share of the recent ones. */
const MIN_FAILING_CALLERS = 3
const FAILING_SHARE = 0.5
/** Callers whose last result is kept, and for how many milliseconds. */
const MAX_VOTES = 16
const VOTE_MS = 60_000

/** The circuit of one endpoint, and its votes: the last result of each recent caller, oldest first. */
interface EndpointCircuit {
  readonly number: number
  readonly circuit: Circuit
  readonly votes: Map<string, Vote>
  /** Of the last caller. */
  newest: Vote | undefined
}

interface Vote {
  hasFailed: boolean
  at: number
}

/**
 * Not a library: those that run on Node 20 use their own clock, have no neutral result for cancelled calls, and do not
 * evict the circuits of agents that are no longer called.
 */
export function createCircuitBreakers({
  limit = 10_000,
  ...timing
}: CircuitTiming & {
  /** Circuits kept of endpoints, and of callers; the least recently used is evicted, which closes it. */
  limit?: number
}): CircuitBreakers {
  const { monotonic } = timing
  const endpoints = new LRUCache<string, EndpointCircuit>({ max: limit })
  /** Circuits of callers that failed, by number of the endpoint and caller. */
  const callers = new LRUCache<string, Circuit>({ max: limit })
  let created = 0

  const endpointOf = (key: string): EndpointCircuit => {
    const known = endpoints.get(key)
    if (known) return known
    const fresh = { number: ++created, circuit: newCircuit(monotonic()), votes: new Map(), newest: undefined }
    endpoints.set(key, fresh)
    return fresh
  }

  const countFailure = (callerKey: string): void => {
    const circuit = callers.get(callerKey) ?? newCircuit(monotonic())
    callers.set(callerKey, circuit)
    settleCall(circuit, 'failed', timing)
  }

  /** One caller, one vote: however often it fails, it cannot open the circuit for everyone. */
  const vote = (endpoint: EndpointCircuit, caller: string, hasFailed: boolean): void => {
    const { circuit, votes } = endpoint
    const now = monotonic()
    const known = votes.get(caller)
    if (known && known === endpoint.newest) {
      known.hasFailed = hasFailed
      known.at = now
    } else {
      // Deleted first, so that the votes are in the order of their time.
      votes.delete(caller)
      endpoint.newest = { hasFailed, at: now }
      votes.set(caller, endpoint.newest)
    }
    for (const [voter, { at }] of votes) {
      if (votes.size <= MAX_VOTES && now - at < VOTE_MS) break
      votes.delete(voter)
    }
    if (!hasFailed || circuit.openUntil !== undefined) return
    let failing = 0
    for (const each of votes.values()) if (each.hasFailed) failing++
    if (failing < MIN_FAILING_CALLERS || failing < votes.size * FAILING_SHARE) return
    votes.clear()
    openCircuit(circuit, timing)
  }

  return {
    get size() {
      return endpoints.size + callers.size
    },
    admit(key, caller) {
      const endpoint = endpointOf(key)
      const callerKey = `${endpoint.number} ${caller}`
      const known = callers.get(callerKey)
      const own = known && admitTo(known, timing)
      if (own?.isOpen) return { ...own, isForEveryone: false }
      const shared = admitTo(endpoint.circuit, timing)
      if (shared.isOpen) {
        own?.settle('unknown')
        return { ...shared, isForEveryone: true }
      }
      const settle = (result: CallResult): void => {
        if (result === 'failed' && !own) countFailure(callerKey)
        else own?.settle(result === 'unreachable' ? 'unknown' : result)
        if (result === 'unreachable') shared.settle('failed')
        // If it failed for this input, it could at least be reached; of a probe more is expected.
        else shared.settle(result === 'failed' && !shared.isProbe ? 'ok' : result)
        if (result === 'ok' || result === 'failed') vote(endpoint, caller, result === 'failed')
      }
      return { isOpen: false, settle: once(settle) }
    },
  }
}

function once<T>(work: (value: T) => void): (value: T) => void {
  let isDone = false
  return (value) => {
    if (isDone) return
    isDone = true
    work(value)
  }
}
