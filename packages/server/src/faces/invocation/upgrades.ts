import { type IncomingMessage, ServerResponse } from 'node:http'
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
    if (message.headers.upgrade?.toLowerCase() === 'websocket' && CALLS.test(message.url ?? '')) {
      const release = (): void => {
        response.detachSocket(socket)
        message.method = 'GET'
      }
      upgrades.set(message, { message, head, release })
      message.method = 'POST'
    }
    app.routing(message, response)
  })
}
