import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { networkOf } from '../policy/caller.js'

export interface ConnectionLimits {
  /** Open connections in total. */
  readonly max: number
  /** Open connections of one address; undefined behind a proxy, whose address is that of all clients. */
  readonly maxPerAddress: number | undefined
  /** Milliseconds in which a client must accept some of a response that is waiting for it. */
  readonly stallTimeoutMs: number
}

/** Milliseconds between log lines about refused connections: under attack there may be thousands in a second. */
const LOG_INTERVAL_MS = 10_000

/**
 * Refuses connections beyond the limits, and closes those of clients that do not read their responses, streams included: each
 * would hold memory for as long as it likes. Returns a function that counts the open connections.
 */
export function limitConnections(server: HttpServer, limits: ConnectionLimits, log: FastifyBaseLogger): () => number {
  const { max, maxPerAddress = Number.POSITIVE_INFINITY } = limits
  const open = new Map<Socket, string>()
  const perNetwork = new Map<string, number>()
  const logRefused = createRefusalLog(log)

  server.on('connection', (socket: Socket) => {
    // A connection whose request is parsed again, without its upgrade, comes here twice.
    if (open.has(socket)) return
    const network = networkOf(socket.remoteAddress ?? '')
    const count = (perNetwork.get(network) ?? 0) + 1
    if (open.size >= max || count > maxPerAddress) {
      logRefused(open.size >= max ? 'in total' : 'of one address', network)
      socket.destroy()
      return
    }
    open.set(socket, network)
    perNetwork.set(network, count)
    socket.once('close', () => {
      open.delete(socket)
      const left = (perNetwork.get(network) ?? 0) - 1
      if (left > 0) perNetwork.set(network, left)
      else perNetwork.delete(network)
    })
  })
  closeStalled(server, limits.stallTimeoutMs, log)
  return () => open.size
}

/** Node's socket timeout starts again whenever bytes are sent or received; what remains to be decided is what its end means. */
function closeStalled(server: HttpServer, timeoutMs: number, log: FastifyBaseLogger): void {
  /** Sockets with a request whose response is not complete: if nothing waits to be sent, the client is not the cause. */
  const answering = new WeakMap<Socket, number>()
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.set(socket, (answering.get(socket) ?? 0) + 1)
    response.once('close', () => answering.set(socket, (answering.get(socket) ?? 1) - 1))
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => answering.set(socket, Number.POSITIVE_INFINITY))
  server.setTimeout(timeoutMs, (socket: Socket) => {
    const isStalled = socket.writableLength > 0
    if (isStalled) {
      const { remoteAddress: address, writableLength: waitingBytes } = socket
      log.warn({ address, waitingBytes }, 'a client does not read its response: its connection was closed')
    }
    if (isStalled || (answering.get(socket) ?? 0) === 0) socket.destroy()
  })
}

/** Logs the first refused connection at once, and how many more there were at intervals. */
function createRefusalLog(log: FastifyBaseLogger): (limit: string, address: string) => void {
  let refused = 0
  let timer: NodeJS.Timeout | undefined
  const write = (limit: string, address: string): void => {
    log.warn({ limit, address, refused }, 'connections were refused: the limit of open connections is reached')
    refused = 0
  }
  return (limit, address) => {
    refused++
    if (timer) return
    write(limit, address)
    timer = setTimeout(() => {
      timer = undefined
      if (refused > 0) write(limit, address)
    }, LOG_INTERVAL_MS).unref()
  }
}
