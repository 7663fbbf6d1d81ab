import { randomUUID } from 'node:crypto'
import { Agent } from 'undici'
import { createAddressGuard } from './address-guard.js'
import type { Gateway } from './call.js'
import { createCallAgent, type OnOutcome } from './call-agent.js'
import { createCircuits } from './circuits.js'
import { createDial, type Dial } from './dial.js'
import { createExchange } from './exchange.js'
import { createGuardedFetch } from './guarded-fetch.js'
import { createInFlight } from './in-flight.js'
import { DEFAULT_GATEWAY_OPTIONS, type GatewayOptions } from './options.js'
import { createResolveName, type ResolveName } from './resolve-name.js'
import { createRetryBudget } from './retry-budget.js'
import { createTransports, type Transports } from './transports.js'
import { createTryWays } from './try-ways.js'
import { createUnixSockets } from './unix-sockets.js'

/** What a gateway is made of, besides its options; everything has a default but its own address. */
export interface GatewayDeps {
  /** URLs at which this gateway itself is reached: what it listens on, and its public one. Asked at each connection. */
  readonly self: () => readonly string[]
  /** Its name in `Via`: one for all replicas of a directory, so that they know each other's calls. A token of RFC 9110. */
  readonly hopId?: string
  readonly resolve?: ResolveName
  readonly now?: () => number
  /** From 0 to 1. */
  readonly random?: () => number
  readonly onOutcome?: OnOutcome
  /** More transports, or others in place of the usual ones. */
  readonly transports?: Transports
}

/** Makes the gateway; it opens no connection until it is asked to. */
export function createGateway(settings: Partial<GatewayOptions>, deps: GatewayDeps): Gateway {
  const options: GatewayOptions = { ...DEFAULT_GATEWAY_OPTIONS, ...settings }
  const { now = Date.now, random = Math.random, resolve = createResolveName(), onOutcome = () => {} } = deps
  const guard = createAddressGuard({ ...options, self: deps.self, resolve })
  const dial = createDial(guard, options)
  const dispatcher = createGuardedDispatcher(dial, options)
  const sockets = createUnixSockets(options)
  const exchange = createExchange(dispatcher, options)
  const guardedFetch = createGuardedFetch(exchange, options)
  const transports = createTransports({ options, dial, exchange, fetch: guardedFetch, sockets, now })
  const budget = createRetryBudget(options.retryShare)
  const circuits = createCircuits({ now, random })
  const { stop, ...calls } = createCallAgent({
    transports: { ...transports, ...deps.transports },
    inFlight: createInFlight(options),
    budget,
    tryWays: createTryWays({ circuits, budget, random, retries: options.retries }),
    options,
    hopId: deps.hopId ?? `switchboard-${randomUUID()}`,
    now,
    onOutcome,
  })
  return {
    ...calls,
    fetch: guardedFetch,
    checkAddress: guard.checkPlain,
    async close() {
      stop()
      await Promise.all([dispatcher.destroy(), sockets.dispatcher.destroy()])
    },
  }
}

/** Connections to agents, kept for the next call; every one of them was opened past the guard. */
function createGuardedDispatcher(dial: Dial, { maxHeaderBytes }: Pick<GatewayOptions, 'maxHeaderBytes'>): Agent {
  return new Agent({
    maxHeaderSize: maxHeaderBytes,
    // Each exchange keeps its own time, to the millisecond.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: ({ protocol, hostname, host }, callback) => {
      dial(new URL(`${protocol}//${host ?? hostname}`)).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      )
    },
  })
}
