import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** A request to upgrade the connection to a WebSocket. */
export interface Upgrade {
  readonly message: IncomingMessage
  /** Bytes that arrived after the request. */
  readonly head: Buffer
  /** Detaches the connection from its HTTP response. */
  release(): void
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

export const upgradeOf = (message: IncomingMessage): Upgrade | undefined => upgrades.get(message)

/** Paths of calls to agents. */
const CALL_PATHS = /^(\/v[01])?\/agents\/[^/?]+\/[^?]+/

/**
 * Routes WebSocket upgrades on the paths of calls as POST requests, so that they pass the same checks. Any other upgrade
 * is ignored, and the request is served without it.
 */
export function routeUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (message: IncomingMessage, _: unknown, head: Buffer) => {
    if (message.headers.upgrade?.toLowerCase() !== 'websocket' || !CALL_PATHS.test(message.url ?? '')) {
      serveWithoutUpgrade(app.server, message, head)
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
    // The client disconnected before the response.
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

/** Headers of an upgrade, which are also options of `Connection`. */
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['http2-settings', 'upgrade'])

/**
 * Serves a request without its upgrade, which a server may ignore (RFC 9110 §7.8): the HTTP client of Java requests h2c by
 * default. Node stops parsing after the headers of an upgrade, so they are written back and the connection is parsed anew.
 */
function serveWithoutUpgrade(server: Server, message: IncomingMessage, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders, socket } = message
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2)
    const isConnection = name.toLowerCase() === 'connection'
    if (!UPGRADE_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${isConnection ? withoutUpgrade(value) : value}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
}

const withoutUpgrade = (connection: string): string =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !UPGRADE_HEADERS.has(option.toLowerCase()))
    .join(', ')
