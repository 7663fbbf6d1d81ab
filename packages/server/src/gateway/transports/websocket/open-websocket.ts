import type { Socket } from 'node:net'
import { isWholeMessage } from '@switchboard/protocol'
import { WebSocket } from 'ws'
import type { Dial } from '../../connection/dial.js'
import { type AgentCall, type Endpoint, GatewayError } from '../../gateway.js'
import type { GatewayOptions } from '../../gateway-options.js'
import { outgoingHeaders } from '../../http/outgoing-headers.js'
import { createResponseBody, type ResponseBody } from '../../http/response-body.js'
import { reasonOf } from '../../http/send-request.js'
import { patienceOf } from '../../patience.js'

export interface WebSocketDeps {
  readonly dial: Dial
  readonly limits: Pick<
    GatewayOptions,
    'firstByteMs' | 'silenceMs' | 'maxBodyBytes' | 'maxPartBytes' | 'maxHeaderBytes'
  >
}

/** A socket after its handshake: what it says, and how to speak to it. Cancelling the body closes it. */
export interface OpenedSocket {
  readonly body: ResponseBody
  send(text: string): void
}

/** Opens a socket past the guard; gives the status by which the agent refused it, if it did. */
export async function openWebSocket(
  { signal, headers, wantsStream, timeoutMs }: AgentCall,
  endpoint: Endpoint,
  deps: WebSocketDeps,
): Promise<OpenedSocket | number> {
  const { silenceMs, firstByteMs, maxBodyBytes, maxHeaderBytes } = deps.limits
  const url = new URL(endpoint.url)
  url.hash = ''
  const sent = outgoingHeaders(Object.entries(headers))
  const connection = await dialUnlessAborted(deps.dial, url, signal)
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      createConnection: (): Socket => connection,
      headers: sent,
      followRedirects: false,
      handshakeTimeout: firstByteMs,
      maxPayload: maxBodyBytes,
      perMessageDeflate: false, // a small message could become a large one
      autoPong: false, // an agent that asks and does not read would fill the memory with answers
      maxHeaderSize: maxHeaderBytes,
    })
    let body: ResponseBody | undefined
    let failure: GatewayError | undefined
    let isAtLineStart = true

    const fail = (error: GatewayError): void => {
      if (failure) return
      failure = error
      signal.removeEventListener('abort', onAbort)
      if (body) body.fail(error)
      else reject(error)
      // Who has all that was wanted says goodbye; the agent may be slow to answer it.
      if (body && error.code === 'cancelled' && !signal.aborted) {
        socket.resume()
        socket.close(NORMAL)
        setTimeout(() => socket.terminate(), GOODBYE_MS).unref()
      } else {
        socket.terminate()
        connection.destroy()
      }
    }
    const onAbort = (): void => fail(reasonOf(signal, body !== undefined))
    signal.addEventListener('abort', onAbort)

    socket.on('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0
      if (status < 400) {
        return fail(new GatewayError('bad_response', `the agent answers the handshake of WebSocket with ${status}`))
      }
      resolve(status)
      fail(new GatewayError('bad_response', 'refused'))
    })
    socket.on('open', () => {
      body = createResponseBody({
        silenceMs: Math.max(silenceMs, patienceOf({ wantsStream, timeoutMs })),
        pause: () => socket.pause(),
        resume: () => socket.resume(),
        cancel: fail,
      })
      resolve({ body, send: (text) => socket.send(text) })
    })
    socket.on('message', (data) => {
      const bytes = Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
      const isWhole = isAtLineStart && isWholeMessage(bytes.toString())
      body?.push(isWhole ? Buffer.concat([bytes, NEWLINE]) : bytes)
      if (bytes.length > 0) isAtLineStart = isWhole || bytes.at(-1) === NEWLINE[0]
    })
    socket.on('ping', (data) => {
      if (socket.bufferedAmount < MAX_PONGS) socket.pong(data)
    })
    socket.on('error', (cause) => fail(translate(cause, body !== undefined)))
    socket.on('close', (code) => {
      if (code !== NORMAL && code !== NO_STATUS) {
        return fail(new GatewayError('bad_response', `the agent closed the socket (${code})`, { mayHaveRun: true }))
      }
      signal.removeEventListener('abort', onAbort)
      body?.end()
    })
  })
}

const NEWLINE = Buffer.from('\n')
/** Codes of RFC 6455 §7.4: done, and closed without a word, which many servers mean by it. */
const NORMAL = 1000
const NO_STATUS = 1005
/** Bytes of signs of life that wait to be sent; an agent that does not read them does not miss them. */
const MAX_PONGS = 65_536
/** Milliseconds for the agent to close after us. */
const GOODBYE_MS = 1000

function dialUnlessAborted(dial: Dial, url: URL, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(reasonOf(signal, false))
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort)
    dial(url).then(
      (connection) => {
        signal.removeEventListener('abort', onAbort)
        if (signal.aborted) connection.destroy()
        else resolve(connection)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort)
        reject(error)
      },
    )
  })
}

function translate(cause: Error, isOpen: boolean): GatewayError {
  const code = 'code' in cause ? String(cause.code) : ''
  const options = { mayHaveRun: isOpen, cause }
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
    return new GatewayError('too_large', 'a message of the agent is too large', options)
  }
  if (code.startsWith('WS_ERR_') || code.startsWith('HPE_') || isOpen) {
    return new GatewayError('bad_response', 'the agent does not speak WebSocket as it should', options)
  }
  const isLate = cause.message === 'Opening handshake has timed out'
  return new GatewayError(isLate ? 'timeout' : 'unreachable', 'the WebSocket could not be opened', options)
}
