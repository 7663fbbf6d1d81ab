import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Deadline } from '../deadline.js'
import { exchange, type HttpDeps, readJsonBody } from '../http/exchange.js'

/** Bytes of one answer of a homeserver. */
const MAX_BYTES = 8 * 1024 * 1024

/** An event of a room, as far as it is used here. */
export interface MatrixEvent {
  readonly type: string
  readonly sender: string
  readonly content: JsonObject
}

/** What came since the last question. */
export interface SyncAnswer {
  readonly nextBatch: string
  readonly events: readonly MatrixEvent[]
}

/** The few calls of the client-server API (v3) that carrying a call takes. */
export interface MatrixApi {
  roomOf(alias: string, deadline: Deadline): Promise<string>
  join(room: string, deadline: Deadline): Promise<void>
  send(room: string, type: string, transaction: string, content: JsonObject, deadline: Deadline): Promise<void>
  /** Waits up to `waitMs` for events of one type in one room; without `since`, only says from where on. */
  sync(room: string, type: string, since: string | undefined, waitMs: number, deadline: Deadline): Promise<SyncAnswer>
}

export interface MatrixAccess {
  /** Base URL of the homeserver. */
  readonly homeserver: string
  readonly accessToken: string
}

export function createMatrixApi(deps: HttpDeps, { homeserver, accessToken }: MatrixAccess): MatrixApi {
  const ask = async (
    method: string,
    path: string,
    body: JsonObject | undefined,
    deadline: Deadline,
  ): Promise<JsonObject> => {
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${accessToken}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    const url = `${homeserver.replace(/\/+$/, '')}/_matrix/client/v3${path}`
    // Joining, and sending with the same transaction, happen once however often they are asked for.
    const request = { method, url, headers, isRepeatable: true, ...(body && { body: JSON.stringify(body) }) }
    const answer = await readJsonBody(await exchange(deps, request, deadline), MAX_BYTES, deadline)
    if (!isObject(answer)) throw new ClientError('bad_response', `the homeserver answers ${path} with no object`)
    return answer
  }
  return {
    async roomOf(alias, deadline) {
      const { room_id: room } = await ask('GET', `/directory/room/${encodeURIComponent(alias)}`, undefined, deadline)
      if (typeof room === 'string') return room
      throw new ClientError('bad_response', `the homeserver gives no room for ${alias}`)
    },
    async join(room, deadline) {
      await ask('POST', `/join/${encodeURIComponent(room)}`, {}, deadline)
    },
    async send(room, type, transaction, content, deadline) {
      const path = ['rooms', room, 'send', type, transaction].map(encodeURIComponent).join('/')
      await ask('PUT', `/${path}`, content, deadline)
    },
    async sync(room, type, since, waitMs, deadline) {
      const query = new URLSearchParams({
        filter: filterFor(room, type, since !== undefined),
        timeout: String(since === undefined ? 0 : waitMs),
      })
      if (since !== undefined) query.set('since', since)
      const answer = await ask('GET', `/sync?${query}`, undefined, deadline)
      const nextBatch = asString(answer.next_batch)
      if (nextBatch === undefined) throw new ClientError('bad_response', 'the homeserver syncs without next_batch')
      return { nextBatch, events: since === undefined ? [] : eventsIn(answer, room) }
    },
  }
}

/** One room, one type of event, and nothing of all else that a homeserver would tell. */
function filterFor(room: string, type: string, wantsEvents: boolean): string {
  const nothing = { not_types: ['*'] }
  return JSON.stringify({
    presence: nothing,
    account_data: nothing,
    room: {
      rooms: [room],
      state: nothing,
      ephemeral: nothing,
      account_data: nothing,
      timeline: { types: [type], limit: wantsEvents ? 100 : 1 },
    },
  })
}

function eventsIn(answer: JsonObject, room: string): MatrixEvent[] {
  const timeline = at(at(at(at(answer, 'rooms'), 'join'), room), 'timeline')
  if (isObject(timeline) && timeline.limited === true) {
    throw new ClientError('too_large', 'the agent answers with more events at once than a homeserver tells')
  }
  return asObjects(isObject(timeline) ? timeline.events : undefined).flatMap(({ type, sender, content }) =>
    typeof type === 'string' && typeof sender === 'string' && isObject(content) ? [{ type, sender, content }] : [],
  )
}

const at = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
