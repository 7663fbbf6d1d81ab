import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import type { Authenticator } from '../auth/authenticate.js'
import type { Caller } from '../auth/caller.js'
import { buildCall } from '../call/build-call.js'
import { type Performer, withMetadata } from '../call/perform.js'
import { MAX_COLLECTED, toJson } from '../call/run-handler.js'
import { AgentError, toAgentError } from '../errors.js'
import { credentialsOf } from '../http/credentials.js'
import type { Exchange } from '../http/exchange.js'
import { readJsonBody } from '../http/read-body.js'
import type { Versions } from '../versions.js'
import { inputOf, toTool, toToolError, toToolResult } from './tools.js'

export type McpRoute = (exchange: Exchange) => Promise<Response>

export interface McpDeps {
  readonly name: string
  readonly versions: Versions
  readonly performer: Performer
  readonly authenticator: Authenticator
  readonly maxBodyBytes: number
}

/**
 * MCP over Streamable HTTP: each capability is a tool. There are no sessions, so any replica can handle any request.
 */
export function createMcpRoute(deps: McpDeps): McpRoute {
  const { versions, authenticator } = deps
  return async (exchange) => {
    const { request } = exchange
    if (request.method !== 'POST') {
      throw new AgentError('method_not_allowed', 'this server has no sessions: use POST', {
        headers: { allow: 'POST' },
      })
    }
    const caller = await authenticator.authenticate(credentialsOf(exchange))
    const body = await readJsonBody(request, deps.maxBodyBytes)
    const { version } = versions.latest
    const server = new Server({ name: deps.name, version }, { capabilities: { tools: {} } })
    const { capabilities } = versions.latest
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: Array.from(capabilities.values(), toTool) }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification, _meta }) => {
      const token = _meta?.progressToken
      let progress = 0
      const onPart = async (part: JsonValue): Promise<void> => {
        if (token === undefined) return
        const message = typeof part === 'string' ? part : JSON.stringify(part)
        await sendNotification({
          method: 'notifications/progress',
          params: { progressToken: token, progress: ++progress, message },
        })
      }
      const args = toJson(params.arguments ?? {})
      return callTool(deps, exchange, caller, { name: params.name, args: toObject(args), signal, onPart })
    })
    // No session id generator: stateless.
    const transport = new WebStandardStreamableHTTPServerTransport({})
    await server.connect(transport)
    return transport.handleRequest(request, { parsedBody: body })
  }
}

const toObject = (value: JsonValue): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

interface ToolCall {
  readonly name: string
  readonly args: JsonObject
  readonly signal: AbortSignal
  readonly onPart: (part: JsonValue) => Promise<void>
}

async function callTool(deps: McpDeps, exchange: Exchange, caller: Caller, tool: ToolCall) {
  const { request, base, requestId } = exchange
  const { name, args, signal, onPart } = tool
  try {
    const capability = deps.versions.latest.capabilities.get(name)
    if (!capability) throw new AgentError('capability_not_found', `there is no tool "${name.slice(0, 100)}"`)
    const call = buildCall(deps.versions, {
      capability: name,
      input: inputOf(capability, args),
      caller,
      base,
      requestId,
      versions: [],
      sessionIds: [request.headers.get('x-session-id')],
      taskIds: [request.headers.get('x-task-id')],
      idempotencyKey: undefined,
      delegationChain: request.headers.get('x-delegation-chain'),
      wantsStream: capability.streaming,
      signal: AbortSignal.any([signal, request.signal]),
    })
    const outcome = await deps.performer.run(await deps.performer.admit(call))
    if (outcome.kind === 'value') return toToolResult(withMetadata(outcome, capability.output))
    const parts: JsonValue[] = []
    let size = 0
    for await (const part of outcome.parts) {
      parts.push(part)
      size += JSON.stringify(part).length
      if (size > MAX_COLLECTED) throw new AgentError('payload_too_large', 'the result is too large for MCP')
      await onPart(part)
    }
    return toToolResult(parts.every((part) => typeof part === 'string') ? parts.join('') : parts)
  } catch (error) {
    return toToolError(toAgentError(error), requestId)
  }
}
