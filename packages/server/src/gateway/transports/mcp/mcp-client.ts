import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { CancelSignal } from '../../../cancellation.js'
import { parseResponseJson, readEvents } from '../../http/read-stream.js'
import type { HttpResponse, SendRequest } from '../../http/send-request.js'
import { withTimeout } from '../../resilience/with-timeout.js'
import { type AgentFailure, httpFailure } from '../rpc/agent-failure.js'
import { RPC_ERRORS, type RpcError, type RpcRequest, readReply, readRpcError, readRpcRequest } from '../rpc/json-rpc.js'
import {
  badResponse,
  isEventStream,
  isSuccess,
  type JsonResponseLimits,
  readJsonIfAny,
  requireJson,
  sendJson,
} from '../rpc/send-json.js'
import { statelessHeaders, withEnvelope } from './envelope.js'
import { failureOf, nameOf } from './read-error.js'
import { STATELESS_VERSION } from './versions.js'

/** An MCP server as one caller sees it: its URL, the headers with the credential, and the session if one is open. */
export interface McpTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly session?: McpSession
  /** Id of the caller. A server may keep state in a session, so callers never share one. */
  readonly caller?: string
  /** Idle timeout of responses in milliseconds, if longer than the default. */
  readonly silenceMs?: number
}

export interface McpSession {
  /** The negotiated version of the protocol. */
  readonly version: string
  /** Undefined: the server has no sessions. */
  readonly id?: string
}

export type McpReply =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'failure'; readonly failure: AgentFailure; readonly error?: RpcError }
  /** The server no longer knows the session, or speaks other versions than before; the request was not processed. */
  | { readonly kind: 'session-lost'; readonly failure: AgentFailure; readonly error?: RpcError }

/** A message of a stream; the reply is the last one. */
export type McpMessage = McpReply | { readonly kind: 'notification'; readonly notification: RpcRequest }

export interface McpRequest {
  readonly id: string
  readonly method: string
  readonly params: JsonObject
}

export interface McpClient {
  /** Sends a request. The result is its reply, or a stream of notifications that ends with the reply. */
  request(
    target: McpTarget,
    request: McpRequest,
    signal: CancelSignal,
  ): Promise<{ reply: McpReply; session?: string } | AsyncGenerator<McpMessage, void>>
  /** Sends a message that has no reply, without waiting; errors are ignored. */
  notify(target: McpTarget, message: JsonObject): void
  /** Ends the session at the server, without waiting; errors are ignored. */
  endSession(target: McpTarget): void
}

export interface McpClientDeps extends JsonResponseLimits {
  readonly sendRequest: SendRequest
  readonly maxPartBytes: number
}

/** Timeout of what is sent in the background. */
const BACKGROUND_TIMEOUT_MS = 5000
/** Requests of the server that are answered during one response; a few pings are normal, a flood is an attack. */
const MAX_SERVER_REQUESTS = 20
/** The error of a server that does not speak the version of a request. */
const UNSUPPORTED_VERSION = -32022

