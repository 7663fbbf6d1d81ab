import { setTimeout as delay } from 'node:timers/promises'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../gateway.js'
import type { Transport } from '../transports/transports.js'
import type { CallResult, CircuitBreakers } from './circuit-breakers.js'
import type { Deadline } from './deadline.js'
import type { RetryBudget } from './retry-budget.js'

/** A way, and what speaks its protocol. */
export interface UsableEndpoint {
  readonly endpoint: Endpoint
  readonly transport: Transport
}

/** Tries each way in turn; then, if it is safe and there is time and budget, again after a while. */
export type TryEndpoints = (
  call: AgentCall,
  endpoints: readonly UsableEndpoint[],
  limit: Deadline,
) => Promise<AgentResponse>

/** Milliseconds before the first retry; doubled each time, and any part of it is waited. */
const BACKOFF_MS = 200
/** Answers by which an agent says that it is not there, rather than that it failed at this. */
const NOT_THERE: ReadonlySet<number> = new Set([502, 503, 504])
/** Errors that count against the agent; another way, or the same later, may do better. */
const AGENTS: ReadonlySet<GatewayError['code']> = new Set(['unreachable', 'timeout', 'bad_response'])
/** Errors of a way: another may do better, the same will not soon; the first says least to the caller. */
const ENDPOINT_ERRORS: readonly GatewayError['code'][] = ['circuit_open', 'not_invocable', 'blocked']

/** Whether the agent is to blame: not its caller, and not the gateway. */
export const isAgentsFault = (error: unknown): boolean => error instanceof GatewayError && AGENTS.has(error.code)

export function createTryEndpoints({
  breakers,
  budget,
  retries,
  random,
}: {
  breakers: CircuitBreakers
  budget: RetryBudget
  retries: number
  random: () => number
}): TryEndpoints {
  /** One attempt, if the circuit lets it through. */
  const attempt = async (call: AgentCall, { endpoint, transport }: UsableEndpoint): Promise<AgentResponse> => {
    const admission = breakers.admit(`${call.agent}\n${endpoint.url}`)
    if (admission.isOpen) {
      const retryAfter = Math.ceil(admission.retryAfterMs / 1000)
      throw new GatewayError('circuit_open', 'the agent failed again and again and is left alone', { retryAfter })
    }
    let result: CallResult = 'unknown'
    try {
      const answer = await transport.call(call, endpoint)
      result = NOT_THERE.has(answer.status) ? 'failed' : 'ok'
      return answer
    } catch (error) {
      if (isAgentsFault(error)) result = 'failed'
      throw error
    } finally {
      admission.settle(result)
    }
  }

  return async (call, endpoints, limit) => {
    for (let round = 0; ; round++) {
      let failure: GatewayError | undefined
      for (const usable of endpoints) {
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
function isSafeToRepeat({ payload, idempotent }: AgentCall, error: GatewayError): boolean {
  const isGone = payload.kind === 'bytes' && !(payload.body instanceof Uint8Array)
  if (ENDPOINT_ERRORS.includes(error.code)) return !isGone || error.code !== 'blocked'
  return isAgentsFault(error) && (!error.mayHaveRun || idempotent) && !isGone
}

/** Of the failures of several ways, the one to tell is the one that says most. */
const tells = ({ code }: GatewayError): number => {
  const rank = ENDPOINT_ERRORS.indexOf(code)
  return rank === -1 ? ENDPOINT_ERRORS.length : rank
}
