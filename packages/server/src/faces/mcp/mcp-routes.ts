import { DirectoryError, type JsonValue, parseJsonBody } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../policy/caller.js'
import { takeBody } from '../read-request.js'
import { signalOf } from '../respond.js'
import type { RouteGroup } from '../route-group.js'

/** Answers an MCP message with the rights of the caller. */
export type AnswerMcp = (request: Request, body: JsonValue, caller: Caller) => Promise<Response>

export interface McpRoutesOptions {
  readonly answer: AnswerMcp
  readonly baseUrl: () => string
  readonly maxInputBytes: number
  readonly maxInputValues: number
}

/** The code of JSON-RPC for a body that is not JSON. */
const PARSE_ERROR = -32_700

/** The directory as an MCP server: Streamable HTTP without sessions. */
export function createMcpRoutes({ answer, baseUrl, maxInputBytes, maxInputValues }: McpRoutesOptions): RouteGroup {
  return {
    name: 'mcp',
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
        body: { type: 'object' },
        responses: { 200: 'the response to a request, as JSON or as one event', 202: 'a notification was received' },
        async handle(request, reply) {
          const body = readMessage(request, maxInputValues)
          if (body instanceof DirectoryError) {
            const error = { code: PARSE_ERROR, message: body.message }
            return reply.code(400).send({ jsonrpc: '2.0', id: null, error })
          }
          return send(await answer(toWebRequest(request, baseUrl(), signalOf(reply)), body, request.caller), reply)
        },
      },
    ],
  }
}

function readMessage(request: FastifyRequest, maxValues: number): JsonValue | DirectoryError {
  try {
    const message = parseJsonBody(takeBody(request), { maxValues })
    return Array.isArray(message) ? new DirectoryError('invalid_request', 'send one message at a time') : message
  } catch (error) {
    if (error instanceof DirectoryError) return error
    throw error
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
