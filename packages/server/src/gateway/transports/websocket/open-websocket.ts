import type { Socket } from 'node:net'
import { isWholeMessage } from '@switchboard/protocol'
import { WebSocket } from 'ws'
import type { CancelSignal } from '../../../cancellation.js'
import type { Dial } from '../../connection/dial.js'
import { type AgentCall, type Endpoint, GatewayError } from '../../gateway.js'
import type { GatewayOptions } from '../../gateway-options.js'
import { outgoingHeaders } from '../../http/outgoing-headers.js'
import { createResponseBody, type ResponseBody, type WritableBody } from '../../http/response-body.js'
import { silenceLimitOf } from '../../resilience/deadline.js'
import { abortError, unlessAborted } from '../../resilience/with-timeout.js'

export interface WebSocketDeps {
  readonly dial: Dial
  readonly limits: Pick<
    GatewayOptions,
    'firstByteMs' | 'silenceMs' | 'maxBodyBytes' | 'maxPartBytes' | 'maxResponseValues' | 'maxHeaderBytes'
  >
}

/** A socket after the handshake. Cancelling the body closes it. */
export interface OpenedSocket {
  readonly body: ResponseBody
  send(text: string): void
  /** Sends the last line and closes the socket. */
  leave(): void
}

/**
 * Opens a WebSocket through the address guard. If the agent rejects the handshake, the result is its HTTP status.
 *
 * @param lastLine cancels the call; sent before the socket is closed because the call was aborted
 */
export async function openWebSocket(
  call: AgentCall,
  endpoint: Endpoint,
  deps: WebSocketDeps,
  lastLine: string,
): Promise<OpenedSocket | number> {
  const { signal } = call
  const { firstByteMs, maxBodyBytes, maxHeaderBytes } = deps.limits
  // Not in the listeners below, which would keep the call, and with it the input, as long as the socket is open.
  const silenceMs = Math.max(deps.limits.silenceMs, silenceLimitOf(call))
  const url = new URL(endpoint.url)
  url.hash = ''
  const headers = outgoingHeaders(call.headers)
  const connection = await dialUnlessAborted(deps.dial, url, signal)
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      createConnection: (): Socket => connection,
      headers,
      followRedirects: false,
      maxPayload: maxBodyBytes,
      perMessageDeflate: false, // a small message could inflate to a large one
      autoPong: false, // pongs to an agent that does not read them would fill the memory
      maxHeaderSize: maxHeaderBytes,
    })
    let body: WritableBody | undefined
    let failure: GatewayError | undefined
    let isAtLineStart = true

    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
    const fail = (error: GatewayError): void => {
      if (failure) return
      failure = error
      settle()
      if (body) body.fail(error)
      else reject(error)
      // Close cleanly, and give the agent some time to do the same.
      if (body && socket.readyState === WebSocket.OPEN && (error.code === 'cancelled' || signal.aborted)) {
        socket.resume()
        if (signal.aborted) socket.send(lastLine)
        socket.close(NORMAL)
        setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref()
      } else {
        socket.terminate()
        connection.destroy()
      }
    }
    const onAbort = (): void => fail(abortError(signal, body !== undefined))
    signal.addEventListener('abort', onAbort)
    // Not the option handshakeTimeout of ws: it has no effect on a connection that is already open.
    const timer = setTimeout(
      () => fail(new GatewayError('timeout', `no WebSocket handshake within ${firstByteMs} ms`)),
      firstByteMs,
    )

    socket.on('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0
      if (status < 400) {
        return fail(new GatewayError('bad_response', `the WebSocket handshake failed with the status ${status}`))
      }
      resolve(status)
      fail(new GatewayError('bad_response', 'the agent rejected the WebSocket handshake'))
    })
    socket.on('open', () => {
      clearTimeout(timer)
      body = createResponseBody({
        silenceMs,
        pause: () => socket.pause(),
        resume: () => socket.resume(),
        cancel: fail,
      })
      resolve({
        body,
        send: (text) => socket.send(text),
        leave() {
          if (socket.readyState === WebSocket.OPEN) socket.send(lastLine)
          body?.cancel()
        },
      })
    })
    socket.on('message', (data) => {
      const bytes = Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
      const isWhole = isAtLineStart && isWholeMessage(bytes.toString())
      body?.push(isWhole ? Buffer.concat([bytes, NEWLINE]) : bytes)
      if (bytes.length > 0) isAtLineStart = isWhole || bytes.at(-1) === NEWLINE[0]
    })
    socket.on('ping', (data) => {
      if (socket.bufferedAmount < MAX_BUFFERED_PONGS) socket.pong(data)
    })
    socket.on('error', (cause) => fail(translate(cause, body !== undefined)))
    socket.on('close', (code) => {
      if (code !== NORMAL && code !== NO_STATUS) {
        const message = `the agent closed the WebSocket with the code ${code}`
        return fail(new GatewayError('bad_response', message, { mayHaveRun: true }))
      }
      settle()
      body?.end()
    })
  })
}

const NEWLINE = Buffer.from('\n')
/** Close codes of RFC 6455 §7.4; many servers send no code when they mean a normal end. */
const NORMAL = 1000
const NO_STATUS = 1005
/** Bytes waiting to be sent above which pings are not answered. */
const MAX_BUFFERED_PONGS = 65_536
/** Milliseconds for the agent to answer our close frame. */
const CLOSE_TIMEOUT_MS = 1000

async function dialUnlessAborted(dial: Dial, url: URL, signal: CancelSignal): Promise<Socket> {
  if (signal.aborted) throw abortError(signal, false)
  const dialing = dial(url)
  try {
    return await unlessAborted(dialing, signal)
  } catch (error) {
    dialing.then(
      (connection) => connection.destroy(),
      () => {}, // the same error, or nobody waits for it
    )
    throw error
  }
}

function translate(cause: Error, isOpen: boolean): GatewayError {
  const code = 'code' in cause ? String(cause.code) : ''
  const options = { mayHaveRun: isOpen, cause }
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
    return new GatewayError('too_large', 'a WebSocket message of the agent is too large', options)
  }
  if (code.startsWith('WS_ERR_') || code.startsWith('HPE_') || isOpen) {
    return new GatewayError('bad_response', 'the agent violates the WebSocket protocol', options)
  }
  return new GatewayError('unreachable', 'the WebSocket could not be opened', options)
}
