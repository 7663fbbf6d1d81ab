import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { DirectoryError, errorBody, toRequestId } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from './send-error.js'

/** How long a rejected client has to read the response before its connection is closed. */
const LINGER_MS = 1000

/** Reports a path that Fastify cannot parse, before any route or hook runs, in the usual error format (C-68). */
export function sendBadUrlError(
  error: { code: string },
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
): FastifyReply {
  const reason =
    error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? 'a segment of the path is too long to be an id'
      : 'the path is not valid percent-encoded UTF-8'
  reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
  return sendError(new DirectoryError('invalid_request', reason, { cause: error }), request, reply, baseUrl)
}

/** Reports a request that is not valid HTTP or too long; there is only a socket to write to. */
export function sendClientError(error: { code?: string }, socket: Duplex, baseUrl: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, message } = explain(error.code)
  const correlationId = toRequestId(undefined)
  const body = JSON.stringify({
    ...errorBody(new DirectoryError('invalid_request', message), { base: baseUrl, instance: '/', correlationId }),
    status,
  })
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      'Cache-Control: no-store',
      `X-Request-ID: ${correlationId}`,
      '',
      body,
    ].join('\r\n'),
  )
  // If the socket were closed immediately, a client that is still sending would see a reset instead of the response.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function explain(code: string | undefined): { status: number; message: string } {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, message: 'the URL and headers together are too long' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, message: 'the request was not received in time' }
  return { status: 400, message: 'this is not a valid HTTP request' }
}
