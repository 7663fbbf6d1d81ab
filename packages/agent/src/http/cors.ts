import { AgentError } from '../errors.js'

/**
 * Throws for a page that may not call. Browsers send simple requests of any page without asking first, so an agent on
 * this machine, or one that knows its callers by their certificates, must look at where they come from.
 */
export function checkOrigin(origin: string | null, origins: readonly string[], base: string): void {
  if (origin === null || isAllowedOrigin(origin, origins)) return
  if (URL.canParse(base) && new URL(base).origin === origin) return
  throw new AgentError('permission_denied', `pages of ${origin.slice(0, 100)} may not call this agent`)
}

/** Headers of answers that pages may read. */
const EXPOSED = 'Location, Retry-After, X-Agent-Version, X-Output-Valid, X-Request-ID, X-Session-ID, X-Task-ID'

/** Whether a page of that origin may call: those that the agent's owner named, and no other. */
export const isAllowedOrigin = (origin: string | null, origins: readonly string[]): boolean =>
  origin !== null && (origins.includes(origin) || origins.includes('*'))

export const isPreflight = ({ method, headers }: Request): boolean =>
  method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')

export function preflight({ headers }: Request, origins: readonly string[]): Response {
  const origin = headers.get('origin')
  // Without these headers the browser asks no further.
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
