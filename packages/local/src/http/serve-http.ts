import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { JsonValue } from '@switchboard/protocol'
import { LIMITS } from '../limits.js'
import { LocalError, toProblem } from '../local-error.js'

/** Handles one request. A thrown error becomes the response, unless one has been started. */
export type RequestHandler = (message: IncomingMessage, response: ServerResponse) => Promise<void>

/** Creates an HTTP server with this package's limits; it does not listen yet. */
export function serveHttp(handle: RequestHandler, onError: (error: unknown) => void): Server {
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

/** Responds with JSON. */
export function sendJson(response: ServerResponse, status: number, value: JsonValue, type = 'application/json'): void {
  const body = Buffer.from(JSON.stringify(value))
  response.writeHead(status, { ...SAFE_HEADERS, 'content-type': type, 'content-length': body.length }).end(body)
}

/** No response is cached, or interpreted as another media type than it declares. */
export const SAFE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

function sendError(message: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const known =
    error instanceof LocalError ? error : new LocalError('internal_error', 'internal error in the local runtime')
  // Do not read the rest of a body that has been rejected.
  if (!message.complete) response.setHeader('connection', 'close')
  sendJson(response, known.status, toProblem(known), 'application/problem+json')
}

/** The path in decoded segments, and the query parameters. */
export function readUrl({ url = '/' }: IncomingMessage): {
  readonly path: readonly string[]
  readonly query: URLSearchParams
} {
  const [pathname = '/', query = ''] = url.split('?', 2)
  if (!pathname.startsWith('/')) throw new LocalError('invalid_input', 'the request target must start with "/"')
  const path = pathname.split('/').slice(1)
  try {
    return { path: path.map(decodeURIComponent), query: new URLSearchParams(query) }
  } catch (cause) {
    throw new LocalError('invalid_input', 'the path is not valid percent-encoding', { cause })
  }
}

/** Stops accepting connections, waits for open ones, and closes those left after the grace period. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const forced = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(forced)
}
