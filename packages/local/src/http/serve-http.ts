import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { JsonValue } from '@switchboard/protocol'
import { LIMITS } from '../limits.js'
import { LocalError, problemOf } from '../local-error.js'

/** Answers one request; what it throws becomes the answer, if none has begun. */
export type Handle = (message: IncomingMessage, response: ServerResponse) => Promise<void>

/** An HTTP server with this package's limits, which does not listen yet. */
export function serveHttp(handle: Handle, onError: (error: unknown) => void): Server {
  const server = createServer(
    { headersTimeout: LIMITS.requestMs, requestTimeout: LIMITS.requestMs, maxHeaderSize: LIMITS.headerBytes },
    (message, response) => {
      handle(message, response).catch((error: unknown) => {
        if (!(error instanceof LocalError)) onError(error)
        sendError(message, response, error)
      })
    },
  )
  server.maxConnections = LIMITS.connections
  return server
}

export function sendJson(response: ServerResponse, status: number, value: JsonValue, type = 'application/json'): void {
  const body = Buffer.from(JSON.stringify(value))
  response.writeHead(status, { ...SAFE, 'content-type': type, 'content-length': body.length }).end(body)
}

/** Nobody keeps an answer, or takes it for something else than it says it is. */
export const SAFE = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

function sendError(message: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const told = error instanceof LocalError ? error : new LocalError('internal_error', 'the local runtime failed')
  // A caller who goes on sending what nobody reads is not waited for.
  if (!message.complete) response.setHeader('connection', 'close')
  sendJson(response, told.status, problemOf(told), 'application/problem+json')
}

/** Segments of the path, decoded one by one, and the parameters of the query. */
export function readTarget({ url = '/' }: IncomingMessage): {
  readonly path: readonly string[]
  readonly query: URLSearchParams
} {
  const [pathname = '/', query = ''] = url.split('?', 2)
  if (!pathname.startsWith('/')) throw new LocalError('invalid_input', 'the request names no path')
  const path = pathname.split('/').slice(1)
  try {
    return { path: path.map(decodeURIComponent), query: new URLSearchParams(query) }
  } catch (cause) {
    throw new LocalError('invalid_input', 'the path is not encoded as URLs are', { cause })
  }
}

/** Takes no more connections, and ends those that do not end by themselves. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(late)
}
