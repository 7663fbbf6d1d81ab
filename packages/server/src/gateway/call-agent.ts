import type { CallTiming } from '../telemetry/metrics.js'
import { type AgentCall, type AgentResponse, type Gateway, GatewayError } from './gateway.js'
import type { GatewayOptions } from './gateway-options.js'
import { onResponseEnd } from './http/observe-stream.js'
import { viaFor } from './http/outgoing-headers.js'
import type { ConcurrencyLimit, Release } from './resilience/concurrency-limit.js'
import { Deadline } from './resilience/deadline.js'
import type { RetryBudget } from './resilience/retry-budget.js'
import {
  isAgentsFault,
  type TryEndpoints,
  type UsableEndpoint,
  type UsableEndpoints,
} from './resilience/try-endpoints.js'
import type { Transports } from './transports/transports.js'

/** How a call ended, for statistics; a stream is reported at its end. */
export interface Outcome {
  /** The agent responded with a status below 500, and its stream did not break. */
  readonly ok: boolean
  /** Milliseconds to the response; for a stream, to its start. */
  readonly ms: number
  readonly status?: number
  readonly code?: GatewayError['code']
}

export type OnOutcome = (agent: string, operation: string, outcome: Outcome) => void

/** In characters. Servers reject longer URLs, and the gateway keeps a circuit breaker for each. */
const MAX_URL_LENGTH = 8192

/** Ends of a stream that say nothing about the agent. */
const NEUTRAL: ReadonlySet<GatewayError['code']> = new Set(['cancelled', 'stopping'])

const stopping = (): GatewayError => new GatewayError('stopping', 'the gateway is stopping')

export interface CallAgentDeps {
  readonly transports: Transports
  readonly concurrency: ConcurrencyLimit
  readonly budget: RetryBudget
  readonly tryEndpoints: TryEndpoints
  readonly options: Pick<GatewayOptions, 'streamMs'>
  /** The name of this gateway in `Via`. */
  readonly hopId: string
  readonly monotonic: () => number
  readonly onOutcome: OnOutcome
}

/** A CallTiming while the call is in progress. */
type Timing = { -readonly [Part in Exclude<keyof CallTiming, 'outcome'>]: CallTiming[Part] }

/** A call with a slot and a deadline. */
interface BegunCall {
  readonly call: AgentCall
  readonly deadline: Deadline
  /** Frees the slot and stops the deadline. */
  readonly finish: () => void
}

