import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '@switchboard/protocol'
import { type Seen, sendJson, startPlainHost } from './agent-host.js'

/**
 * A simulated Matrix homeserver with the parts of the client-server API (v3) that are used: access tokens, aliases,
 * joining, sending with transaction ids (a repeated one creates no second event), and /sync with `since`, long polling
 * and filters by room and type. It has one room and no encryption.
 */
export interface Homeserver {
  readonly url: string
  readonly room: string
  readonly token: string
  readonly seen: Seen[]
  /** Responds to every request with this Matrix error until it is undefined again. */
  failure: { status: number; body: JsonObject } | undefined
  /** What the agent in the room does with an event sent by a caller. */
  onEvent: (content: JsonObject, send: (content: JsonObject, sender?: string) => void) => void
  close(): Promise<void>
}

interface Event {
  readonly type: string
  readonly sender: string
  readonly event_id: string
  readonly content: JsonObject
}

const AGENT = '@agent:hs.example'

export async function startHomeserver(): Promise<Homeserver> {
  const [room, alias, token] = ['!room:hs.example', '#planner:hs.example', 'secret-token']
  const events: Event[] = []
  const transactions = new Map<string, string>()
  const waiting = new Set<() => void>()
  const members = new Set<string>()

  const add = (type: string, sender: string, content: JsonObject): string => {
    const event = { type, sender, content, event_id: `$${randomUUID()}` }
    events.push(event)
    for (const wake of waiting) wake()
    return event.event_id
  }

  const sync = (query: URLSearchParams, response: ServerResponse): void => {
    const filter = JSON.parse(query.get('filter') ?? '{}')
    const since = query.get('since')
    const types: string[] = filter.room?.timeline?.types ?? []
    const news = (): Event[] => events.slice(Number(since?.slice(1) ?? 0)).filter(({ type }) => types.includes(type))
    const respond = (): void => {
      clearTimeout(timer)
      waiting.delete(onEvent)
      const limit: number = filter.room?.timeline?.limit ?? 10
      const newEvents = news()
      const timeline = { events: newEvents.slice(-limit), limited: newEvents.length > limit, prev_batch: since ?? 's0' }
      sendJson(response, 200, {
        next_batch: `s${events.length}`,
        rooms: { join: { [room]: { timeline: JSON.parse(JSON.stringify(timeline)) } } },
      })
    }
    const onEvent = (): void => {
      if (news().length > 0) respond()
    }
    const timer = setTimeout(respond, since === null || news().length > 0 ? 0 : Number(query.get('timeout') ?? 0))
    waiting.add(onEvent)
  }

  const host = await startPlainHost((seen, response) => {
    const { pathname, searchParams } = new URL(seen.url, 'http://hs')
    const path = pathname.replace('/_matrix/client/v3', '').split('/').map(decodeURIComponent)
    if (server.failure) return sendJson(response, server.failure.status, server.failure.body)
    if (seen.headers.authorization !== `Bearer ${token}`)
      return sendJson(response, 401, { errcode: 'M_UNKNOWN_TOKEN', error: 'Unknown access token' })
    const [, first, second, third, fourth, fifth] = path
    if (first === 'directory' && third === alias)
      return sendJson(response, 200, { room_id: room, servers: ['hs.example'] })
    if (first === 'join' && second === room) {
      members.add(token)
      return sendJson(response, 200, { room_id: room })
    }
    if (first === 'sync') return sync(searchParams, response)
    if (first === 'rooms' && second === room && third === 'send' && seen.method === 'PUT') {
      if (!members.has(token))
        return sendJson(response, 403, { errcode: 'M_FORBIDDEN', error: 'You are not in the room' })
      const id = transactions.get(String(fifth)) ?? add(String(fourth), '@caller:hs.example', seen.json)
      const isNew = !transactions.has(String(fifth))
      transactions.set(String(fifth), id)
      sendJson(response, 200, { event_id: id })
      if (isNew) server.onEvent(seen.json, (content, sender = AGENT) => void add('agent.reply', sender, content))
      return
    }
    sendJson(response, 404, { errcode: 'M_NOT_FOUND', error: 'Room alias not found' })
  })
  const server: Homeserver = {
    url: host.url,
    room,
    token,
    seen: host.seen,
    failure: undefined,
    onEvent: () => {},
    close: host.close,
  }
  return server
}
