import type { JsonObject } from '@switchboard/protocol'
import type { Reach } from './description.js'

/** One way to reach the agent. */
export interface WayIn {
  readonly protocol: string
  readonly endpoint: string
  readonly security: readonly string[]
  /** What else is said of it. */
  readonly details: JsonObject
}

/** Ways to the agent, most preferred first: plain HTTP, WebSocket, A2A, MCP, or its socket (C-18). */
export function waysInto({ baseUrl, socket, schemes, hasWebSocket, offers }: Reach): WayIn[] {
  if (baseUrl === undefined) {
    if (socket === undefined) return []
    // Whoever may open the file may call: that is the socket's own protection.
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
            // No browser sends the certificate of a person here, and none is asked for.
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
