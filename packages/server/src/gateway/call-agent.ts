import { type AgentCall, type Gateway, GatewayError } from './gateway.js'
import type { GatewayOptions } from './gateway-options.js'
import { viaFor } from './http/outgoing-headers.js'
import { onResponseEnd } from './on-response-end.js'
import type { ConcurrencyLimit } from './resilience/concurrency-limit.js'
import { createDeadline, type Deadline } from './resilience/deadline.js'
import type { RetryBudget } from './resilience/retry-budget.js'
import { isAgentsFault, type TryEndpoints, type UsableEndpoint } from './resilience/try-endpoints.js'
import type { Transports } from './transports/transports.js'

/** How a call ended, for statistics; told once, for a stream at its end. */
export interface Outcome {
  /** The agent did its part: it answered, and not with its own failure. */
  readonly ok: boolean
  /** Milliseconds to the answer; for a stream, to its beginning. */
  readonly ms: number
  readonly status?: number
  readonly code?: GatewayError['code']
}

export type OnOutcome = (agent: string, operation: string, outcome: Outcome) => void

/** Characters; no server reads more, and of each endpoint something is remembered. */
const LONGEST_ENDPOINT = 8192

export interface CallAgentDeps {
  readonly transports: Transports
  readonly concurrency: ConcurrencyLimit
  readonly budget: RetryBudget
  readonly tryEndpoints: TryEndpoints
  readonly options: Pick<GatewayOptions, 'streamMs'>
  /** Who this gateway is to others, and to itself. */
  readonly hopId: string
  readonly now: () => number
  readonly onOutcome: OnOutcome
}

/** Calls agents through limits, circuits and retries. Which protocol is spoken is the transports' matter. */
export function createCallAgent(deps: CallAgentDeps): Pick<Gateway, 'call' | 'poll' | 'cancel'> & { stop(): void } {
  const { transports, concurrency, budget, tryEndpoints, options, hopId, now, onOutcome } = deps
  const underWay = new Set<Deadline>()

  const usableEndpoints = ({ endpoints }: AgentCall): UsableEndpoint[] => {
    const usable = endpoints.flatMap((endpoint) => {
      const transport = transports[endpoint.protocol]
      return transport && endpoint.url.length <= LONGEST_ENDPOINT ? [{ endpoint, transport }] : []
    })
    if (usable.length > 0) return usable
    throw new GatewayError('not_invocable', 'this gateway speaks none of the protocols of the agent')
  }

  /** What every call goes through: room, time, and the mark that it has been here. */
  const enter = (call: AgentCall): { call: AgentCall; limit: Deadline; leave: () => void } => {
    const headers = lowerCase(call.headers)
    headers.via = viaFor(headers.via, hopId)
    const out = concurrency.enter(call.agent)
    const limit = createDeadline(call.signal, call.timeoutMs, now)
    const onAbort = (): void => leave()
    // A stream that nobody reads is over, too, when its caller or its time is.
    limit.signal.addEventListener('abort', onAbort, { once: true })
    const leave = (): void => {
      out()
      limit.release()
      underWay.delete(limit)
    }
    underWay.add(limit)
    if (limit.signal.aborted) leave()
    return { call: { ...call, headers, signal: limit.signal }, limit, leave }
  }

  return {
    async call(given) {
      const endpoints = usableEndpoints(given)
      const { call, limit, leave } = enter(given)
      const started = now()
      budget.earn()
      let outcome: Omit<Outcome, 'ms'> & { ms?: number } = { ok: false }
      const end = (error?: unknown): void => {
        leave()
        const ms = outcome.ms ?? now() - started
        const failed =
          error instanceof GatewayError && error.code !== 'cancelled' ? { ok: false, code: error.code } : {}
        onOutcome(call.agent, call.operation, { ...outcome, ms, ...failed })
      }
      try {
        const answer = await tryEndpoints(call, endpoints, limit)
        outcome = { ok: answer.status < 500, status: answer.status, ms: now() - started }
        // A stream that nobody asked for is put together, within the time of any other answer.
        if (answer.kind === 'bytes' || (answer.kind === 'stream' && call.wantsStream)) limit.extend(options.streamMs)
        return onResponseEnd(answer, once(end))
      } catch (error) {
        leave()
        // Who went away, or was not let in, learned nothing about the agent.
        if (isAgentsFault(error)) end(error)
        throw error
      }
    },

    async poll(given, task) {
      const [usable] = usableEndpoints(given)
      const { call, leave } = enter(given)
      try {
        if (!usable) throw new GatewayError('not_invocable', 'the agent has no way')
        return onResponseEnd(await usable.transport.poll(call, usable.endpoint, task), leave)
      } catch (error) {
        leave()
        throw error
      }
    },

    async cancel(given, task) {
      const [usable] = usableEndpoints(given)
      const { call, leave } = enter(given)
      try {
        await usable?.transport.cancel(call, usable.endpoint, task)
      } finally {
        leave()
      }
    },

    stop() {
      for (const limit of underWay) limit.cancel()
    },
  }
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value
  return lower
}

function once(work: (error?: unknown) => void): (error?: unknown) => void {
  let isDone = false
  return (error) => {
    if (isDone) return
    isDone = true
    work(error)
  }
}
