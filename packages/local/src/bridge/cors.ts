import type { IncomingMessage, ServerResponse } from 'node:http'
import { FROM_AGENT, TO_AGENT } from '../agents/forward-call.js'

const EXPOSED = [...FROM_AGENT, 'location'].join(', ')
const ALLOWED = [...TO_AGENT, 'authorization'].join(', ')
/** Seconds that a browser remembers the answer to its question. Consent is asked about with each call all the same. */
const MAX_AGE = '600'

/** Lets the page read the answer. Cookies are not let through: `allow-credentials` is never said. */
export function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', EXPOSED)
  response.setHeader('vary', 'Origin')
}

/** The browser's question before a request, also whether a public page may reach into this computer at all. */
export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

/** Says yes to every page: it is then told why its request is refused. What it may do is decided there. */
export function answerPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  const asksForNetwork = headers['access-control-request-private-network'] === 'true'
  response
    .writeHead(204, {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': ALLOWED,
      'access-control-max-age': MAX_AGE,
      ...(asksForNetwork && { 'access-control-allow-private-network': 'true' }),
    })
    .end()
}
