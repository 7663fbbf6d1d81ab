import { A2A_VERSION_HEADER, AgentCard, formatSSEErrorEvent, formatSSEEvent } from '@a2a-js/sdk'
import { isLegacyJsonRpcMethod } from '@a2a-js/sdk/compat/v0_3'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { DefaultRequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server'
import { isObject, type JsonObject } from '@switchboard/protocol'
import type { Authenticator } from '../auth/authenticate.js'
import type { Caller } from '../auth/caller.js'
import type { Performer } from '../call/perform.js'
import { AgentError } from '../errors.js'
import { credentialsOf } from '../http/credentials.js'
import type { Exchange } from '../http/exchange.js'
import { readJsonBody } from '../http/read-body.js'
import { jsonResponse } from '../http/responses.js'
import type { Runtime } from '../runtime.js'
import type { Versions } from '../versions.js'
import { setCaller } from './caller.js'
import { createA2aExecutor } from './executor.js'
import { createA2aTaskStore } from './task-store.js'

export interface A2aDeps {
  readonly versions: Versions
  readonly performer: Performer
  readonly authenticator: Authenticator
  readonly runtime: Runtime
  readonly card: () => JsonObject
  readonly maxBodyBytes: number
}

export interface A2aRoute {
  handle(exchange: Exchange): Promise<Response>
  close(): void
}

/** A2A over JSON-RPC, versions 1.0 and 0.3: messages, streams and tasks. */
export function createA2aRoute({ versions, performer, authenticator, runtime, card, maxBodyBytes }: A2aDeps): A2aRoute {
  const executor = createA2aExecutor(versions, performer, runtime)
  const handler = new DefaultRequestHandler(AgentCard.fromJSON(card()), createA2aTaskStore(runtime.monotonic), executor)
  const current = new JsonRpcTransportHandler(handler)
  const legacy = new LegacyJsonRpcTransportHandler(handler)
  return {
    async handle(exchange) {
      const { request, base, requestId } = exchange
      if (request.method !== 'POST') {
        throw new AgentError('method_not_allowed', 'use POST for A2A', { headers: { allow: 'POST' } })
      }
      const caller = await authenticator.authenticate(credentialsOf(exchange))
      const body = await readJsonBody(request, maxBodyBytes)
      if (!isObject(body)) throw new AgentError('invalid_input', 'a JSON-RPC message must be an object')
      const isLegacy = isLegacyJsonRpcMethod(body.method)
      const requestedVersion = request.headers.get(A2A_VERSION_HEADER) ?? (isLegacy ? '0.3' : '1.0')
      const context = new ServerCallContext({ user: userOf(caller), requestedVersion })
      setCaller(context, {
        caller,
        base,
        requestId,
        version: request.headers.get('x-agent-version'),
        delegationChain: request.headers.get('x-delegation-chain'),
      })
      const result = await (isLegacy ? legacy : current).handle(body, context)
      if (!(Symbol.asyncIterator in result)) return jsonResponse(JSON.parse(JSON.stringify(result)))
      return streamResponse(result, (error) => ({
        jsonrpc: '2.0',
        id: body.id ?? null,
        error: isLegacy
          ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
          : JsonRpcTransportHandler.mapToJSONRPCError(error),
      }))
    },
    close() {
      executor.close()
    },
  }
}

const userOf = ({ subject, client }: Caller) => ({ isAuthenticated: subject !== undefined, userName: client })

/** Streams events. The task goes on if the reader disconnects, because it can come back for it. */
function streamResponse(
  events: AsyncGenerator<unknown, void, undefined>,
  toError: (error: unknown) => unknown,
): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await events.next()
          if (!done) {
            controller.enqueue(encoder.encode(formatSSEEvent(value)))
            return
          }
        } catch (error) {
          controller.enqueue(encoder.encode(formatSSEErrorEvent(toError(error))))
        }
        controller.close()
      },
      cancel() {
        events.return().catch(() => {})
      },
    },
    { highWaterMark: 1 },
  )
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  })
}
