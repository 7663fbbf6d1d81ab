import { randomUUID } from 'node:crypto'
import type { Dial } from '../connection/dial.js'
import type { UnixSockets } from '../connection/unix-sockets.js'
import type { AgentCall, AgentResponse, AgentTask, CallProtocol, Endpoint } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import type { ResponseLimits } from '../http/read-response.js'
import { createSendRequest, type SendRequest } from '../http/send-request.js'
import { createA2aTransport } from './a2a/a2a-transport.js'
import { createHttpTransport } from './http-transport.js'
import { createMcpTransport } from './mcp/mcp-transport.js'
import { createWebSocketTransport } from './websocket/websocket-transport.js'

/**
 * Calls agents over one protocol. The signal of the call aborts the attempt and any stream that it returned, with a
 * GatewayError as the reason, and stops the agent's work as far as the protocol allows. Retries, limits and circuit breakers are applied by the caller of a transport.
 */
export interface Transport {
  call(call: AgentCall, endpoint: Endpoint): Promise<AgentResponse>
  /** The state or the result of a task that `call` returned. */
  poll(call: AgentCall, endpoint: Endpoint, task: AgentTask): Promise<AgentResponse>
  /** As `Gateway.cancel`. */
  cancel(call: AgentCall, endpoint: Endpoint, task: AgentTask): Promise<void>
}

/** The transport of each supported protocol. */
export type Transports = Readonly<Partial<Record<CallProtocol, Transport>>>

export interface TransportDeps {
  readonly options: GatewayOptions
  readonly dial: Dial
  readonly sendRequest: SendRequest
  readonly sockets: UnixSockets
  readonly monotonic: () => number
}

/** What the transports of A2A and MCP need. */
export interface RpcTransportDeps extends ResponseLimits {
  readonly sendRequest: SendRequest
  readonly monotonic: () => number
  readonly newId: () => string
}

/** Creates the transports of all protocols that the gateway speaks. */
export function createTransports({ options, dial, sendRequest, sockets, monotonic }: TransportDeps): Transports {
  const { maxBodyBytes, maxPartBytes, maxResponseValues } = options
  const limits: ResponseLimits = { maxBodyBytes, maxPartBytes, maxResponseValues }
  const rpcDeps: RpcTransportDeps = { sendRequest, monotonic, newId: randomUUID, ...limits }
  return {
    http: createHttpTransport({ sendRequest, limits: options, monotonic }),
    unix: createHttpTransport({
      sendRequest: createSendRequest(sockets.dispatcher, options),
      limits: options,
      monotonic,
      target: ({ url }) => sockets.target(url),
    }),
    websocket: createWebSocketTransport({ dial, limits: options }),
    a2a: createA2aTransport(rpcDeps),
    mcp: createMcpTransport(rpcDeps),
  }
}
