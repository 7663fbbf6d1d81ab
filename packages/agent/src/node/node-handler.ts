import type { IncomingMessage, ServerResponse } from 'node:http'
import { isLoopbackHost } from '@switchboard/protocol'
import { certificateSubject } from '../auth/client-certificate.js'
import { AgentError, toAgentError } from '../errors.js'
import { answerError } from '../http/answer.js'
import type { Place } from '../http/exchange.js'
import type { Respond } from '../http/respond.js'
import { sendResponse } from './send-response.js'
import { toRequest } from './to-request.js'

export interface NodeHandlerOptions {
  readonly respond: Respond
  readonly place: () => Place
  /** Only requests for this machine are answered: a name that a page made to mean it is none of its own. */
  readonly loopbackOnly: boolean
  readonly behindProxy?: boolean
  readonly onError: (error: unknown) => void
}

/** What a connection itself says of its caller; behind a proxy, what the proxy says. */
export function placeOf({ socket, headers }: IncomingMessage, place: Place, behindProxy = false): Place {
  const certificate = certificateSubject(socket)
  // The last one is the proxy's own word; those before it are whatever the caller wrote.
  const forwarded = behindProxy ? [headers['x-forwarded-for']].flat().at(-1)?.split(',').at(-1)?.trim() : undefined
  const address = forwarded || socket.remoteAddress || 'local'
  return { ...place, address, ...(certificate !== undefined && { certificate }) }
}

/** Throws where a request was sent to another host than this one (DNS rebinding). */
export function checkHost({ headers }: IncomingMessage, loopbackOnly: boolean): void {
  const host = (headers.host ?? 'localhost').replace(/:\d+$/, '')
  if (loopbackOnly && !isLoopbackHost(host)) {
    throw new AgentError('misdirected', 'this agent answers for localhost only: give it its public url')
  }
}

/** Listens for requests of Node's servers. */
export function createNodeHandler(options: NodeHandlerOptions) {
  const { respond, place, loopbackOnly, behindProxy, onError } = options
  return (message: IncomingMessage, response: ServerResponse): void => {
    const leaving = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) leaving.abort()
    })
    const answer = async (): Promise<Response> => {
      try {
        checkHost(message, loopbackOnly)
        return await respond(toRequest(message, leaving.signal), placeOf(message, place(), behindProxy))
      } catch (error) {
        return answerError(toAgentError(error), { instance: '/', requestId: '' })
      }
    }
    answer()
      .then((answered) => {
        // A caller who goes on sending what nobody reads is not waited for.
        if (!message.complete) answered.headers.set('connection', 'close')
        return sendResponse(answered, response)
      })
      .catch((error: unknown) => {
        if (!leaving.signal.aborted) onError(error)
        response.destroy()
      })
  }
}
