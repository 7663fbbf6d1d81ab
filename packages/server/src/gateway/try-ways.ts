import { setTimeout as delay } from 'node:timers/promises'
import { type AgentAnswer, type AgentCall, GatewayError, type Way } from './call.js'
import type { CallLimit } from './call-limit.js'
import type { CallResult, Circuits } from './circuits.js'
import type { RetryBudget } from './retry-budget.js'
import type { Transport } from './transports.js'

/** A way, and what speaks its protocol. */
export interface UsableWay {
  readonly way: Way
  readonly transport: Transport
}

/** Tries each way in turn; then, if it is safe and there is time and budget, again after a while. */
export type TryWays = (call: AgentCall, ways: readonly UsableWay[], limit: CallLimit) => Promise<AgentAnswer>

/** Milliseconds before the first retry; doubled each time, and any part of it is waited. */
const BACKOFF_MS = 200
/** Answers by which an agent says that it is not there, rather than that it failed at this. */
const NOT_THERE: ReadonlySet<number> = new Set([502, 503, 504])
/** Errors that count against the agent; another way, or the same later, may do better. */
const AGENTS: ReadonlySet<GatewayError['code']> = new Set(['unreachable', 'timeout', 'bad_answer'])
/** Errors of a way: another may do better, the same will not soon; the first says least to the caller. */
const WAYS: readonly GatewayError['code'][] = ['circuit_open', 'not_invocable', 'blocked']

/** Whether the agent is to blame: not its caller, and not the gateway. */
export const isAgentsFault = (error: unknown): boolean => error instanceof GatewayError && AGENTS.has(error.code)

export function createTryWays({
  circuits,
  budget,
  retries,
  random,
}: {
  circuits: Circuits
  budget: RetryBudget
  retries: number
  random: () => number
}): TryWays {
  /** One attempt, if the circuit lets it through. */
  const attempt = async (call: AgentCall, { way, transport }: UsableWay): Promise<AgentAnswer> => {
    const admission = circuits.admit(`${call.agent}\n${way.endpoint}`)
    if (admission.isOpen) {
      const retryAfter = Math.ceil(admission.retryAfterMs / 1000)
      throw new GatewayError('circuit_open', 'the agent failed again and again and is left alone', { retryAfter })
    }
    let result: CallResult = 'unknown'
    try {
      const answer = await transport.call(call, way)
      result = NOT_THERE.has(answer.status) ? 'failed' : 'ok'
      return answer
    } catch (error) {
      if (isAgentsFault(error)) result = 'failed'
      throw error
    } finally {
      admission.settle(result)
    }
  }

  return async (call, ways, limit) => {
    for (let round = 0; ; round++) {
      let failure: GatewayError | undefined
      for (const usable of ways) {
        try {
          return await attempt({ ...call, timeoutMs: limit.left() }, usable)
        } catch (error) {
          if (!(error instanceof GatewayError) || !isSafeToRepeat(call, error) || limit.signal.aborted) throw error
          if (!failure || tells(error) > tells(failure)) failure = error
        }
      }
      if (!failure) throw new GatewayError('not_invocable', 'the agent has no way')
      const wait = random() * BACKOFF_MS * 2 ** round
      const mayGoOn = isAgentsFault(failure) && round < retries && wait < limit.left()
      if (!mayGoOn || !budget.take()) throw failure
      await delay(wait, undefined, { signal: limit.signal }).catch(() => {
        throw limit.signal.reason
      })
    }
  }
}

/** Nothing was sent yet, or a second run does no harm; and the input is still there to be sent. */
function isSafeToRepeat({ payload, repeatable }: AgentCall, error: GatewayError): boolean {
  const isGone = payload.kind === 'bytes' && !(payload.body instanceof Uint8Array)
  if (WAYS.includes(error.code)) return !isGone || error.code !== 'blocked'
  return isAgentsFault(error) && (!error.mayHaveRun || repeatable) && !isGone
}

/** Of the failures of several ways, the one to tell is the one that says most. */
const tells = ({ code }: GatewayError): number => {
  const rank = WAYS.indexOf(code)
  return rank === -1 ? WAYS.length : rank
}
