import type { CallTiming } from '../telemetry/metrics.js'
import { type AgentCall, type Gateway, GatewayError } from './gateway.js'
import type { GatewayOptions } from './gateway-options.js'
import { onResponseEnd } from './http/observe-stream.js'
import { viaFor } from './http/outgoing-headers.js'
import { type ActiveCall, createActiveCalls } from './resilience/active-call.js'
import type { ConcurrencyLimit, Release } from './resilience/concurrency-limit.js'
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
type Timing = { -readonly [Part in keyof CallTiming]: CallTiming[Part] }

/** A call with a slot and a deadline. */
interface BegunCall {
  readonly call: AgentCall
  readonly active: ActiveCall
}

/** Applies limits, deadlines, circuit breakers and retries to every call; the transports do the rest. */
export function createCallAgent(
  deps: CallAgentDeps,
): Pick<Gateway, 'call' | 'poll' | 'cancel' | 'endCallsOf' | 'stop'> {
  const { transports, concurrency, budget, tryEndpoints, options, hopId, monotonic, onOutcome } = deps
  const calls = createActiveCalls(monotonic)
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

  /** Starts the deadline of a call, adds this gateway to `Via` and takes a slot. A promise if the call has to wait for it. */
  const begin = (call: AgentCall, caller: string | undefined): BegunCall | Promise<BegunCall> => {
    const headers = lowerCase(call.headers)
    headers.via = viaFor(headers.via, hopId)
    if (isStopping) throw stopping()
    const active = calls.begin(call.caller, call.signal, call.timeoutMs)
    const begun: BegunCall = { active, call: { ...call, headers, signal: active } }
    try {
      const slot = concurrency.acquire({ agent: call.agent, caller }, active)
      if (slot instanceof Promise) return holdLater(slot, begun)
      active.hold(slot)
      return begun
    } catch (error) {
      active.finish()
      throw error
    }
  }
  const holdLater = async (slot: Promise<Release>, begun: BegunCall): Promise<BegunCall> => {
    const { active } = begun
    try {
      active.hold(await slot)
      return begun
    } catch (error) {
      active.finish()
      throw error
    }
  }

  /**
   * Reports the end of a response. A function of its own, because it lives as long as a stream and must not refer to the
   * call, which has the input.
   */
  const reporter =
    (active: ActiveCall, agent: string, operation: string, outcome: Outcome) =>
    (error?: unknown): void => {
      active.finish()
      const isFailure = error instanceof GatewayError && !NEUTRAL.has(error.code)
      onOutcome(agent, operation, isFailure ? { code: error.code, ...outcome, ok: false } : outcome)
    }

  return {
    async call(requested) {
      const timing: Timing = { protocol: 'none', queueMs: 0, agentMs: 0, outcome: 'internal_error' }
      let started = monotonic()
      let active: ActiveCall | undefined
      try {
        const endpoints = usableEndpoints(requested)
        timing.protocol = endpoints[0].endpoint.protocol
        let begun: BegunCall
        try {
          const beginning = begin(requested, requested.caller)
          begun = beginning instanceof Promise ? await beginning : beginning
        } finally {
          timing.queueMs = monotonic() - started
        }
        active = begun.active
        started = monotonic()
        budget.earn()
        const response = await tryEndpoints(begun.call, endpoints, active, ({ protocol }, ms) => {
          timing.protocol = protocol
          timing.agentMs += ms
        })
        const { agent, operation, wantsStream } = requested
        const { kind, status } = response
        timing.outcome = status < 400 ? 'ok' : status < 500 ? 'client_error' : 'agent_error'
        // A stream that the caller did not request is collected within the timeout of the call.
        if (kind === 'bytes' || (kind === 'stream' && wantsStream)) active.extend(options.streamMs)
        const outcome = { ok: status < 500, status, ms: monotonic() - started }
        return onResponseEnd(response, reporter(active, agent, operation, outcome))
      } catch (error) {
        active?.finish()
        if (error instanceof GatewayError) timing.outcome = error.code
        // Other errors, like a cancelled or rejected call, say nothing about the agent.
        if (active && isAgentsFault(error))
          onOutcome(requested.agent, requested.operation, { code: error.code, ok: false, ms: monotonic() - started })
        throw error
      } finally {
        requested.onTimed?.(timing)
      }
    },

    async poll(requested, task) {
      const [{ endpoint, transport }] = usableEndpoints(requested)
      const { call, active } = await begin(requested, requested.caller)
      try {
        return onResponseEnd(await transport.poll(call, endpoint, task), () => active.finish())
      } catch (error) {
        active.finish()
        throw error
      }
    },

    async cancel(requested, task) {
      const [{ endpoint, transport }] = usableEndpoints(requested)
      // Not counted for the caller: at its limit it must still be able to end its work.
      const { call, active } = await begin(requested, undefined)
      try {
        await transport.cancel(call, endpoint, task)
      } finally {
        active.finish()
      }
    },

    endCallsOf(ended) {
      const reason = new GatewayError('cancelled', 'the credentials of the caller were revoked')
      calls.abort(({ caller }) => caller === ended, reason)
    },

    stop() {
      isStopping = true
      calls.abort(() => true, stopping())
    },
  }
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = {}
  for (const name of Object.keys(headers)) lower[name.toLowerCase()] = headers[name] ?? ''
  return lower
}
