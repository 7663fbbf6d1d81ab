import { AgentError } from '../errors.js'

/**
 * Rejects calls from web pages of other origins. Browsers send simple requests without a preflight, so an agent on this
 * machine, or one that authenticates by client certificate, must check where they come from.
 */
export function checkOrigin(origin: string | null, origins: readonly string[], base: string): void {
  if (origin === null || isAllowedOrigin(origin, origins)) return
  if (URL.canParse(base) && new URL(base).origin === origin) return
  throw new AgentError(
    'permission_denied',
    `web pages of ${origin.slice(0, 100)} may not call this agent: add it to the option origins`,
  )
}

/** Response headers that web pages may read. */
const EXPOSED = 'Location, Retry-After, X-Agent-Version, X-Output-Valid, X-Request-ID, X-Session-ID, X-Task-ID'

/** Whether the option `origins` lists an origin. */
export const isAllowedOrigin = (origin: string | null, origins: readonly string[]): boolean =>
  origin !== null && (origins.includes(origin) || origins.includes('*'))

export const isPreflight = ({ method, headers }: Request): boolean =>
  method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')

export function preflight({ headers }: Request, origins: readonly string[]): Response {
  const origin = headers.get('origin')
  // Without CORS headers the browser does not send the request.
  if (!isAllowedOrigin(origin, origins)) return new Response(null, { status: 204 })
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': origin ?? '',
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': headers.get('access-control-request-headers') ?? '',
      'access-control-max-age': '600',
      vary: 'Origin',
    },
  })
}

export function allowOrigin({ headers }: Request, response: Response, origins: readonly string[]): void {
  const origin = headers.get('origin')
  if (!isAllowedOrigin(origin, origins) || response.headers.has('access-control-allow-origin')) return
  response.headers.set('access-control-allow-origin', origin ?? '')
  response.headers.set('access-control-expose-headers', EXPOSED)
  response.headers.append('vary', 'Origin')
}
