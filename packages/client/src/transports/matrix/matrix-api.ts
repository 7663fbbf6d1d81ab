import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Deadline } from '../deadline.js'
import { exchange, type HttpDeps, readJsonBody } from '../http/exchange.js'

/** Maximum bytes of one response of a homeserver. */
const MAX_BYTES = 8 * 1024 * 1024

/** The part of a room event that is used here. */
export interface MatrixEvent {
  readonly type: string
  readonly sender: string
  readonly content: JsonObject
}

/** The events since the last sync. */
export interface SyncResult {
  readonly nextBatch: string
  readonly events: readonly MatrixEvent[]
}

/** The calls of the client-server API (v3) that the transport needs. */
export interface MatrixApi {
  roomOf(alias: string, deadline: Deadline): Promise<string>
  join(room: string, deadline: Deadline): Promise<void>
  send(room: string, type: string, transaction: string, content: JsonObject, deadline: Deadline): Promise<void>
  /** Waits up to `waitMs` for events of one type in one room. Without `since`, only returns the current position. */
  sync(room: string, type: string, since: string | undefined, waitMs: number, deadline: Deadline): Promise<SyncResult>
}

export interface MatrixAccess {
  /** Base URL of the homeserver. */
  readonly homeserver: string
  readonly accessToken: string
}

export function createMatrixApi(deps: HttpDeps, { homeserver, accessToken }: MatrixAccess): MatrixApi {
  const callApi = async (
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
    // All requests are idempotent: a homeserver deduplicates events by their transaction id.
    const request = { method, url, headers, isRepeatable: true, ...(body && { body: JSON.stringify(body) }) }
    const result = await readJsonBody(await exchange(deps, request, deadline), MAX_BYTES, deadline)
    if (!isObject(result))
      throw new ClientError('bad_response', `the homeserver’s response to ${path} is not an object`)
    return result
  }
  return {
    async roomOf(alias, deadline) {
      const { room_id: room } = await callApi(
        'GET',
        `/directory/room/${encodeURIComponent(alias)}`,
        undefined,
        deadline,
      )
      if (typeof room === 'string') return room
      throw new ClientError('bad_response', `the homeserver returned no room_id for ${alias}`)
    },
    async join(room, deadline) {
      await callApi('POST', `/join/${encodeURIComponent(room)}`, {}, deadline)
    },
    async send(room, type, transaction, content, deadline) {
      const path = ['rooms', room, 'send', type, transaction].map(encodeURIComponent).join('/')
      await callApi('PUT', `/${path}`, content, deadline)
    },
    async sync(room, type, since, waitMs, deadline) {
      const query = new URLSearchParams({
        filter: filterFor(room, type, since !== undefined),
        timeout: String(since === undefined ? 0 : waitMs),
      })
      if (since !== undefined) query.set('since', since)
      const result = await callApi('GET', `/sync?${query}`, undefined, deadline)
      const nextBatch = asString(result.next_batch)
      if (nextBatch === undefined) throw new ClientError('bad_response', 'the homeserver returned no next_batch')
      return { nextBatch, events: since === undefined ? [] : eventsIn(result, room) }
    },
  }
}

/** Limits a sync to one type of event in one room. */
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

function eventsIn(result: JsonObject, room: string): MatrixEvent[] {
  const timeline = memberOf(memberOf(memberOf(memberOf(result, 'rooms'), 'join'), room), 'timeline')
  if (isObject(timeline) && timeline.limited === true) {
    throw new ClientError('too_large', 'the agent sent more events at once than the homeserver returns')
  }
  return asObjects(isObject(timeline) ? timeline.events : undefined).flatMap(({ type, sender, content }) =>
    typeof type === 'string' && typeof sender === 'string' && isObject(content) ? [{ type, sender, content }] : [],
  )
}

const memberOf = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
