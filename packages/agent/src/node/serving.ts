import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { isLoopbackHost } from '@switchboard/protocol'
import { AgentError, toAgentError } from '../errors.js'
import type { Place } from '../http/exchange.js'
import type { Respond } from '../http/respond.js'
import { closeServer, createNodeServer, type ListenOptions, listenOnPort, listenOnSocket } from './listen.js'
import { checkHost, createNodeHandler, placeOf } from './node-handler.js'

/** Milliseconds that calls in progress get when the agent stops. */
const GRACE_MS = 5000

/** What a server can serve: an agent or an agent host. */
export interface Servable {
  readonly respond: Respond
  readonly upgrade: (message: IncomingMessage, socket: Duplex, head: Buffer, place: Place) => Promise<void>
}

/** The addresses after `listen`. */
export interface Listening {
  /** The public URL; undefined if the agent only listens on a Unix socket. */
  readonly url?: string
  /** The URL on this machine, with the bound port. */
  readonly address?: string
  readonly socket?: string
}

export interface Serving {
  listen(options: ListenOptions, publicUrl: string | undefined): Promise<Listening>
  /** For your own server. */
  handle(message: IncomingMessage, response: ServerResponse, publicUrl: string | undefined): void
  upgrade(message: IncomingMessage, socket: Duplex, head: Buffer, publicUrl: string | undefined): void
  close(): Promise<void>
}

/** Serves an agent or host with Node's servers. */
export function createServing({ respond, upgrade }: Servable, onError: (error: unknown) => void): Serving {
  const servers: Server[] = []

  const attach = (server: Server, place: () => Place, loopbackOnly: boolean, behindProxy: boolean): void => {
    server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
      try {
        checkHost(message, loopbackOnly)
      } catch (error) {
        socket.end(`HTTP/1.1 ${toAgentError(error).status} Refused\r\nconnection: close\r\n\r\n`)
        return
      }
      upgrade(message, socket, head, placeOf(message, place(), behindProxy)).catch(onError)
    })
    servers.push(server)
  }

  return {
    async listen(options, publicUrl) {
      const { socket, host = '127.0.0.1', port, behindProxy = false } = options
      const isSocketOnly = socket !== undefined && port === undefined && options.host === undefined
      let url: string | undefined
      if (!isSocketOnly) {
        if (behindProxy && publicUrl === undefined) {
          throw new AgentError(
            'invalid_definition',
            'behind a proxy the agent cannot know its own address: set publicUrl',
          )
        }
        // The URL is known before the first request arrives.
        const place = (): Place => ({ baseUrl: publicUrl ?? url ?? '' })
        const loopbackOnly = publicUrl === undefined && isLoopbackHost(host)
        const server = createNodeServer(
          options,
          createNodeHandler({ respond, place, loopbackOnly, behindProxy, onError }),
        )
        attach(server, place, loopbackOnly, behindProxy)
        url = await listenOnPort(server, options)
      }
      if (socket !== undefined) {
        const place = (): Place => ({ baseUrl: publicUrl ?? url ?? LOCAL })
        const handler = createNodeHandler({ respond, place, loopbackOnly: false, onError })
        attach(await listenOnSocket(socket, handler), place, false, false)
      }
      const known = publicUrl ?? url
      return {
        ...(known !== undefined && { url: known }),
        ...(url !== undefined && { address: url }),
        ...(socket !== undefined && { socket }),
      }
    },
    handle(message, response, publicUrl) {
      const place = (): Place => ({ baseUrl: publicUrl ?? ownOrigin(message) })
      createNodeHandler({ respond, place, loopbackOnly: false, onError })(message, response)
    },
    upgrade(message, socket, head, publicUrl) {
      const place = placeOf(message, { baseUrl: publicUrl ?? ownOrigin(message) })
      upgrade(message, socket, head, place).catch(onError)
    },
    async close() {
      await Promise.all(servers.splice(0).map((server) => closeServer(server, GRACE_MS)))
    },
  }
}

/** The host of requests over a Unix socket. */
const LOCAL = 'http://localhost'

/** The origin that the caller used, for agents without a known URL. */
function ownOrigin({ headers, socket }: IncomingMessage): string {
  const origin = `http${'encrypted' in socket ? 's' : ''}://${headers.host ?? 'localhost'}`
  return URL.canParse(origin) ? new URL(origin).origin : LOCAL
}
