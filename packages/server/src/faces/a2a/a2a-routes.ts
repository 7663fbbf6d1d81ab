import { Readable } from 'node:stream'
import { DirectoryError, EVENT_STREAM, isObject, type JsonObject } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toAbortSignal } from '../../cancellation.js'
import { clientOf } from '../../policy/caller.js'
import type { RateLimits } from '../../policy/rate-limit.js'
import type { Invoke } from '../../services/calls/invoke.js'
import type { Context } from '../../services/context.js'
import { readAgent } from '../../services/registry/read.js'
import type { Tasks } from '../../services/tasks/tasks.js'
import { heartbeats, SILENCE } from '../invocation/heartbeats.js'
import { readHead } from '../invocation/read-invocation.js'
import { HEARTBEAT_MS } from '../invocation/write-parts.js'
import { headerOf, idOf } from '../read-request.js'
import { sendJson, signalOf } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { readRpcMessage, sendParseError } from '../rpc-message.js'
import { json } from '../schemas/response.js'
import type { A2aServer } from './a2a-server.js'
import { createAgentServer } from './agent-server.js'
import type { A2aAnswer, A2aRequest } from './answer-a2a.js'
import { createDirectoryServer } from './directory-server.js'
import { createStreamedTasks } from './streamed-tasks.js'

export interface A2aOptions {
  readonly context: Context
  readonly invoke: Invoke
  readonly tasks: Tasks | undefined
  readonly limits: RateLimits
  readonly baseUrl: () => string
  readonly maxInputBytes: number
  readonly maxInputValues: number
}

/** The directory as an A2A server: JSON-RPC, in the versions 1.0 and 0.3. */
export function createA2aRoutes(options: A2aOptions): RouteGroup {
  const { context, invoke, tasks, limits, baseUrl, maxInputBytes } = options
  const streamed = createStreamedTasks()

  const answer = async (server: A2aServer, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const signal = toAbortSignal(signalOf(reply))
    const body = readRpcMessage(request, options.maxInputValues)
    if (body instanceof DirectoryError) return sendParseError(reply, body)
    if (!isObject(body)) return sendParseError(reply, new DirectoryError('invalid_request', 'send a JSON-RPC request'))
    // Loaded when first needed: most directories are never asked in A2A.
    const { answerA2a } = await import('./answer-a2a.js')
    const owner = JSON.stringify([request.caller.subject ?? request.caller.address, idOf(request)])
    const message: A2aRequest = {
      server,
      body,
      version: headerOf(request, 'a2a-version'),
      owner,
      streamed,
      newId: context.newId,
      signal,
    }
    return send(await answerA2a(message), reply)
  }

  const route = (path: string, rest: Pick<Route, 'summary' | 'access' | 'limit' | 'handle'>): Route => ({
    method: 'POST',
    path,
    bodyLimit: maxInputBytes,
    body: MESSAGE_SCHEMA,
    query: {},
    responses: {
      200: {
        description: 'the JSON-RPC response, or a stream of them as server-sent events',
        content: { 'application/json': RESPONSE_SCHEMA, 'text/event-stream': { type: 'string' } },
      },
      400: json('the body is not JSON', RESPONSE_SCHEMA),
    },
    ...rest,
  })

  return {
    name: 'a2a',
    summary: 'The directory as an A2A server',
    errors: 'application/json',
    noStore: true,
    routes: [
      route('/agents/:id/a2a', {
        summary: 'Call an agent with A2A messages, whatever protocol it speaks (JSON-RPC, A2A 1.0 and 0.3)',
        access: 'caller',
        limit: 'lookup',
        handle: (request, reply) => {
          const { record } = readAgent(context, idOf(request), request.caller)
          const spend = (calls: number): Promise<void> | undefined =>
            limits.spend('invoke', clientOf(request.caller), calls)
          return answer(createAgentServer({ invoke, tasks, record, head: readHead(request), spend }), request, reply)
        },
      }),
      route('/a2a', {
        summary: 'Find agents with A2A messages (JSON-RPC, A2A 1.0 and 0.3)',
        access: 'discover',
        limit: 'search',
        handle: (request, reply) => answer(createDirectoryServer(context, request, baseUrl()), request, reply),
      }),
    ],
  }
}

const MESSAGE_SCHEMA: JsonObject = {
  type: 'object',
  description: 'a JSON-RPC request of A2A, such as SendMessage, SendStreamingMessage, GetTask or CancelTask',
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer', 'null'] },
    method: { type: 'string' },
    params: { type: 'object' },
  },
}

const RESPONSE_SCHEMA: JsonObject = {
  type: 'object',
  description: 'a JSON-RPC response with the result that A2A defines for the method, or with an error',
  required: ['jsonrpc', 'id'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer', 'null'] },
    result: {},
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' }, data: {} },
    },
  },
}

function send(answer: A2aAnswer, reply: FastifyReply): FastifyReply {
  if (!isEvents(answer)) return sendJson(reply, answer)
  reply.header('content-type', 'text/event-stream; charset=utf-8').header('x-accel-buffering', 'no')
  return reply.send(Readable.from(writeEvents(answer), { objectMode: false }))
}

const isEvents = (answer: A2aAnswer): answer is AsyncIterable<JsonObject> => Symbol.asyncIterator in answer

async function* writeEvents(events: AsyncIterable<JsonObject>): AsyncGenerator<string> {
  for await (const event of heartbeats(events, HEARTBEAT_MS))
    yield event === SILENCE ? EVENT_STREAM.heartbeat : `data: ${JSON.stringify(event)}\n\n`
}
