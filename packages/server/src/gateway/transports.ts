import { randomUUID } from 'node:crypto'
import { type AgentAnswer, type AgentCall, type AgentTask, GatewayError, type Speech, type Way } from './call.js'
import type { Dial } from './dial.js'
import { createExchange, type Exchange } from './exchange.js'
import type { GatewayOptions } from './options.js'
import { createA2aTransport } from './transports/a2a/a2a-transport.js'
import { createHttpTransport } from './transports/http.js'
import { createMcpTransport } from './transports/mcp/mcp-transport.js'
import { createWebSocketTransport } from './transports/websocket.js'
import type { UnixSockets } from './unix-sockets.js'

/**
 * Speaks one protocol to agents. The call's signal ends the attempt and what follows from it: the caller went away, or
 * the time is up; its reason is then a GatewayError. Retries, limits and circuits are settled above it.
 */
export interface Transport {
  call(call: AgentCall, way: Way): Promise<AgentAnswer>
  /** How a task that this transport answered with is doing. */
  poll(call: AgentCall, way: Way, task: AgentTask): Promise<AgentAnswer>
  cancel(call: AgentCall, way: Way, task: AgentTask): Promise<void>
}

/** Which protocols are spoken, and by what. */
export type Transports = Readonly<Partial<Record<Speech, Transport>>>

export interface TransportDeps {
  readonly options: GatewayOptions
  readonly dial: Dial
  readonly exchange: Exchange
  /** Guarded; for transports that speak over HTTP. */
  readonly fetch: typeof fetch
  readonly sockets: UnixSockets
  readonly now: () => number
}

/** One line for each protocol that this gateway speaks. */
export function createTransports({ options, dial, exchange, sockets, now }: TransportDeps): Transports {
  const { maxBodyBytes, maxPartBytes } = options
  const translation = { ask: exchange, now, newId: randomUUID, maxBodyBytes, maxPartBytes }
  return {
    http: createHttpTransport({ exchange, limits: options, target: httpTarget }),
    unix: createHttpTransport({
      exchange: createExchange(sockets.dispatcher, options),
      limits: options,
      target: sockets.target,
    }),
    websocket: createWebSocketTransport({ dial, limits: options }),
    a2a: createA2aTransport(translation),
    mcp: createMcpTransport(translation),
  }
}

function httpTarget(endpoint: string): { url: URL } {
  try {
    return { url: new URL(endpoint) }
  } catch (cause) {
    throw new GatewayError('blocked', 'the endpoint of the agent is no URL', { cause })
  }
}
