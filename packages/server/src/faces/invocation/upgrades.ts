import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** A connection that wants to go on as a WebSocket. */
export interface Upgrade {
  readonly message: IncomingMessage
  /** What came after the request already. */
  readonly head: Buffer
  /** Takes the connection out of HTTP. */
  release(): void
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

export const upgradeOf = (message: IncomingMessage): Upgrade | undefined => upgrades.get(message)

/** Paths on which agents are called. */
const CALLS = /^(\/v[01])?\/agents\/[^/?]+\/[^?]+/

/**
 * Sends requests to become a WebSocket through the same routes as all others, so that the same checks guard them: one
 * for an agent goes as the POST that it stands for. Others are answered as if they had not asked.
 */
export function routeUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (message: IncomingMessage, _: unknown, head: Buffer) => {
    if (message.headers.upgrade?.toLowerCase() !== 'websocket' || !CALLS.test(message.url ?? '')) {
      serveWithout(app.server, message, head)
      return
    }
    const { socket } = message
    const response = new ServerResponse(message)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.on('finish', () => {
      response.detachSocket(socket)
      socket.end()
    })
    // Gone before it was answered.
    socket.on('error', () => socket.destroy())
    const release = (): void => {
      response.detachSocket(socket)
      message.method = 'GET'
    }
    upgrades.set(message, { message, head, release })
    message.method = 'POST'
    app.routing(message, response)
  })
}

/** Headers that belong to the wish. */
const WISH: ReadonlySet<string> = new Set(['http2-settings', 'upgrade'])

/**
 * Serves a request without its wish to upgrade, which may be passed over (RFC 9110 §7.8): HTTP clients of Java wish for
 * h2c by default. Node has stopped reading at the headers, so the connection begins anew with them.
 */
function serveWithout(server: Server, message: IncomingMessage, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders, socket } = message
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2)
    const isConnection = name.toLowerCase() === 'connection'
    if (!WISH.has(name.toLowerCase())) lines.push(`${name}: ${isConnection ? withoutWish(value) : value}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
}

const withoutWish = (connection: string): string =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !WISH.has(option.toLowerCase()))
    .join(', ')
