import { randomUUID } from 'node:crypto'
import type { Traces } from '../telemetry/traces.js'
import { createCallAgent, type OnOutcome } from './call-agent.js'
import { createAddressGuard } from './connection/address-guard.js'
import { createConnectionPool, createDial } from './connection/dial.js'
import { createResolveName, createResolveText, type ResolveName, type ResolveText } from './connection/resolve-name.js'
import { createUnixSockets } from './connection/unix-sockets.js'
import type { Gateway } from './gateway.js'
import { DEFAULT_GATEWAY_OPTIONS, type GatewayOptions } from './gateway-options.js'
import { createGuardedFetch } from './http/guarded-fetch.js'
import { createSendRequest } from './http/send-request.js'
import type { CallCounts } from './resilience/call-counts.js'
import { createCircuitBreakers } from './resilience/circuit-breakers.js'
import { createConcurrencyLimit } from './resilience/concurrency-limit.js'
import { createRetryBudget } from './resilience/retry-budget.js'
import { createTryEndpoints } from './resilience/try-endpoints.js'
import { createTransports } from './transports/transports.js'

/** What a gateway needs besides its settings. */
export interface GatewayDeps {
  /** URLs of this gateway itself, local and public, to detect loops. Called for each connection. */
  readonly self: () => readonly string[]
  /** Name of this gateway in `Via`, a token of RFC 9110. The replicas of a directory share one, to detect their loops. */
  readonly hopId?: string
  readonly resolve?: ResolveName
  readonly resolveText?: ResolveText
  readonly monotonic?: () => number
  /** From 0 to 1. */
  readonly random?: () => number
  readonly onOutcome?: OnOutcome
  /** Undefined: calls are not traced. */
  readonly traces?: Traces | undefined
  /** Most concurrent calls of a caller; default: `maxCallsPerCaller` for every caller. */
  readonly maxCallsOf?: (caller: string) => number
  /** Most concurrent calls to an agent; default: `maxCallsPerAgent` for every agent. */
  readonly maxCallsTo?: (agent: string) => number
  /** Calls in progress by caller and by agent, also those of other replicas; default: of this gateway alone. */
  readonly counts?: { readonly callers: CallCounts; readonly agents: CallCounts }
}

/** Creates the gateway. Connections are opened on demand. */
export function createGateway(settings: Partial<GatewayOptions>, deps: GatewayDeps): Gateway {
  const options: GatewayOptions = { ...DEFAULT_GATEWAY_OPTIONS, ...settings }
  const {
    monotonic = () => performance.now(),
    random = Math.random,
    resolve = createResolveName(),
    onOutcome = () => {},
  } = deps
  const { maxCallsOf = () => options.maxCallsPerCaller, maxCallsTo = () => options.maxCallsPerAgent } = deps
  const concurrency = createConcurrencyLimit({ ...options, ...deps.counts, maxCallsOf, maxCallsTo })
  const guard = createAddressGuard({ ...options, self: deps.self, resolve })
  const dial = createDial(guard, options)
  const dispatcher = createConnectionPool(dial, options)
  const sockets = createUnixSockets(options)
  const sendRequest = createSendRequest(dispatcher, options)
  const guardedFetch = createGuardedFetch(sendRequest, options)
  const transports = createTransports({ options, dial, sendRequest, sockets, monotonic })
  const budget = createRetryBudget(options.retryShare)
  const breakers = createCircuitBreakers({ monotonic, random })
  const calls = createCallAgent({
    transports,
    concurrency,
    budget,
    tryEndpoints: createTryEndpoints({
      breakers,
      budget,
      random,
      monotonic,
      traces: deps.traces,
      retries: options.retries,
    }),
    options,
    hopId: deps.hopId ?? `switchboard-${randomUUID()}`,
    monotonic,
    onOutcome,
  })
  return {
    ...calls,
    callsOf: concurrency.countOf,
    load: () => ({ calls: concurrency.size, waiting: concurrency.waiting }),
    fetch: guardedFetch,
    checkAddress: guard.checkUnresolved,
    resolveText: deps.resolveText ?? createResolveText(),
    async close() {
      calls.stop()
      await Promise.all([dispatcher.destroy(), sockets.dispatcher.destroy()])
    },
  }
}
