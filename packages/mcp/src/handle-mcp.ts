import { createMcpHandler } from '@modelcontextprotocol/server'
import { createClient } from '@switchboard/client'
import { createMcpServer } from './create-mcp-server.js'

export interface McpHandlerSettings {
  /** URL of the directory. */
  readonly baseUrl: string
  /** Sends the requests of the tools to the directory, with the rights of the caller. */
  readonly fetch: typeof fetch
}

/**
 * Answers a request over Streamable HTTP without sessions, of MCP 2026-07-28 or of 2025-11-25 and before.
 *
 * @param body the parsed body of the request
 */
export function handleMcp(request: Request, body: unknown, { baseUrl, fetch }: McpHandlerSettings): Promise<Response> {
  const directory = createClient({ baseUrl, fetch, lookup: '/ad/l', retry: { retries: 0 } })
  const handler = createMcpHandler(() => createMcpServer({ directory }), {
    // Nothing that a client could listen for ever changes.
    maxSubscriptions: 0,
  })
  return handler.fetch(request, { parsedBody: body })
}
