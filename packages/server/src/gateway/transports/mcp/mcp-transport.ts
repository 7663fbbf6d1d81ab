import { asString, isObject, type JsonObject, type PartBatches, type StreamPart } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../../gateway.js'
import { observeStream } from '../../http/observe-stream.js'
import { silenceLimitOf } from '../../resilience/deadline.js'
import { agentFailure, failureResponse } from '../rpc/agent-failure.js'
import { badResponse } from '../rpc/send-json.js'
import type { RpcTransportDeps, Transport } from '../transports.js'
import { createMcpClient, lastReply, type McpMessage, type McpReply, type McpTarget } from './mcp-client.js'
import { createMcpSessions } from './mcp-sessions.js'
import { readToolResult } from './read-tool-result.js'
import { STATELESS_VERSION } from './versions.js'

/** Calls the tools of MCP servers; each tool is an operation. */
export function createMcpTransport(deps: RpcTransportDeps): Transport {
  const { sendRequest, monotonic, newId, maxBodyBytes: maxBytes, maxPartBytes, maxResponseValues: maxValues } = deps
  const client = createMcpClient({ sendRequest, maxBytes, maxPartBytes, maxValues })
  const sessions = createMcpSessions({ client, newId, monotonic })

  /** One attempt, in a session that the server may have dropped. */
  const callTool = async (
    call: AgentCall,
    endpoint: Endpoint,
    target: McpTarget,
    args: JsonObject,
  ): Promise<AgentResponse | Extract<McpReply, { kind: 'session-lost' }>> => {
    const id = newId()
    const isStateless = target.session?.version === STATELESS_VERSION
    const meta = {
      ...traceOf(call.headers),
      ...(call.wantsStream && { progressToken: id }),
      // A server sends log messages only to those who ask for them.
      ...(call.wantsStream && isStateless && { 'io.modelcontextprotocol/logLevel': 'info' }),
    }
    const params = {
      name: call.operation,
      ...(isStateless ? splitAnswers(args) : { arguments: args }),
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
    }
    // Not `call`, which has the input: the functions below live as long as the response is streamed.
    const { signal, wantsStream } = call
    // With a handshake, a server keeps working when the connection closes, so it needs a notification (MCP, cancellation).
    let isCancelled = isStateless
    const cancel = (): void => {
      release()
      if (isCancelled) return
      isCancelled = true
      const reason = 'the caller cancelled the call'
      client.notify(target, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } })
    }
    const release = (): void => signal.removeEventListener('abort', cancel)
    signal.addEventListener('abort', cancel)

    let isStreaming = false
    try {
      const response = await client.request(target, { id, method: 'tools/call', params }, signal)
      if ('reply' in response) {
        return response.reply.kind === 'session-lost' ? response.reply : toResponse(response.reply, endpoint)
      }
      if (!wantsStream) return toResponse(await lastReply(response), endpoint)
      const { value: first } = await response.next()
      if (!first) throw badResponse('its stream is empty')
      // Without notifications there is nothing to stream, and the response can have its own status.
      if (first.kind !== 'notification') return toResponse(first, endpoint)
      isStreaming = true
      return {
        kind: 'stream',
        status: 200,
        headers: {},
        endpoint,
        batches: streamParts(first, response, { cancel, release }),
      }
    } finally {
      if (!isStreaming) release()
    }
  }

  return {
    async call(call, endpoint) {
      if (asString(endpoint.source?.type) === 'sse')
        throw notInvocable('the HTTP+SSE transport of MCP is not supported: register a Streamable HTTP endpoint')
      if (call.payload.kind !== 'json') throw notInvocable('MCP tools take JSON: send bytes as base64 or as a URL')
      const args = call.payload.value
      if (!isObject(args)) {
        const failure = agentFailure(400, 'InvalidInput', 'The input of an MCP tool must be an object')
        return failureResponse(failure, endpoint)
      }
      const target = {
        url: endpoint.url,
        headers: { ...endpoint.headers, ...call.headers },
        silenceMs: silenceLimitOf(call),
        ...(call.caller !== undefined && { caller: call.caller }),
      }
      for (let isRetry = false; ; isRetry = true) {
        const opened = await sessions.open(target, call.signal)
        if (opened.kind === 'failure') return failureResponse(opened.failure, endpoint)
        const response = await callTool(call, endpoint, { ...target, session: opened.session }, args)
        if (response.kind !== 'session-lost') return response
        sessions.drop(target, opened)
        // A new session cannot be lost yet: the server is rejecting the request itself.
        if (isRetry) return failureResponse(response.failure, endpoint)
      }
    },
    // The gateway does not use MCP's experimental tasks, so `call` never returns one.
    poll: () => Promise.reject(notInvocable('MCP has no tasks')),
    cancel: () => Promise.reject(notInvocable('MCP has no tasks')),
  }
}

/** The input as arguments, and what answers the questions of an earlier result (MCP, multi round-trip requests). */
function splitAnswers({ inputResponses, requestState, ...rest }: JsonObject): JsonObject {
  return {
    arguments: {
      ...rest,
      ...(inputResponses !== undefined && !isObject(inputResponses) && { inputResponses }),
      ...(requestState !== undefined && typeof requestState !== 'string' && { requestState }),
    },
    ...(isObject(inputResponses) && { inputResponses }),
    ...(typeof requestState === 'string' && { requestState }),
  }
}

/** The trace context as members of `_meta`: one HTTP request may carry several messages (MCP, SEP-414). */
const traceOf = ({ traceparent, tracestate }: AgentCall['headers']): JsonObject => ({
  ...(traceparent !== undefined && { traceparent }),
  ...(traceparent !== undefined && tracestate !== undefined && { tracestate }),
})

const notInvocable = (message: string): GatewayError => new GatewayError('not_invocable', message)

function toResponse(reply: McpReply, endpoint: Endpoint): AgentResponse {
  if (reply.kind !== 'result') return failureResponse(reply.failure, endpoint)
  const read = readToolResult(reply.result)
  if ('failure' in read) return failureResponse(read.failure, endpoint)
  return { kind: 'json', status: 200, headers: {}, endpoint, value: read.value }
}

/** Progress and log messages as they arrive, then the result. */
function streamParts(
  first: McpMessage,
  rest: AsyncGenerator<McpMessage, void>,
  { cancel, release }: { cancel: () => void; release: () => void },
): PartBatches {
  let isOver = false
  const end = async (): Promise<void> => {
    if (isOver) release()
    else cancel()
    await rest.return()
  }
  async function* batches(): AsyncGenerator<readonly StreamPart[], void> {
    try {
      for (let next: IteratorResult<McpMessage, void> = { value: first }; !next.done; next = await rest.next()) {
        isOver = next.value.kind !== 'notification'
        const parts = toStreamParts(next.value)
        if (parts.length > 0) yield parts
      }
    } finally {
      await end()
    }
  }
  return observeStream(batches(), { onCancel: end })
}

function toStreamParts(message: McpMessage): StreamPart[] {
  if (message.kind !== 'notification') return [lastPart(message)]
  const { method, params } = message.notification
  const { progressToken: _, _meta, ...data } = params
  if (method === 'notifications/progress') return [{ event: 'progress', data }]
  return method === 'notifications/message' ? [{ event: 'log', data }] : []
}

function lastPart(reply: McpReply): StreamPart {
  const read = reply.kind === 'result' ? readToolResult(reply.result) : reply
  if ('failure' in read) return { event: 'error', data: read.failure.value }
  return { ...(read.needsInput && { event: 'status' }), data: read.value }
}
