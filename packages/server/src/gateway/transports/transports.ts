import { randomUUID } from 'node:crypto'
import type { Dial } from '../connection/dial.js'
import type { UnixSockets } from '../connection/unix-sockets.js'
import {
  type AgentCall,
  type AgentResponse,
  type AgentTask,
  type CallProtocol,
  type Endpoint,
  GatewayError,
} from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import { createSendRequest, type SendRequest } from '../http/send-request.js'
import { createA2aTransport } from './a2a/a2a-transport.js'
import { createHttpTransport } from './http-transport.js'
import { createMcpTransport } from './mcp/mcp-transport.js'
import { createWebSocketTransport } from './websocket/websocket-transport.js'

/**
 * Speaks one protocol to agents. The call's signal ends the attempt and what follows from it: the caller went away, or
 * the time is up; its reason is then a GatewayError. Retries, limits and circuits are settled above it.
 */
export interface Transport {
  call(call: AgentCall, endpoint: Endpoint): Promise<AgentResponse>
  /** How a task that this transport answered with is doing. */
  poll(call: AgentCall, endpoint: Endpoint, task: AgentTask): Promise<AgentResponse>
  cancel(call: AgentCall, endpoint: Endpoint, task: AgentTask): Promise<void>
}

/** Which protocols are spoken, and by what. */
export type Transports = Readonly<Partial<Record<CallProtocol, Transport>>>

export interface TransportDeps {
  readonly options: GatewayOptions
  readonly dial: Dial
  readonly sendRequest: SendRequest
  /** Guarded; for transports that speak over HTTP. */
  readonly fetch: typeof fetch
  readonly sockets: UnixSockets
  readonly now: () => number
}

/** One line for each protocol that this gateway speaks. */
export function createTransports({ options, dial, sendRequest, sockets, now }: TransportDeps): Transports {
  const { maxBodyBytes, maxPartBytes } = options
  const translation = { ask: sendRequest, now, newId: randomUUID, maxBodyBytes, maxPartBytes }
  return {
    http: createHttpTransport({ sendRequest, limits: options, target: httpTarget }),
    unix: createHttpTransport({
      sendRequest: createSendRequest(sockets.dispatcher, options),
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