/** The client side of MCP's Streamable HTTP: each message is a POST, and its reply is JSON or ends an event stream. */
export function createMcpClient({ sendRequest, maxPartBytes, ...limits }: McpClientDeps): McpClient {
  const notify = (target: McpTarget, message: JsonObject): void => {
    inBackground((signal) => post(sendRequest, target, message, signal))
  }

  async function* readUntilReply(
    { body }: HttpResponse,
    target: McpTarget,
    id: string,
  ): AsyncGenerator<McpMessage, void> {
    let serverRequests = 0
    for await (const { event = 'message', data } of readEvents(body, maxPartBytes)) {
      // An event without data only carries an id to resume from.
      if (event !== 'message' || data === '') continue
      const value = parseResponseJson(data, limits.maxValues)
      const received = readRpcRequest(value)
      if (!received) {
        yield readResult(value, id)
        return
      }
      if (received.id === undefined) yield { kind: 'notification', notification: received }
      else if (serverRequests++ < MAX_SERVER_REQUESTS) notify(target, replyTo(received, received.id))
    }
    throw badResponse('its stream ended before the result')
  }

  return {
    notify,
    async request(target, { id, method, params }, signal) {
      const isStateless = target.session?.version === STATELESS_VERSION
      const sent = isStateless ? withEnvelope(params) : params
      const headers = isStateless ? statelessHeaders(method, params) : {}
      const response = await post(sendRequest, target, { jsonrpc: '2.0', id, method, params: sent }, signal, headers)
      if (!isSuccess(response)) return { reply: readHttpError(response, await readJsonIfAny(response, limits), target) }
      const isStream = isEventStream(response)
      if (isStream && method !== 'initialize') return readUntilReply(response, target, id)
      const session = response.headers['mcp-session-id']
      const reply = isStream
        ? await lastReply(readUntilReply(response, target, id))
        : readResult(await requireJson(response, limits), id)
      return { reply, ...(session !== undefined && { session }) }
    },
    endSession(target) {
      const request = { method: 'DELETE', url: target.url, headers: headersOf(target) } as const
      inBackground((signal) => sendJson(sendRequest, request, signal))
    },
  }
}

/** Skips the notifications of a stream. */
export async function lastReply(messages: AsyncGenerator<McpMessage, void>): Promise<McpReply> {
  for await (const message of messages) if (message.kind !== 'notification') return message
  throw badResponse('its stream is empty')
}

function inBackground(send: (signal: AbortSignal) => Promise<HttpResponse>): void {
  const done = withTimeout(BACKGROUND_TIMEOUT_MS, async (signal) => (await send(signal)).body.cancel())
  done.catch(() => {})
}

const headersOf = ({ headers, session }: McpTarget): Record<string, string> => ({
  ...headers,
  ...(session && { 'mcp-protocol-version': session.version }),
  ...(session?.id !== undefined && { 'mcp-session-id': session.id }),
})

function post(
  sendRequest: SendRequest,
  target: McpTarget,
  body: JsonObject,
  signal: CancelSignal,
  more: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  const { url, silenceMs } = target
  const headers = {
    ...headersOf(target),
    ...more,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const request = { method: 'POST', url, headers, body, ...(silenceMs !== undefined && { silenceMs }) } as const
  return sendJson(sendRequest, request, signal)
}

function readResult(value: JsonValue, id: string): McpReply {
  const reply = readReply(value, id)
  if ('error' in reply) return { kind: 'failure', failure: failureOf(reply.error), error: reply.error }
  if (!isObject(reply.result)) throw badResponse('its result is not an object')
  return { kind: 'result', result: reply.result }
}

/**
 * A lost session is a 404 (Streamable HTTP, session management). Servers derived from the SDK's sample code, which look
 * sessions up before the SDK does, send 400 with the code -32000 instead.
 */
function readHttpError(response: HttpResponse, body: JsonValue | undefined, { session }: McpTarget): McpReply {
  const error = readRpcError(isObject(body) ? body.error : undefined)
  const isStateless = session?.version === STATELESS_VERSION
  // Without a handshake, the status follows from the code, so that the code says more.
  const failure =
    isStateless && error && RPC_ERRORS[error.code]
      ? failureOf(error)
      : httpFailure(response, error && nameOf(error.code), error?.message)
  const { status } = response
  const isLost = isStateless
    ? error?.code === UNSUPPORTED_VERSION || error?.code === -32000 || (!error && (status === 404 || status === 405))
    : session !== undefined && (status === 404 || (status === 400 && error?.code === -32000))
  return { kind: isLost ? 'session-lost' : 'failure', failure, ...(error && { error }) }
}

/** The gateway supports no requests of servers but `ping`. */
const replyTo = ({ method }: RpcRequest, id: string | number): JsonObject =>
  method === 'ping'
    ? { jsonrpc: '2.0', id, result: {} }
    : { jsonrpc: '2.0', id, error: { code: -32601, message: `${method} is not supported by this client` } }
