import { type AgentCall, type Gateway, GatewayError } from './call.js'
import { type CallLimit, createCallLimit } from './call-limit.js'
import { holdAnswer } from './hold-answer.js'
import type { InFlight } from './in-flight.js'
import type { GatewayOptions } from './options.js'
import { viaFor } from './outgoing-headers.js'
import type { RetryBudget } from './retry-budget.js'
import type { Transports } from './transports.js'
import { isAgentsFault, type TryWays, type UsableWay } from './try-ways.js'

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
  readonly inFlight: InFlight
  readonly budget: RetryBudget
  readonly tryWays: TryWays
  readonly options: Pick<GatewayOptions, 'streamMs'>
  /** Who this gateway is to others, and to itself. */
  readonly hopId: string
  readonly now: () => number
  readonly onOutcome: OnOutcome
}

/** Calls agents through limits, circuits and retries. Which protocol is spoken is the transports' matter. */
export function createCallAgent(deps: CallAgentDeps): Pick<Gateway, 'call' | 'poll' | 'cancel'> & { stop(): void } {
  const { transports, inFlight, budget, tryWays, options, hopId, now, onOutcome } = deps
  const underWay = new Set<CallLimit>()

  const usableWays = ({ ways }: AgentCall): UsableWay[] => {
    const usable = ways.flatMap((way) => {
      const transport = transports[way.speech]
      return transport && way.endpoint.length <= LONGEST_ENDPOINT ? [{ way, transport }] : []
    })
    if (usable.length > 0) return usable
    throw new GatewayError('not_invocable', 'this gateway speaks none of the protocols of the agent')
  }

  /** What every call goes through: room, time, and the mark that it has been here. */
  const enter = (call: AgentCall): { call: AgentCall; limit: CallLimit; leave: () => void } => {
    const headers = lowerCase(call.headers)
    headers.via = viaFor(headers.via, hopId)
    const out = inFlight.enter(call.agent)
    const limit = createCallLimit(call.signal, call.timeoutMs, now)
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
      const ways = usableWays(given)
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
        const answer = await tryWays(call, ways, limit)
        outcome = { ok: answer.status < 500, status: answer.status, ms: now() - started }
        // A stream that nobody asked for is put together, within the time of any other answer.
        if (answer.kind === 'bytes' || (answer.kind === 'stream' && call.wantsStream)) limit.extend(options.streamMs)
        return holdAnswer(answer, once(end))
      } catch (error) {
        leave()
        // Who went away, or was not let in, learned nothing about the agent.
        if (isAgentsFault(error)) end(error)
        throw error
      }
    },

    async poll(given, task) {
      const [usable] = usableWays(given)
      const { call, leave } = enter(given)
      try {
        if (!usable) throw new GatewayError('not_invocable', 'the agent has no way')
        return holdAnswer(await usable.transport.poll(call, usable.way, task), leave)
      } catch (error) {
        leave()
        throw error
      }
    },

    async cancel(given, task) {
      const [usable] = usableWays(given)
      const { call, leave } = enter(given)
      try {
        await usable?.transport.cancel(call, usable.way, task)
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
