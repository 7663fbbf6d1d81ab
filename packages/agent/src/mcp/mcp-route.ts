import { randomUUID } from 'node:crypto'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { isObject, type JsonObject, type JsonValue, type TaskProgress } from '@switchboard/protocol'
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
import { createCancellations } from './cancellations.js'
import { createProgress } from './progress.js'
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
 * MCP over Streamable HTTP, 2026-07-28 and the versions before it: each capability is a tool. Nothing is kept between
 * requests, so any replica can handle any request. Only a cancellation must reach the replica that runs the call.
 */
export function createMcpRoute(deps: McpDeps): McpRoute {
  const { versions, authenticator } = deps
  const cancellations = createCancellations()
  return async (exchange) => {
    const { request } = exchange
    if (request.method !== 'POST') {
      throw new AgentError('method_not_allowed', 'this server has no sessions: use POST', {
        headers: { allow: 'POST' },
      })
    }
    const caller = await authenticator.authenticate(credentialsOf(exchange))
    const body = await readJsonBody(request, deps.maxBodyBytes)
    const session = { id: request.headers.get('mcp-session-id'), client: caller.client }
    if (cancellations.cancel(session, body)) return new Response(null, { status: 202 })

    const { version, capabilities } = versions.latest
    const handler = createMcpHandler(
      ({ era }) => {
        const server = new Server({ name: deps.name, version }, { capabilities: { tools: {} } })
        server.setRequestHandler('tools/list', () => ({ tools: Array.from(capabilities.values(), toTool) }))
        server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
          const progress = createProgress(params._meta?.progressToken, (notification) => mcpReq.notify(notification))
          const cancelled = cancellations.watch(session, mcpReq.id)
          try {
            const { inputResponses } = mcpReq
            const requestState = mcpReq.requestState<string>()
            const answers = { ...(inputResponses && { inputResponses }), ...(requestState && { requestState }) }
            const args = toObject(toJson({ ...params.arguments, ...answers }))
            const signal = AbortSignal.any([mcpReq.signal, cancelled.signal, request.signal])
            const call = { name: params.name, args, signal, ...progress, asksCaller: era === 'modern' }
            return await callTool(deps, exchange, caller, call)
          } finally {
            cancelled.release()
            await progress.sent()
          }
        })
        return server
      },
      // The capabilities of an agent do not change while it runs.
      { maxSubscriptions: 0 },
    )
    const response = await handler.fetch(request, { parsedBody: body })
    // Without an id, a cancellation could not be told from that of another client, whose requests have the same numbers.
    if (isObject(body) && body.method === 'initialize' && response.ok)
      response.headers.set('mcp-session-id', randomUUID())
    return response
  }
}

const toObject = (value: JsonValue): JsonObject => (isObject(value) ? value : {})

interface ToolCall {
  readonly name: string
  readonly args: JsonObject
  readonly signal: AbortSignal
  readonly onPart: (part: JsonValue) => Promise<void>
  readonly onProgress: (progress: TaskProgress) => void
  /** Whether the client can be asked for more input. */
  readonly asksCaller: boolean
}

async function callTool(deps: McpDeps, exchange: Exchange, caller: Caller, tool: ToolCall) {
  const { request, base, requestId } = exchange
  const { name, args, signal, onPart, onProgress, asksCaller } = tool
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
      signal,
    })
    const outcome = await deps.performer.run(await deps.performer.admit({ ...call, onProgress }))
    if (outcome.kind === 'value') return toToolResult(withMetadata(outcome, capability.output), asksCaller)
    const parts: JsonValue[] = []
    let size = 0
    for await (const part of outcome.parts) {
      parts.push(part)
      size += JSON.stringify(part).length
      if (size > MAX_COLLECTED) throw new AgentError('payload_too_large', 'the result is too large for MCP')
      await onPart(part)
    }
    return toToolResult(parts.every((part) => typeof part === 'string') ? parts.join('') : parts, asksCaller)
  } catch (error) {
    return toToolError(toAgentError(error), requestId)
  }
}
