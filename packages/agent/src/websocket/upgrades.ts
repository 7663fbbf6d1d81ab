import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Authenticator } from '../auth/authenticate.js'
import { AgentError, problemOf, toAgentError } from '../errors.js'
import { checkOrigin } from '../http/cors.js'
import { credentialsOf } from '../http/credentials.js'
import type { Place } from '../http/exchange.js'
import { segmentsBelow, targetOf } from '../http/route-path.js'
import { toRequest } from '../node/to-request.js'
import { type ServedSocket, type SocketDeps, serveSocket } from './serve-socket.js'

/** Sockets at once. */
const MAX_SOCKETS = 1000
/** Milliseconds that calls in progress get when the agent stops. */
const GRACE_MS = 5000

export interface UpgradeDeps extends SocketDeps {
  readonly authenticator: Authenticator
  readonly origins: readonly string[]
}

/** Turns connections into WebSockets on the paths where capabilities are called. */
export interface Upgrades {
  handle(message: IncomingMessage, socket: Duplex, head: Buffer, place: Place): Promise<void>
  close(): void
}

export function createUpgrades(deps: UpgradeDeps): Upgrades {
  // Compressed, a small message could become a large one.
  const server = new WebSocketServer({ noServer: true, maxPayload: deps.maxLineLength, perMessageDeflate: false })
  const served = new Set<ServedSocket>()
  const admit = async (message: IncomingMessage, place: Place) => {
    const request = toRequest(message, new AbortController().signal)
    const url = new URL(request.url)
    const path = segmentsBelow(url.pathname, place.basePath ?? '')
    if (!path) throw new AgentError('not_found', 'there is no such path')
    const target = targetOf(path)
    if (server.clients.size >= MAX_SOCKETS) throw new AgentError('unavailable', 'too many sockets', { retryAfter: 5 })
    // CORS does not apply to WebSockets, so the origin is checked here.
    checkOrigin(request.headers.get('origin'), deps.origins, place.baseUrl ?? '')
    const caller = await deps.authenticator.authenticate(credentialsOf({ request, place }))
    const { capabilities } = deps.versions.choose(target.version)
    if (target.capability !== undefined && !capabilities.has(target.capability)) {
      throw new AgentError(
        'capability_not_found',
        `The requested capability '${target.capability.slice(0, 100)}' was not found.`,
      )
    }
    return { caller, base: place.baseUrl ?? '', target, headers: request.headers }
  }
  return {
    async handle(message, socket, head, place) {
      socket.on('error', () => socket.destroy())
      try {
        const admitted = await admit(message, place)
        server.handleUpgrade(message, socket, head, (accepted) => {
          const one = serveSocket(accepted, deps, admitted)
          served.add(one)
          accepted.on('close', () => served.delete(one))
        })
      } catch (error) {
        refuse(socket, toAgentError(error), deps.newId())
      }
    },
    close() {
      for (const socket of served) socket.leave()
      setTimeout(() => {
        for (const socket of server.clients) socket.terminate()
      }, GRACE_MS).unref()
    },
  }
}

/** The handshake is plain HTTP until it has succeeded, and so is its failure. */
function refuse(socket: Duplex, error: AgentError, requestId: string): void {
  const body = JSON.stringify(problemOf(error, { instance: '/', requestId }))
  const headers = { 'content-type': 'application/problem+json', ...error.headers }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [`HTTP/1.1 ${error.status} Refused`, ...lines, `content-length: ${Buffer.byteLength(body)}`]
  socket.end(`${[...head, 'connection: close'].join('\r\n')}\r\n\r\n${body}`)
}
