import { randomUUID } from 'node:crypto'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  isInitializeRequest,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import { bodyOf, sendJson, startHttpAgent } from './agent.js'

export type CallTool = (
  call: { name: string; args: Record<string, unknown>; token: string | number | undefined },
  extra: RequestHandlerExtra<ServerRequest, ServerNotification>,
) => Promise<CallToolResult> | CallToolResult

export interface McpAgentOptions {
  /** Pages of the list of tools. */
  readonly tools?: Tool[][]
  /** Responds with JSON, not with events. */
  readonly json?: boolean
  /** Has no sessions. */
  readonly stateless?: boolean
  /** Status for an unknown session: 404 as the protocol requires, or 400 like the sample of the SDK. */
  readonly unknown?: 404 | 400
}

/** A server built with the official SDK over Streamable HTTP, wired like its sample. */
export async function startMcpAgent(callTool: CallTool, options: McpAgentOptions = {}) {
  const { tools = [[]], json = false, stateless = false, unknown = 404 } = options
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const seen: { method: string; headers: Record<string, unknown>; body: { method?: string; params?: unknown } }[] = []

  const connect = async (): Promise<StreamableHTTPServerTransport> => {
    const server = new Server({ name: 'tools', version: '1' }, { capabilities: { tools: {}, logging: {} } })
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      const page = Number(params?.cursor ?? 0)
      return { tools: tools[page] ?? [], ...(page + 1 < tools.length && { nextCursor: String(page + 1) }) }
    })
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) =>
      callTool({ name: params.name, args: params.arguments ?? {}, token: params._meta?.progressToken }, extra),
    )
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: json,
      ...(!stateless && {
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id: string) => {
          sessions.set(id, transport)
        },
        onsessionclosed: (id: string) => {
          sessions.delete(id)
        },
      }),
    })
    await server.connect(transport)
    return transport
  }

  const agent = await startHttpAgent(async (request, response) => {
    const text = await bodyOf(request)
    const body = text === '' ? {} : JSON.parse(text)
    seen.push({ method: request.method ?? '', headers: request.headers, body })
    const id = request.headers['mcp-session-id']
    const known = sessions.get(String(id))
    if (stateless || isInitializeRequest(body)) await (await connect()).handleRequest(request, response, body)
    else if (known) await known.handleRequest(request, response, body)
    else {
      const error =
        unknown === 404 ? { code: -32001, message: 'Session not found' } : { code: -32000, message: 'Bad Request' }
      sendJson(response, { jsonrpc: '2.0', error, id: null }, unknown)
    }
  })
  return {
    ...agent,
    url: `${agent.url}mcp`,
    seen,
    sessions,
    /** Methods received, in order. */
    methods: () => seen.map(({ method, body }) => body.method ?? method),
  }
}

export const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] })
