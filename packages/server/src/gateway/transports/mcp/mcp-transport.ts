import { asString, isObject, type JsonObject, type StreamPart } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../../gateway.js'
import { withCleanup } from '../../http/with-cleanup.js'
import { patienceOf } from '../../patience.js'
import { agentFailure, failureAnswer } from '../rpc/agent-error.js'
import { badAnswer } from '../rpc/ask.js'
import type { TranslatorDeps } from '../rpc/translator.js'
import type { Transport } from '../transports.js'
import { createMcpDialogue, type McpPlace, type McpReply, type McpSaid, replyOf } from './dialogue.js'
import { readToolResult } from './read-tool-result.js'
import { createMcpSessions } from './sessions.js'

/** Calls the tools of an MCP server as if it were a plain agent with an operation for each. */
export function createMcpTransport({ ask, now, newId, maxBodyBytes, maxPartBytes }: TranslatorDeps): Transport {
  const dialogue = createMcpDialogue({ ask, maxBytes: maxBodyBytes, maxPartBytes })
  const sessions = createMcpSessions({ dialogue, newId, now })

  /** One attempt, in a session that the server may have forgotten. */
  const callTool = async (
    call: AgentCall,
    endpoint: Endpoint,
    place: McpPlace,
    args: JsonObject,
  ): Promise<AgentResponse | Extract<McpReply, { kind: 'lost' }>> => {
    const id = newId()
    const params = {
      name: call.operation,
      arguments: args,
      ...(call.wantsStream && { _meta: { progressToken: id } }),
    }
    // A server goes on working when the connection closes: it has to be told (MCP, cancellation).
    let isTold = false
    const cancel = (): void => {
      release()
      if (isTold) return
      isTold = true
      const reason = 'the caller gave the call up'
      dialogue.tell(place, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } })
    }
    const release = (): void => call.signal.removeEventListener('abort', cancel)
    call.signal.addEventListener('abort', cancel)

    let isStreaming = false
    try {
      const said = await dialogue.request(place, { id, method: 'tools/call', params }, call.signal)
      if ('reply' in said) return said.reply.kind === 'lost' ? said.reply : answerOf(said.reply, endpoint)
      if (!call.wantsStream) return answerOf(await replyOf(said), endpoint)
      const { value: first } = await said.next()
      if (!first) throw badAnswer('its stream is empty')
      // A result that comes first is an answer like any other, with a status of its own.
      if (first.kind !== 'notice') return answerOf(first, endpoint)
      isStreaming = true
      return {
        kind: 'stream',
        status: 200,
        headers: {},
        endpoint,
        parts: streamParts(first, said, { cancel, release }),
      }
    } finally {
      if (!isStreaming) release()
    }
  }

  return {
    async call(call, endpoint) {
      if (asString(endpoint.source?.type) === 'sse')
        throw notInvocable('the older transport of MCP (HTTP+SSE) is not spoken')
      if (call.payload.kind !== 'json') throw notInvocable('a tool of MCP takes JSON: send bytes as base64 or by URL')
      const args = call.payload.value
      if (!isObject(args)) {
        return failureAnswer(agentFailure(400, 'InvalidInput', 'The input of a tool of MCP is an object'), endpoint)
      }
      const place = {
        endpoint: endpoint.url,
        headers: call.headers,
        silenceMs: patienceOf(call),
        ...(call.caller !== undefined && { caller: call.caller }),
      }
      for (let isRetry = false; ; isRetry = true) {
        const opened = await sessions.open(place, call.signal)
        if (opened.kind === 'failure') return failureAnswer(opened.failure, endpoint)
        const answer = await callTool(call, endpoint, { ...place, session: opened.session }, args)
        if (answer.kind !== 'lost') return answer
        sessions.forget(place, opened)
        // Of a session just opened it means something else: the server's own refusal.
        if (isRetry) return failureAnswer(answer.failure, endpoint)
      }
    },
    // Tasks are an experiment of MCP that is not taken part in: no answer of this transport names one.
    poll: () => Promise.reject(notInvocable('MCP has no tasks')),
    cancel: () => Promise.reject(notInvocable('MCP has no tasks')),
  }
}

const notInvocable = (message: string): GatewayError => new GatewayError('not_invocable', message)

function answerOf(reply: McpReply, endpoint: Endpoint): AgentResponse {
  if (reply.kind !== 'result') return failureAnswer(reply.failure, endpoint)
  const read = readToolResult(reply.result)
  if ('failure' in read) return failureAnswer(read.failure, endpoint)
  return { kind: 'json', status: 200, headers: {}, endpoint, value: read.value }
}

/** Progress and log messages as they come, the result at the end. */
function streamParts(
  first: McpSaid,
  rest: AsyncGenerator<McpSaid, void>,
  { cancel, release }: { cancel: () => void; release: () => void },
): AsyncIterable<StreamPart> {
  let isOver = false
  const end = async (): Promise<void> => {
    if (isOver) release()
    else cancel()
    await rest.return()
  }
  async function* parts(): AsyncGenerator<StreamPart, void> {
    try {
      for (let next: IteratorResult<McpSaid, void> = { value: first }; !next.done; next = await rest.next()) {
        isOver = next.value.kind !== 'notice'
        yield* partsOf(next.value)
      }
    } finally {
      await end()
    }
  }
  return withCleanup(parts(), end)
}

function partsOf(said: McpSaid): StreamPart[] {
  if (said.kind !== 'notice') return [lastPart(said)]
  const { progressToken: _, _meta, ...told } = said.notice.params
  if (said.notice.method === 'notifications/progress') return [{ event: 'progress', data: told }]
  return said.notice.method === 'notifications/message' ? [{ event: 'log', data: told }] : []
}

function lastPart(reply: McpReply): StreamPart {
  const read = reply.kind === 'result' ? readToolResult(reply.result) : reply
  return 'failure' in read ? { event: 'error', data: read.failure.value } : { data: read.value }
}
