import type { CallTiming } from '../telemetry/metrics.js'
import { type AgentCall, type AgentResponse, type Gateway, GatewayError } from './gateway.js'
import type { GatewayOptions } from './gateway-options.js'
import { onResponseEnd } from './http/observe-stream.js'
import { viaFor } from './http/outgoing-headers.js'
import type { ConcurrencyLimit, Release } from './resilience/concurrency-limit.js'
import { createDeadline, type Deadline } from './resilience/deadline.js'
import type { RetryBudget } from './resilience/retry-budget.js'
import { isAgentsFault, type TryEndpoints, type UsableEndpoints } from './resilience/try-endpoints.js'
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
    const [first, ...rest] = endpoints.flatMap((endpoint) => {
      const transport = transports[endpoint.protocol]
      return transport && endpoint.url.length <= MAX_URL_LENGTH ? [{ endpoint, transport }] : []
    })
    if (first) return [first, ...rest]
    throw new GatewayError('not_invocable', 'the gateway speaks none of the protocols of the agent')
  }

  /** Starts the deadline of a call, adds this gateway to `Via` and takes a slot, for which the call may have to wait. */
  const begin = async (call: AgentCall, caller: string | undefined): Promise<BegunCall> => {
    const headers = lowerCase(call.headers)
    headers.via = viaFor(headers.via, hopId)
    if (isStopping) throw stopping()
    const deadline = createDeadline(call.signal, call.timeoutMs, monotonic)
    let releaseSlot: Release = () => {}
    const finish = (): void => {
      releaseSlot()
      deadline.release()
      active.delete(deadline)
    }
    active.set(deadline, call.caller)
    // Ends a stream that nobody reads, too.
    deadline.signal.addEventListener('abort', finish, { once: true })
    try {
      releaseSlot = await concurrency.acquire({ agent: call.agent, caller }, deadline)
    } catch (error) {
      finish()
      throw error
    }
    if (deadline.signal.aborted) finish()
    return { call: { ...call, headers, signal: deadline.signal }, deadline, finish }
  }

  const callInTime = async (requested: AgentCall, timing: Timing): Promise<AgentResponse> => {
    const endpoints = usableEndpoints(requested)
    timing.protocol = endpoints[0].endpoint.protocol
    const queuedAt = monotonic()
    // `report` lives as long as the stream of a response, so it must not refer to the call, which has the input.
    const { agent, operation, wantsStream } = requested
    const { call, deadline, finish } = await begin(requested, requested.caller).finally(() => {
      timing.queueMs = monotonic() - queuedAt
    })
    const started = monotonic()
    budget.earn()
    let outcome: Omit<Outcome, 'ms'> & { ms?: number } = { ok: false }
    const report = (error?: unknown): void => {
      finish()
      const ms = outcome.ms ?? monotonic() - started
      const failed = error instanceof GatewayError && !NEUTRAL.has(error.code) ? { ok: false, code: error.code } : {}
      onOutcome(agent, operation, { ...outcome, ms, ...failed })
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
        onTimed?.({ ...timing, outcome })
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
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value
  return lower
}
