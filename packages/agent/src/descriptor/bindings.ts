import type { JsonObject } from '@switchboard/protocol'
import type { Reach } from './description.js'

/** A protocol and the endpoint that it is offered at. */
export interface AgentBinding {
  readonly protocol: string
  readonly endpoint: string
  readonly security: readonly string[]
  /** Further members of the binding. */
  readonly details: JsonObject
}

/** The agent's bindings, most preferred first: HTTP, WebSocket, A2A and MCP, or only its Unix socket (C-18). */
export function bindingsOf({ baseUrl, socket, schemes, hasWebSocket, offers }: Reach): AgentBinding[] {
  if (baseUrl === undefined) {
    if (socket === undefined) return []
    // The permissions of the socket file decide who may call.
    return [{ protocol: 'unix', endpoint: socket, security: ['file-permissions', ...schemes], details: {} }]
  }
  const scheme = baseUrl.startsWith('https:') ? 'https' : 'http'
  const security = schemes
  const socketScheme = scheme.replace('http', 'ws')
  return [
    {
      protocol: scheme,
      endpoint: `${baseUrl}/`,
      security,
      details: { interaction_model: 'request-response', media_types: ['application/json', 'text/event-stream'] },
    },
    ...(hasWebSocket
      ? [
          {
            protocol: socketScheme,
            endpoint: `${baseUrl.replace(/^http/, 'ws')}/`,
            security,
            details: { interaction_model: 'streaming', media_types: ['application/x-ndjson'] },
          },
        ]
      : []),
    ...(offers.a2a
      ? [
          {
            protocol: 'a2a',
            endpoint: `${baseUrl}/a2a`,
            security,
            details: { protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
          },
        ]
      : []),
    ...(offers.mcp
      ? [{ protocol: 'mcp', endpoint: `${baseUrl}/mcp`, security, details: { type: 'streamable-http' } }]
      : []),
  ]
}
