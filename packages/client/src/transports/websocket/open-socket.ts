import { ClientError } from '../../errors.js'
import type { Deadline } from '../deadline.js'
import { runsInNode } from '../runs-in-node.js'

/** The part of an open WebSocket that this package uses. */
export interface TextSocket {
  send(text: string): void
  close(): void
  /** Stops reading until `resume`; undefined if the platform cannot do that. */
  pause?(): void
  resume?(): void
}

/** Callbacks of a socket. */
export interface SocketEvents {
  onText(text: string): void
  /** Called once, whichever side closes. 1000 and 1005 are clean closes. */
  onClose(code: number): void
  /** An invalid message arrived; the socket is closed. */
  onError(error: ClientError): void
}

export interface SocketRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Maximum bytes of a message. */
  readonly maxBytes: number
  readonly deadline: Deadline
  readonly events: SocketEvents
}

export type OpenSocket = (request: SocketRequest) => Promise<TextSocket>

/** TLS settings as PEM: trusted CAs, client certificate and its key. Node only. */
export interface SocketTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** Opens sockets with `ws` in Node, which supports headers and limits, else with the platform's WebSocket. */
export function createSocketOpener(tls?: SocketTls): OpenSocket {
  return async (request) => {
    if (!runsInNode()) return openInBrowser(request)
    const { openInNode } = await import('./open-socket.node.js')
    return openInNode(request, tls)
  }
}

/** Opens a socket with the platform's WebSocket, which supports neither headers, size limits nor backpressure. */
export async function openInBrowser({ url, headers, maxBytes, deadline, events }: SocketRequest): Promise<TextSocket> {
  if (Object.keys(headers).length > 0) {
    throw new ClientError('unsupported_transport', 'browsers cannot send credentials with a WebSocket: use https')
  }
  const socket = newWebSocket(url)
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new ClientError('unreachable', `cannot open a WebSocket to ${url}`)))
  })
  try {
    await deadline.race(opened)
  } catch (error) {
    socket.close()
    throw error
  }
  socket.addEventListener('message', ({ data }) => {
    // Every character has at least one byte.
    if (typeof data === 'string' && data.length <= maxBytes) events.onText(data)
    else {
      events.onError(
        new ClientError('bad_response', `the agent sent a binary message or more than ${maxBytes} characters`),
      )
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
    // For example, a page served over https may not open ws: URLs.
    throw new ClientError('unreachable', `cannot open a WebSocket to ${url}`, { cause, url })
  }
}
