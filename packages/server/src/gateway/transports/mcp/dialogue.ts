import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { parseAnswer } from '../../http/read-stream.js'
import { type AgentFailure, httpFailure } from '../rpc/agent-error.js'
import {
  type Ask,
  type Asked,
  askJson,
  badAnswer,
  isEvents,
  isJson,
  isSuccess,
  readEvents,
  readJson,
  readJsonIfAny,
} from '../rpc/ask.js'
import { type RpcNotice, readNotice, readReply, readRpcError } from '../rpc/json-rpc.js'
import { withTimeLimit } from '../rpc/time-limit.js'
import { failureOf, nameOf } from './read-error.js'

/** Where a server is spoken to, with what credential, and in which session once there is one. */
export interface McpPlace {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly session?: McpSession
  /** For whom: a server may remember what was said in a session, which is nobody else's business. */
  readonly caller?: string
  /** Milliseconds that the server may be silent for, where that is longer than usual. */
  readonly silenceMs?: number
}

export interface McpSession {
  /** The protocol's version that both sides agreed on. */
  readonly version: string
  /** Absent: the server keeps no sessions. */
  readonly id?: string
}

export type McpReply =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'failure'; readonly failure: AgentFailure }
  /** The server no longer knows the session, and has done nothing. */
  | { readonly kind: 'lost'; readonly failure: AgentFailure }

/** What comes on a stream; the reply is the last of it. */
export type McpSaid = McpReply | { readonly kind: 'notice'; readonly notice: RpcNotice }

export interface McpRequest {
  readonly id: string
  readonly method: string
  readonly params: JsonObject
}

export interface McpDialogue {
  /** The reply, or what the server tells until it comes, and it. */
  request(
    place: McpPlace,
    request: McpRequest,
    signal: AbortSignal,
  ): Promise<{ reply: McpReply; session?: string } | AsyncGenerator<McpSaid, void>>
  /** Told without waiting: nobody is left to hear that it did not arrive. */
  tell(place: McpPlace, message: JsonObject): void
  /** Ends a session, as a courtesy to the server. */
  leave(place: McpPlace): void
}

export interface DialogueDeps {
  readonly ask: Ask
  readonly maxBytes: number
  readonly maxPartBytes: number
}

const COURTESY_TIMEOUT_MS = 5000
/** Questions of a server within one answer that are answered; more than a ping now and then is none of our business. */
const MAX_QUESTIONS = 20

/** MCP's Streamable HTTP: each message is a POST, its reply comes as JSON or at the end of a stream of events. */
export function createMcpDialogue({ ask, maxBytes, maxPartBytes }: DialogueDeps): McpDialogue {
  const tell = (place: McpPlace, message: JsonObject): void => {
    courtesy((signal) => post(ask, place, message, signal))
  }

  async function* readUntilReply(answer: Asked, place: McpPlace, id: string): AsyncGenerator<McpSaid, void> {
    let questions = 0
    for await (const { event = 'message', data } of readEvents(answer, maxPartBytes)) {
      // An event without data only names a place to resume from.
      if (event !== 'message' || data === '') continue
      const value = parseAnswer(data)
      const notice = readNotice(value)
      if (!notice) {
        yield readResult(value, id)
        return
      }
      if (notice.id === undefined) yield { kind: 'notice', notice }
      else if (questions++ < MAX_QUESTIONS) tell(place, answerTo(notice, notice.id))
    }
    throw badAnswer('its stream ended before the result came')
  }

  return {
    tell,
    async request(place, { id, method, params }, signal) {
      const answer = await post(ask, place, { jsonrpc: '2.0', id, method, params }, signal)
      if (!isSuccess(answer)) {
        return { reply: failed(answer, await readJsonIfAny(answer, maxBytes), place.session !== undefined) }
      }
      if (isEvents(answer) && method !== 'initialize') return readUntilReply(answer, place, id)
      const session = answer.headers['mcp-session-id']
      const reply = isEvents(answer)
        ? await replyOf(readUntilReply(answer, place, id))
        : readResult(await readWhole(answer, maxBytes), id)
      return { reply, ...(session !== undefined && { session }) }
    },
    leave(place) {
      const headers = headersOf(place)
      courtesy((signal) => askJson(ask, { method: 'DELETE', url: place.endpoint, headers }, signal))
    },
  }
}

/** The reply at the end of it. */
export async function replyOf(said: AsyncGenerator<McpSaid, void>): Promise<McpReply> {
  for await (const each of said) if (each.kind !== 'notice') return each
  throw badAnswer('its stream is empty')
}

function courtesy(work: (signal: AbortSignal) => Promise<Asked>): void {
  const done = withTimeLimit(COURTESY_TIMEOUT_MS, async (signal) => (await work(signal)).body.cancel())
  done.catch(() => {})
}

const headersOf = ({ headers, session }: McpPlace): Record<string, string> => ({
  ...headers,
  ...(session && { 'mcp-protocol-version': session.version }),
  ...(session?.id !== undefined && { 'mcp-session-id': session.id }),
})

const post = (ask: Ask, place: McpPlace, body: JsonObject, signal: AbortSignal): Promise<Asked> => {
  const headers = {
    ...headersOf(place),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const { endpoint: url, silenceMs } = place
  return askJson(ask, { method: 'POST', url, headers, body, ...(silenceMs !== undefined && { silenceMs }) }, signal)
}

async function readWhole(answer: Asked, maxBytes: number): Promise<JsonValue> {
  if (isJson(answer)) return readJson(answer, maxBytes)
  answer.body.cancel()
  throw badAnswer('it is neither JSON nor a stream of events')
}

function readResult(value: JsonValue, id: string): McpReply {
  const reply = readReply(value, id)
  if ('error' in reply) return { kind: 'failure', failure: failureOf(reply.error) }
  if (!isObject(reply.result)) throw badAnswer('its result is not an object')
  return { kind: 'result', result: reply.result }
}

/**
 * A lost session is told by 404 (Streamable HTTP, session management). Servers built after the SDK's sample, which look
 * sessions up before the SDK does, say 400 with a code of their own.
 */
function failed(answer: Asked, body: JsonValue | undefined, hasSession: boolean): McpReply {
  const error = readRpcError(isObject(body) ? body.error : undefined)
  const failure = httpFailure(answer, error && nameOf(error.code), error?.message)
  const isLost = hasSession && (answer.status === 404 || (answer.status === 400 && error?.code === -32000))
  return { kind: isLost ? 'lost' : 'failure', failure }
}

/** We offer a server nothing but to be alive. */
const answerTo = ({ method }: RpcNotice, id: string | number): JsonObject =>
  method === 'ping'
    ? { jsonrpc: '2.0', id, result: {} }
    : { jsonrpc: '2.0', id, error: { code: -32601, message: `${method} is not offered by this client` } }
