import { parseAgentUri } from '@switchboard/agent-uri'
import { isObject, type ReplyFrame, readReply } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import { type AddressPolicy, checkAddress } from '../../resolve/address-policy.js'
import type { Call, Reply, Transport } from '../call.js'
import { createDeadline, type Deadline } from '../deadline.js'
import { exchange, type HttpDeps, readJsonBody } from '../http/exchange.js'
import { requestFrame, toError, toPart } from '../websocket/frames.js'
import { createMatrixApi, type MatrixApi, type MatrixEvent } from './matrix-api.js'

/** Types of the events that carry calls; their content is a frame as on a WebSocket, with `body` for people. */
export const MATRIX_REQUEST = 'agent.request'
export const MATRIX_REPLY = 'agent.reply'

/** Milliseconds that one question to the homeserver may wait for news. */
const SYNC_MS = 20_000

export interface MatrixOptions {
  /** Of the person or agent that calls. */
  readonly accessToken: string
  /** Base URL of the homeserver; by default what the host of the URI names at /.well-known/matrix/client. */
  readonly homeserver?: string
  /** The agent's Matrix user: answers of anybody else in the room are ignored. */
  readonly agentUser?: string
}

export interface MatrixTransportOptions extends HttpDeps {
  readonly matrix: MatrixOptions
  readonly policy: AddressPolicy
  readonly newId: () => string
}

/**
 * Calls through a Matrix room (AURI §6.1, C-91): `agent+matrix://homeserver/room/operation`, where the room is an id, an
 * alias, or a name that is an alias of that homeserver. The request is an event of the room, and so are the answers.
 */
export function createMatrixTransport(options: MatrixTransportOptions): Transport {
  async function* frames(
    call: Call,
    wantsStream: boolean,
    deadline: Deadline,
  ): AsyncGenerator<ReplyFrame, void, undefined> {
    const { matrix, newId } = options
    const { host, roomName, operation } = readPlace(call)
    const homeserver = matrix.homeserver ?? (await findHomeserver(options, host, deadline))
    const api = createMatrixApi(options, { homeserver, accessToken: matrix.accessToken })
    const room = roomName.startsWith('!') ? roomName : await api.roomOf(roomName, deadline)
    await api.join(room, deadline)
    let since = (await api.sync(room, MATRIX_REPLY, undefined, 0, deadline)).nextBatch
    const id = newId()
    const asked = operation === undefined ? call : { ...call, operation }
    const content = { body: `Calls ${operation ?? 'the agent'}.`, ...requestFrame(id, asked, wantsStream) }
    await api.send(room, MATRIX_REQUEST, id, content, deadline)
    let isEnded = false
    try {
      for (;;) {
        const news = await api.sync(room, MATRIX_REPLY, since, Math.min(SYNC_MS, call.limits.silenceMs), deadline)
        since = news.nextBatch
        for (const event of news.events) {
          if (!isAnswer(event, id, matrix.agentUser)) continue
          const { frame } = readReply(event.content, (known) => known === id)
          isEnded = frame.kind !== 'part'
          yield frame
          if (isEnded) return
        }
      }
    } finally {
      if (!isEnded) void takeBack(api, room, id, newId())
    }
  }

  return {
    async invoke(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the call of ${call.uri}`, call.signal)
      try {
        for await (const frame of frames(call, false, deadline)) return toReply(frame, call)
        throw new ClientError('bad_response', `${call.uri} ended without an answer`)
      } finally {
        deadline.clear()
      }
    },
    async *stream(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the stream of ${call.uri}`, call.signal)
      try {
        for await (const frame of frames(call, true, deadline)) {
          if (frame.kind === 'error') throw toError(frame)
          deadline.pause()
          if (frame.kind !== 'end') yield toPart(frame)
          deadline.extend(call.limits.silenceMs)
        }
      } finally {
        deadline.clear()
      }
    },
  }
}

function toReply(frame: ReplyFrame, { uri, identifiers }: Call): Reply {
  if (frame.kind === 'error') throw toError(frame)
  if (frame.kind === 'part') throw new ClientError('bad_response', `${uri} answers with a stream: use streamAgent`)
  const { sessionId, taskId } = identifiers
  return {
    output: frame.kind === 'result' ? frame.value : null,
    contentType: 'application/json',
    status: 200,
    trusted: false,
    ...(sessionId !== undefined && { sessionId }),
    ...(taskId !== undefined && { taskId }),
    warnings: [],
  }
}

/** The room that the path names, and the operation after it. */
function readPlace(call: Call): { host: string; roomName: string; operation: string | undefined } {
  const { host, path } = parseAgentUri(call.endpoint.url)
  const [first = '', ...rest] = path.split('/').slice(1).map(decode)
  if (first === '') throw new ClientError('invalid_uri', 'agent+matrix://homeserver/room: the URI names no room')
  const operation = call.operation ?? (rest.filter((part) => part !== '').join('/') || undefined)
  return { host, roomName: /^[!#]/.test(first) ? first : `#${first}:${host}`, operation }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    throw new ClientError('invalid_uri', 'the path of the URI is not UTF-8 text', { cause })
  }
}

/** Where the clients of a server name are served; the server itself unless it says otherwise. */
async function findHomeserver(options: MatrixTransportOptions, host: string, deadline: Deadline): Promise<string> {
  const own = `https://${host}`
  try {
    const url = checkAddress(`${own}/.well-known/matrix/client`, options.policy).href
    const request = { method: 'GET', url, headers: { accept: 'application/json' }, isRepeatable: true }
    const answer = await readJsonBody(await exchange(options, request, deadline), 64 * 1024, deadline)
    const named = isObject(answer) && isObject(answer['m.homeserver']) ? answer['m.homeserver'].base_url : undefined
    return typeof named === 'string' ? checkAddress(named, options.policy).href : own
  } catch (error) {
    if (error instanceof ClientError && error.code === 'not_found') return own
    throw error
  }
}

const isAnswer = ({ type, sender, content }: MatrixEvent, id: string, agentUser: string | undefined): boolean =>
  type === MATRIX_REPLY && content.id === id && (agentUser === undefined || sender === agentUser)

/** Milliseconds that the word "stop" may take; nobody waits for it. */
const CANCEL_MS = 5000

async function takeBack(api: MatrixApi, room: string, id: string, transaction: string): Promise<void> {
  const deadline = createDeadline(CANCEL_MS, 'taking a call back')
  try {
    await api.send(room, MATRIX_REQUEST, transaction, { body: 'Takes a call back.', id, cancel: true }, deadline)
  } catch {
    // The caller has left already; an agent that cannot be told runs into its own limits.
  } finally {
    deadline.clear()
  }
}
