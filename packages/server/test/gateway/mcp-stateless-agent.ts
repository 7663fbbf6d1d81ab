import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import {
  type CallToolRequest,
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { bodyOf, startHttpAgent } from './agent.js'

export type CallStatelessTool = (
  params: CallToolRequest['params'],
  context: ServerContext,
) => Promise<CallToolResult | InputRequiredResult> | CallToolResult | InputRequiredResult

/** A server built with the official SDK 2.x: 2026-07-28, and the versions before it unless they are rejected. */
export async function startStatelessMcpAgent(
  callTool: CallStatelessTool,
  { tools = [], legacy = 'reject' }: { tools?: Tool[]; legacy?: 'reject' | 'stateless' } = {},
) {
  const seen: { method: string; headers: IncomingMessage['headers'] }[] = []
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'tools', version: '1' }, { capabilities: { tools: {}, logging: {} } })
      server.setRequestHandler('tools/list', () => ({ tools }))
      server.setRequestHandler('tools/call', ({ params }, context) => callTool(params, context))
      return server
    },
    { legacy, keepAliveMs: 0 },
  )
  const agent = await startHttpAgent(async (request, response) => {
    const body = await bodyOf(request)
    seen.push({ method: JSON.parse(body || '{}').method, headers: request.headers })
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    )
    const init = { method: request.method ?? 'GET', headers, signal: gone.signal, ...(body !== '' && { body }) }
    const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, init)).catch(() => undefined)
    if (!answer || response.destroyed) return
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body)
      Readable.fromWeb(answer.body)
        .on('error', () => {})
        .pipe(response)
    else response.end()
  })
  return { ...agent, url: `${agent.url}mcp`, seen, methods: () => seen.map(({ method }) => method) }
}
