import type { IncomingMessage, ServerResponse } from 'node:http'
import { REQUEST_HEADERS, RESPONSE_HEADERS } from '../agents/forward-call.js'

const EXPOSED = [...RESPONSE_HEADERS, 'location'].join(', ')
const ALLOWED = [...REQUEST_HEADERS, 'authorization'].join(', ')
/** Seconds for which a browser caches a preflight. Consent is still checked on every call. */
const MAX_AGE = '600'

/** Allows the page to read the response. Cookies stay out: `Access-Control-Allow-Credentials` is never sent. */
export function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', EXPOSED)
  response.setHeader('vary', 'Origin')
}

/** Whether this is a CORS preflight, which also carries the Private Network Access check. */
export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

/** Accepts every preflight: permissions are checked on the request itself, where the page can read the error. */
export function sendPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  const isPrivateNetworkRequest = headers['access-control-request-private-network'] === 'true'
  response
    .writeHead(204, {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': ALLOWED,
      'access-control-max-age': MAX_AGE,
      ...(isPrivateNetworkRequest && { 'access-control-allow-private-network': 'true' }),
    })
    .end()
}
