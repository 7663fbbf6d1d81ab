import { ClientError } from '../../errors.js'
import type { Deadline } from '../deadline.js'
import { runsInNode } from '../runtime.js'

/** An open WebSocket, as far as it is needed here. */
export interface TextSocket {
  send(text: string): void
  close(): void
  /** Stops reading until `resume`, where the platform can do that. */
  pause?(): void
  resume?(): void
}

/** What a socket tells its owner. */
export interface SocketEvents {
  onText(text: string): void
  /** Once, whether it was closed from here or there. 1000 and 1005 are ends as they should be. */
  onClose(code: number): void
  /** Something came that cannot be used; the socket is closed then. */
  onError(error: ClientError): void
}

export interface SocketRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Bytes of a message. */
  readonly maxBytes: number
  readonly deadline: Deadline
  readonly events: SocketEvents
}

export type OpenSocket = (request: SocketRequest) => Promise<TextSocket>

/** Whom a TLS connection trusts and who it says it is, as PEM; Node only. */
export interface SocketTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** Opens sockets with what the platform has: `ws` in Node, which knows headers and limits, else WebSocket. */
export function createSocketOpener(tls?: SocketTls): OpenSocket {
  return async (request) => {
    if (!runsInNode()) return openInBrowser(request)
    const { openInNode } = await import('./open-socket.node.js')
    return openInNode(request, tls)
  }
}

/** With the WebSocket of the platform, which knows neither headers nor limits nor how to wait for a slow reader. */
export async function openInBrowser({ url, headers, maxBytes, deadline, events }: SocketRequest): Promise<TextSocket> {
  if (Object.keys(headers).length > 0) {
    throw new ClientError('unsupported_transport', 'browsers send no credentials with a WebSocket: use https')
  }
  const socket = newWebSocket(url)
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new ClientError('unreachable', `${url} opens no WebSocket`)))
  })
  try {
    await deadline.race(opened)
  } catch (error) {
    socket.close()
    throw error
  }
  socket.addEventListener('message', ({ data }) => {
    // A character is at least a byte.
    if (typeof data === 'string' && data.length <= maxBytes) events.onText(data)
    else {
      events.onError(new ClientError('bad_response', 'the agent sends bytes, or more text than is taken'))
      socket.close()
    }
  })
  socket.addEventListener('close', ({ code }) => events.onClose(code))
  return { send: (text) => socket.send(text), close: () => socket.close(1000) }
}

function newWebSocket(url: string): WebSocket {
  if (typeof WebSocket === 'undefined') {
    throw new ClientError('unsupported_transport', 'this platform has no WebSocket: use https')
  }
  try {
    return new WebSocket(url)
  } catch (cause) {
    // A page served by https may open no ws: URL, for one.
    throw new ClientError('unreachable', `${url} opens no WebSocket`, { cause, url })
  }
}
