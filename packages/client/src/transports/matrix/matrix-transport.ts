import { parseAgentUri } from '@switchboard/agent-uri'
import { isObject, type ReplyFrame, readReply } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import { type AddressPolicy, checkAddress } from '../../resolve/address-policy.js'
import type { Call, Transport } from '../call.js'
import { createDeadline, type Deadline } from '../deadline.js'
import { exchange, type HttpDeps, readJsonBody } from '../http/exchange.js'
import { requestFrame, toError, toPart, toReply } from '../websocket/frames.js'
import { createMatrixApi, type MatrixApi, type MatrixEvent } from './matrix-api.js'

/** Event types for calls. The content is a frame as on a WebSocket, plus a `body` that people can read. */
export const MATRIX_REQUEST = 'agent.request'
export const MATRIX_REPLY = 'agent.reply'

/** Longest time in ms that one sync waits for events. */
const SYNC_MS = 20_000

export interface MatrixOptions {
  /** Access token of the calling user or agent. */
  readonly accessToken: string
  /** Base URL of the homeserver. Default: from /.well-known/matrix/client of the URI's host. */
  readonly homeserver?: string
  /** The agent's Matrix user. If set, replies of other users in the room are ignored. */
  readonly agentUser?: string
}

export interface MatrixTransportOptions extends HttpDeps {
  readonly matrix: MatrixOptions
  readonly policy: AddressPolicy
  readonly newId: () => string
}

/**
 * Calls through a Matrix room (AURI §6.1, C-91): `agent+matrix://homeserver/room/operation`, where the room is an id, an
 * alias, or the local part of an alias on that homeserver. Requests and replies are events in the room.
 */
export function createMatrixTransport(options: MatrixTransportOptions): Transport {
  async function* frames(
    call: Call,
    wantsStream: boolean,
    deadline: Deadline,
  ): AsyncGenerator<ReplyFrame, void, undefined> {
    const { matrix, newId } = options
    const { host, roomName, operation } = readTarget(call)
    const homeserver = matrix.homeserver ?? (await findHomeserver(options, host, deadline))
    const api = createMatrixApi(options, { homeserver, accessToken: matrix.accessToken })
    const room = roomName.startsWith('!') ? roomName : await api.roomOf(roomName, deadline)
    await api.join(room, deadline)
    let since = (await api.sync(room, MATRIX_REPLY, undefined, 0, deadline)).nextBatch
    const id = newId()
    const request = operation === undefined ? call : { ...call, operation }
    const content = { body: `Calls ${operation ?? 'the agent'}.`, ...requestFrame(id, request, wantsStream) }
    await api.send(room, MATRIX_REQUEST, id, content, deadline)
    let isEnded = false
    try {
      for (;;) {
        const synced = await api.sync(room, MATRIX_REPLY, since, Math.min(SYNC_MS, call.limits.silenceMs), deadline)
        since = synced.nextBatch
        for (const event of synced.events) {
          if (!isReplyTo(event, id, matrix.agentUser)) continue
          const { frame } = readReply(event.content, (known) => known === id)
          isEnded = frame.kind !== 'part'
          yield frame
          if (isEnded) return
        }
      }
    } finally {
      if (!isEnded) void cancel(api, room, id, newId())
    }
  }

  return {
    async invoke(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the call of ${call.uri}`, call.signal)
      try {
        for await (const frame of frames(call, false, deadline)) {
          if (frame.kind === 'error') throw toError(frame)
          if (frame.kind === 'part') {
            throw new ClientError('bad_response', `${call.uri} responded with a stream: use streamAgent`)
          }
          return toReply(frame, call)
        }
        throw new ClientError('bad_response', `${call.uri} ended without a reply`)
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

/** Reads the room and the operation from the path of the URI. */
function readTarget(call: Call): { host: string; roomName: string; operation: string | undefined } {
  const { host, path } = parseAgentUri(call.endpoint.url)
  const [first = '', ...rest] = path.split('/').slice(1).map(decode)
  if (first === '') throw new ClientError('invalid_uri', 'the URI names no room: use agent+matrix://homeserver/room')
  const operation = call.operation ?? (rest.filter((part) => part !== '').join('/') || undefined)
  return { host, roomName: /^[!#]/.test(first) ? first : `#${first}:${host}`, operation }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    throw new ClientError('invalid_uri', 'the path of the URI is not valid percent-encoded UTF-8', { cause })
  }
}

/** The base URL that a server name publishes for clients; by default the server itself. */
async function findHomeserver(options: MatrixTransportOptions, host: string, deadline: Deadline): Promise<string> {
  const own = `https://${host}`
  try {
    const url = checkAddress(`${own}/.well-known/matrix/client`, options.policy).href
    const request = { method: 'GET', url, headers: { accept: 'application/json' }, isRepeatable: true }
    const document = await readJsonBody(await exchange(options, request, deadline), 64 * 1024, deadline)
    const named =
      isObject(document) && isObject(document['m.homeserver']) ? document['m.homeserver'].base_url : undefined
    return typeof named === 'string' ? checkAddress(named, options.policy).href : own
  } catch (error) {
    if (error instanceof ClientError && error.code === 'not_found') return own
    throw error
  }
}

const isReplyTo = ({ type, sender, content }: MatrixEvent, id: string, agentUser: string | undefined): boolean =>
  type === MATRIX_REPLY && content.id === id && (agentUser === undefined || sender === agentUser)

/** Timeout of the cancellation, which the caller does not wait for. */
const CANCEL_MS = 5000

async function cancel(api: MatrixApi, room: string, id: string, transaction: string): Promise<void> {
  const deadline = createDeadline(CANCEL_MS, 'cancelling the call')
  try {
    await api.send(room, MATRIX_REQUEST, transaction, { body: 'Cancels the call.', id, cancel: true }, deadline)
  } catch {
    // Best effort: the caller has gone, and the agent has its own time limits.
  } finally {
    deadline.clear()
  }
}
