import { setTimeout as delay } from 'node:timers/promises'
import { toAbortSignal } from '../../cancellation.js'
import type { SpanStart, Traces } from '../../telemetry/traces.js'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../gateway.js'
import { onResponseEnd } from '../http/observe-stream.js'
import type { Transport } from '../transports/transports.js'
import type { CallAdmission, CallResult, CircuitBreakers } from './circuit-breakers.js'
import type { Deadline } from './deadline.js'
import type { RetryBudget } from './retry-budget.js'

/** An endpoint and the transport for its protocol. */
export interface UsableEndpoint {
  readonly endpoint: Endpoint
  readonly transport: Transport
}

/** At least one endpoint, most preferred first. */
export type UsableEndpoints = readonly [UsableEndpoint, ...UsableEndpoint[]]

/** Tries the endpoints in order, then retries with backoff while repeating is safe and time and budget are left. */
export type TryEndpoints = (
  call: AgentCall,
  endpoints: UsableEndpoints,
  deadline: Deadline,
  onAttempt: OnAttempt,
) => Promise<AgentResponse>

/** Called after each attempt that was made. */
export type OnAttempt = (endpoint: Endpoint, ms: number) => void

/** Milliseconds before the first retry, doubled each time; the actual delay is a random part of it. */
const BACKOFF_MS = 200
/** Statuses that mean that the agent is unavailable, not that this request failed. */
const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504])
/** Errors that count against the agent; another endpoint may succeed, or the same one later. */
const AGENTS_FAULT: ReadonlySet<GatewayError['code']> = new Set(['unreachable', 'timeout', 'bad_response'])
/** Errors of one endpoint: another may succeed, the same will not soon. The least informative comes first. */
const ENDPOINT_ERRORS: readonly GatewayError['code'][] = ['circuit_open', 'not_invocable', 'blocked']

/** Whether an error is the fault of the agent, not of the caller or the gateway. */
export const isAgentsFault = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && AGENTS_FAULT.has(error.code)

/** Keeps circuit breakers for each endpoint of each agent. */
export function createTryEndpoints({
  breakers,
  budget,
  retries,
  random,
  monotonic,
  traces,
}: {
  breakers: CircuitBreakers
  budget: RetryBudget
  retries: number
  random: () => number
  monotonic: () => number
  traces: Traces | undefined
}): TryEndpoints {
  /** Admits an attempt; throws if the circuit is open. */
  const admit = ({ agent, caller = '' }: AgentCall, { url }: Endpoint): CallAdmission => {
    const admission = breakers.admit(`${agent}\n${url}`, caller)
    if (!admission.isOpen) return admission
    const what = admission.isForEveryone ? 'the agent has failed repeatedly' : 'your last calls to the agent failed'
    const retryAfter = Math.ceil(admission.retryAfterMs / 1000)
    throw new GatewayError('circuit_open', `${what}, and its circuit breaker is open: try again later`, { retryAfter })
  }

  return async (requested, endpoints, deadline, onAttempt) => {
    for (let round = 0; ; round++) {
      let failure: GatewayError | undefined
      for (const { endpoint, transport } of endpoints) {
        const timeoutMs = deadline.left()
        const call = timeoutMs === requested.timeoutMs ? requested : { ...requested, timeoutMs }
        const started = monotonic()
        let admission: CallAdmission | undefined
        let result: CallResult = 'unknown'
        // All in this function: most calls have one attempt, and another asynchronous function would cost as much as it does.
        try {
          admission = admit(call, endpoint)
          const response = await (traces
            ? callTraced(traces, call, endpoint, transport)
            : transport.call(call, endpoint))
          result = UNAVAILABLE.has(response.status) ? 'failed' : 'ok'
          return response
        } catch (error) {
          if (isAgentsFault(error)) result = error.isUnconnected ? 'unreachable' : 'failed'
          if (!(error instanceof GatewayError) || !isSafeToRepeat(call, error) || deadline.aborted) throw error
          if (!failure || informationIn(error) > informationIn(failure)) failure = error
        } finally {
          if (admission && !admission.isOpen) {
            onAttempt(endpoint, monotonic() - started)
            admission.settle(result)
          }
        }
      }
      if (!failure) throw new GatewayError('not_invocable', 'the agent has no endpoint')
      const wait = random() * BACKOFF_MS * 2 ** round
      const mayRetry = isAgentsFault(failure) && round < retries && wait < deadline.left()
      if (!mayRetry || !budget.take()) throw failure
      await delay(wait, undefined, { signal: toAbortSignal(deadline) }).catch(() => {
        throw deadline.reason
      })
    }
  }
}

/** Each attempt is a span of its own, and the parent of what the agent does. */
async function callTraced(
  traces: Traces,
  call: AgentCall,
  endpoint: Endpoint,
  transport: Transport,
): Promise<AgentResponse> {
  const span = traces.start(spanOf(call, endpoint))
  try {
    const response = await transport.call({ ...call, headers: { ...call.headers, ...span.headers } }, endpoint)
    const { status } = response
    span.set({ 'http.response.status_code': status })
    return onResponseEnd(response, (error) =>
      span.end(error ? errorType(error) : status >= 400 ? `${status}` : undefined),
    )
  } catch (error) {
    span.end(errorType(error))
    throw error
  }
}

const errorType = (error: unknown): string => (error instanceof GatewayError ? error.code : 'internal_error')

/** Names and attributes of the semantic conventions for generative AI. A tool of an MCP server is executed, an agent invoked. */
function spanOf(
  { agent, agentName = agent, operation, trace, headers }: AgentCall,
  { protocol, url }: Endpoint,
): SpanStart {
  const isTool = protocol === 'mcp'
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: '', port: '' }
  return {
    name: isTool ? `execute_tool ${operation}` : `invoke_agent ${agentName}`,
    kind: 'client',
    parent: trace ?? headers,
    attributes: {
      'gen_ai.operation.name': isTool ? 'execute_tool' : 'invoke_agent',
      'gen_ai.provider.name': 'switchboard',
      'gen_ai.agent.id': agent,
      'gen_ai.agent.name': agentName,
      ...(isTool && {
        'gen_ai.tool.name': operation,
        'gen_ai.tool.type': 'extension',
        'mcp.method.name': 'tools/call',
      }),
      'switchboard.operation': operation,
      'switchboard.protocol': protocol,
      ...(hostname !== '' && { 'server.address': hostname }),
      ...(port !== '' && { 'server.port': Number(port) }),
    },
  }
}

/** Nothing was sent yet or the call is idempotent, and the input can be sent again. */
function isSafeToRepeat({ payload, idempotent }: AgentCall, error: GatewayError): boolean {
  const isConsumed = payload.kind === 'bytes' && !(payload.body instanceof Uint8Array)
  if (ENDPOINT_ERRORS.includes(error.code)) return !isConsumed || error.code !== 'blocked'
  return isAgentsFault(error) && (!error.mayHaveRun || idempotent) && !isConsumed
}

/** If several endpoints fail, the most informative error is thrown. */
const informationIn = ({ code }: GatewayError): number => {
  const rank = ENDPOINT_ERRORS.indexOf(code)
  return rank === -1 ? ENDPOINT_ERRORS.length : rank
}
