import { DirectoryError, type JsonValue } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toAbortSignal } from '../../cancellation.js'
import type { Caller } from '../../policy/caller.js'
import { signalOf } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { readRpcMessage, sendParseError } from '../rpc-message.js'
import { component } from '../schemas/component.js'
import { anyObject, anything, object, oneOf, text } from '../schemas/parts.js'
import { type DescribedResponse, empty, json } from '../schemas/response.js'

/** Answers an MCP message with the rights of the caller. */
export type AnswerMcp = (request: Request, body: JsonValue, caller: Caller) => Promise<Response>

export interface McpRoutesOptions {
  readonly answer: AnswerMcp
  readonly baseUrl: () => string
  readonly maxInputBytes: number
  readonly maxInputValues: number
}

const messageSchema = component('JsonRpcMessage', {
  ...object(
    {
      jsonrpc: oneOf('2.0'),
      id: { type: ['string', 'number', 'null'] },
      method: text,
      params: anyObject,
      result: anyObject,
      error: { ...object({ code: { type: 'integer' }, message: text, data: anything }, 'data') },
    },
    ...['id', 'method', 'params', 'result', 'error'],
  ),
})

const rpcError = (description: string): DescribedResponse => json(description, messageSchema)

/** The directory as an MCP server: Streamable HTTP without sessions. */
export function createMcpRoutes({ answer, baseUrl, maxInputBytes, maxInputValues }: McpRoutesOptions): RouteGroup {
  return {
    name: 'mcp',
    summary: 'The directory as an MCP server',
    errors: 'application/json',
    noStore: true,
    routes: [
      {
        method: 'POST',
        path: '/mcp',
        summary: 'The directory as an MCP server (Streamable HTTP)',
        access: 'discover',
        limit: 'lookup',
        bodyLimit: maxInputBytes,
        headers: { 'MCP-Protocol-Version': 'the version of the protocol' },
        body: messageSchema,
        responses: {
          200: {
            description: 'the response to a request, as JSON or as one event',
            content: { 'application/json': messageSchema, 'text/event-stream': text },
          },
          202: empty('a notification was received'),
          400: rpcError('not a JSON-RPC message, or not an MCP request'),
          406: rpcError('the client must accept application/json and text/event-stream'),
        },
        async handle(request, reply) {
          const body = readRpcMessage(request, maxInputValues)
          if (body instanceof DirectoryError) return sendParseError(reply, body)
          return send(
            await answer(toWebRequest(request, baseUrl(), toAbortSignal(signalOf(reply))), body, request.caller),
            reply,
          )
        },
      },
    ],
  }
}

/** The request as the SDK expects it; the body is passed separately. */
function toWebRequest({ headers, url }: FastifyRequest, base: string, signal: AbortSignal): Request {
  const own = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
  return new Request(new URL(url, base), { method: 'POST', headers: own, signal })
}

/** Sends the answer. Without notifications in between, even a stream of events ends at once. */
async function send(response: Response, reply: FastifyReply): Promise<FastifyReply> {
  const type = response.headers.get('content-type')
  if (type !== null) reply.header('content-type', type)
  return reply.code(response.status).send(Buffer.from(await response.arrayBuffer()))
}
