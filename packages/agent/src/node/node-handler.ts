import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { certificateSubject, isLoopbackHost } from '@switchboard/protocol'
import { AgentError, toAgentError } from '../errors.js'
import type { Place } from '../http/exchange.js'
import type { Respond } from '../http/respond.js'
import { errorResponse } from '../http/responses.js'
import { sendResponse } from './send-response.js'
import { toRequest } from './to-request.js'

export interface NodeHandlerOptions {
  readonly respond: Respond
  readonly place: () => Place
  /** Rejects requests for other hosts than localhost, so that no web page can reach the agent by DNS rebinding. */
  readonly loopbackOnly: boolean
  readonly behindProxy?: boolean
  readonly onError: (error: unknown) => void
}

/** Adds the caller's address, as the connection or a proxy reports it, and the subject of its client certificate. */
export function placeOf({ socket, headers }: IncomingMessage, place: Place, behindProxy = false): Place {
  const certificate = subjectOf(socket)
  // The proxy appends the last address; the caller can write anything before it.
  const forwarded = behindProxy ? [headers['x-forwarded-for']].flat().at(-1)?.split(',').at(-1)?.trim() : undefined
  const address = forwarded || socket.remoteAddress || 'local'
  return { ...place, address, ...(certificate !== undefined && { certificate }) }
}

/** The subject of a client certificate that the server's CA has issued. */
const subjectOf = (socket: Socket): string | undefined =>
  socket instanceof TLSSocket && socket.authorized ? certificateSubject(socket.getPeerCertificate()) : undefined

/** Rejects a request whose Host header names another machine (DNS rebinding). */
export function checkHost({ headers }: IncomingMessage, loopbackOnly: boolean): void {
  const host = (headers.host ?? 'localhost').replace(/:\d+$/, '')
  if (loopbackOnly && !isLoopbackHost(host)) {
    throw new AgentError('misdirected', 'this agent only serves localhost: set publicUrl to serve other hosts')
  }
}

/** The request listener for Node's HTTP servers. */
export function createNodeHandler(options: NodeHandlerOptions) {
  const { respond, place, loopbackOnly, behindProxy, onError } = options
  return (message: IncomingMessage, response: ServerResponse): void => {
    const leaving = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) leaving.abort()
    })
    const handle = async (): Promise<Response> => {
      try {
        checkHost(message, loopbackOnly)
        return await respond(toRequest(message, leaving.signal), placeOf(message, place(), behindProxy))
      } catch (error) {
        return errorResponse(toAgentError(error), { instance: '/', requestId: '' })
      }
    }
    handle()
      .then((result) => {
        // Does not wait for the rest of a body that nobody reads.
        if (!message.complete) result.headers.set('connection', 'close')
        return sendResponse(result, response)
      })
      .catch((error: unknown) => {
        if (!leaving.signal.aborted) onError(error)
        response.destroy()
      })
  }
}
