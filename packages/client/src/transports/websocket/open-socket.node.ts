import { WebSocket } from 'ws'
import { ClientError } from '../../errors.js'
import { toClientError } from '../problem.js'
import type { SocketRequest, SocketTls, TextSocket } from './open-socket.js'

/** Time in ms for the closing handshake before the connection is terminated. */
const CLOSE_MS = 1000

/** Opens a socket with `ws`: headers in the handshake, a message size limit, no compression, no redirects. */
export async function openInNode(request: SocketRequest, tls: SocketTls = {}): Promise<TextSocket> {
  const { url, headers, maxBytes, deadline, events } = request
  const socket = new WebSocket(url, {
    headers,
    maxPayload: maxBytes,
    perMessageDeflate: false,
    followRedirects: false,
    ...tls,
  })
  let isOpen = false
  const opened = new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      const message = `the WebSocket handshake failed with status ${statusCode}`
      reject(toClientError({ message }, { status: statusCode, url }))
      socket.terminate()
    })
    socket.on('error', (cause) => {
      const error = toError(cause, url)
      if (isOpen) events.onError(error)
      else reject(error)
    })
  })
  socket.on('close', (code) => {
    if (isOpen) events.onClose(code)
  })
  socket.on('message', (data, isBinary) => {
    if (!isBinary) return events.onText(String(data))
    events.onError(new ClientError('bad_response', 'the agent sent a binary message instead of JSON text'))
    socket.terminate()
  })
  try {
    await deadline.race(opened)
    isOpen = true
  } catch (error) {
    socket.terminate()
    throw error
  }
  return {
    send: (text) => socket.send(text),
    close() {
      socket.close(1000)
      setTimeout(() => socket.terminate(), CLOSE_MS).unref()
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  }
}

function toError(cause: Error, url: string): ClientError {
  const code = 'code' in cause ? String(cause.code) : ''
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
    return new ClientError('too_large', 'the agent sent a message that is too large', { cause, url })
  }
  if (code.startsWith('WS_ERR_')) {
    return new ClientError('bad_response', `the agent violated the WebSocket protocol (${code})`, { cause, url })
  }
  return new ClientError('unreachable', `the WebSocket connection to ${url} failed`, { cause, url })
}