/** Applies limits, deadlines, circuit breakers and retries to every call; the transports do the rest. */
export function createCallAgent(
  deps: CallAgentDeps,
): Pick<Gateway, 'call' | 'poll' | 'cancel' | 'endCallsOf' | 'stop'> {
  const { transports, concurrency, budget, tryEndpoints, options, hopId, monotonic, onOutcome } = deps
  /** The calls in progress, with their callers. */
  const active = new Map<Deadline, string | undefined>()
  let isStopping = false

  const usableEndpoints = ({ endpoints }: AgentCall): UsableEndpoints => {
    const usable: UsableEndpoint[] = []
    for (const endpoint of endpoints) {
      const transport = transports[endpoint.protocol]
      if (transport && endpoint.url.length <= MAX_URL_LENGTH) usable.push({ endpoint, transport })
    }
    const [first, ...rest] = usable
    if (first) return [first, ...rest]
    throw new GatewayError('not_invocable', 'the gateway speaks none of the protocols of the agent')
  }

  /**
   * Keeps a call until it has ended. Not in `begin`: these functions live as long as a stream, and must not refer to the
   * call, which has the input.
   */
  const track = (deadline: Deadline, caller: string | undefined) => {
    let releaseSlot: Release | undefined
    const finish = (): void => {
      releaseSlot?.()
      deadline.release()
      active.delete(deadline)
    }
    const hold = (release: Release): void => {
      releaseSlot = release
      if (deadline.aborted) finish()
    }
    active.set(deadline, caller)
    // Ends a stream that nobody reads, too.
    deadline.addEventListener('abort', finish)
    return { hold, finish }
  }

  /** Starts the deadline of a call, adds this gateway to `Via` and takes a slot. A promise if the call has to wait for it. */
  const begin = (call: AgentCall, caller: string | undefined): BegunCall | Promise<BegunCall> => {
    const headers = lowerCase(call.headers)
    headers.via = viaFor(headers.via, hopId)
    if (isStopping) throw stopping()
    const deadline = new Deadline(call.signal, call.timeoutMs, monotonic)
    const { hold, finish } = track(deadline, call.caller)
    const begun: BegunCall = { call: { ...call, headers, signal: deadline }, deadline, finish }
    try {
      const slot = concurrency.acquire({ agent: call.agent, caller }, deadline)
      if (slot instanceof Promise) return holdLater(slot, begun, hold)
      hold(slot)
      return begun
    } catch (error) {
      finish()
      throw error
    }
  }
  const holdLater = async (
    slot: Promise<Release>,
    begun: BegunCall,
    hold: (release: Release) => void,
  ): Promise<BegunCall> => {
    try {
      hold(await slot)
      return begun
    } catch (error) {
      begun.finish()
      throw error
    }
  }

  const callInTime = async (requested: AgentCall, timing: Timing): Promise<AgentResponse> => {
    const endpoints = usableEndpoints(requested)
    timing.protocol = endpoints[0].endpoint.protocol
    const queuedAt = monotonic()
    // `report` lives as long as the stream of a response, so it must not refer to the call, which has the input.
    const { agent, operation, wantsStream } = requested
    let begun: BegunCall
    try {
      const beginning = begin(requested, requested.caller)
      begun = beginning instanceof Promise ? await beginning : beginning
    } finally {
      timing.queueMs = monotonic() - queuedAt
    }
    const { call, deadline, finish } = begun
    const started = monotonic()
    budget.earn()
    let outcome: Outcome | undefined
    const report = (error?: unknown): void => {
      finish()
      const ended = outcome ?? { ok: false, ms: monotonic() - started }
      const isFailure = error instanceof GatewayError && !NEUTRAL.has(error.code)
      onOutcome(agent, operation, isFailure ? { code: error.code, ...ended, ok: false } : ended)
    }
    try {
      const response = await tryEndpoints(call, endpoints, deadline, ({ protocol }, ms) => {
        timing.protocol = protocol
        timing.agentMs += ms
      })
      const { kind, status } = response
      outcome = { ok: status < 500, status, ms: monotonic() - started }
      // A stream that the caller did not request is collected within the timeout of the call.
      if (kind === 'bytes' || (kind === 'stream' && wantsStream)) deadline.extend(options.streamMs)
      return onResponseEnd(response, report)
    } catch (error) {
      finish()
      // Other errors, like a cancelled or rejected call, say nothing about the agent.
      if (isAgentsFault(error)) report(error)
      throw error
    }
  }

  return {
    async call(requested) {
      const { onTimed } = requested
      const timing: Timing = { protocol: 'none', queueMs: 0, agentMs: 0 }
      let outcome = 'internal_error'
      try {
        const response = await callInTime(requested, timing)
        outcome = response.status < 400 ? 'ok' : response.status < 500 ? 'client_error' : 'agent_error'
        return response
      } catch (error) {
        if (error instanceof GatewayError) outcome = error.code
        throw error
      } finally {
        onTimed?.({ protocol: timing.protocol, queueMs: timing.queueMs, agentMs: timing.agentMs, outcome })
      }
    },

    async poll(requested, task) {
      const [{ endpoint, transport }] = usableEndpoints(requested)
      const { call, finish } = await begin(requested, requested.caller)
      try {
        return onResponseEnd(await transport.poll(call, endpoint, task), finish)
      } catch (error) {
        finish()
        throw error
      }
    },

    async cancel(requested, task) {
      const [{ endpoint, transport }] = usableEndpoints(requested)
      // Not counted for the caller: at its limit it must still be able to end its work.
      const { call, finish } = await begin(requested, undefined)
      try {
        await transport.cancel(call, endpoint, task)
      } finally {
        finish()
      }
    },

    endCallsOf(ended) {
      const reason = new GatewayError('cancelled', 'the credentials of the caller were revoked')
      for (const [deadline, caller] of active) if (caller === ended) deadline.abort(reason)
    },

    stop() {
      isStopping = true
      for (const deadline of active.keys()) deadline.abort(stopping())
    },
  }
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = {}
  for (const name of Object.keys(headers)) lower[name.toLowerCase()] = headers[name] ?? ''
  return lower
}
