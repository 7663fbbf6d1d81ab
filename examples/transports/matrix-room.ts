import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { MATRIX_REPLY, MATRIX_REQUEST } from '@switchboard/client'
import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'

const ROOM = '!room:chat.example'

/** What an agent in the room does with the input of a call. */
export type Answer = (operation: string, input: JsonObject) => JsonValue

/** A homeserver with one room and one agent in it. In reality, a homeserver such as Synapse is in its place. */
export async function startMatrixRoom(answer: Answer) {
  const events: JsonObject[] = []
  const add = (type: string, sender: string, content: JsonObject): void => {
    events.push({ type, sender, content, event_id: `$${events.length}` })
  }

  const respond = async (request: IncomingMessage): Promise<JsonObject> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://chat.example')
    const path = decodeURIComponent(pathname.replace('/_matrix/client/v3/', ''))
    if (path.startsWith('directory/') || path.startsWith('join/')) return { room_id: ROOM }
    if (path === 'sync') {
      const news = events.slice(Number(searchParams.get('since') ?? events.length))
      return { next_batch: String(events.length), rooms: { join: { [ROOM]: { timeline: { events: news } } } } }
    }
    const content: unknown = await json(request)
    if (!isObject(content) || !isObject(content.input)) return {}
    add(MATRIX_REQUEST, '@caller:chat.example', content)
    const result = answer(String(content.operation), content.input)
    add(MATRIX_REPLY, '@agent:chat.example', { id: content.id ?? null, result })
    return { event_id: `$${events.length}` }
  }

  const server = createServer(async (request, response) => {
    const body = JSON.stringify(await respond(request))
    response.setHeader('content-type', 'application/json').end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    homeserver: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
