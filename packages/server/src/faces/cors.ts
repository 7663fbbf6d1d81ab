import type { FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from './respond.js'
import { configOf, type Route } from './route-group.js'

const EXPOSED = [
  ...['ETag', 'Link', 'Location', 'Retry-After', 'X-Request-ID', 'X-Switchboard-Warnings', 'X-Total-Count'],
  ...['X-Directory-Revision', 'X-Search-ID', 'X-Switchboard-Corrected', 'X-Switchboard-Suggestions'],
  ...['RateLimit', 'RateLimit-Policy'],
  ...['Idempotent-Replayed', 'Preference-Applied', 'X-Agent-Version', 'X-Output-Valid'],
  ...['Content-Digest', 'Signature', 'Signature-Input', 'WWW-Authenticate'],
].join(', ')
const ACCEPTED = [
  ...['Accept', 'Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'Prefer', 'X-API-Key', 'X-Request-ID'],
  ...['Idempotency-Key', 'X-Agent-API-Key', 'X-Agent-Authorization', 'X-Agent-Version', 'X-Callback-URL'],
  ...[
    'X-Agent-Variables',
    'X-Delegation-Chain',
    'X-Session-ID',
    'X-Task-ID',
    'Accept-Signature',
    'Want-Content-Digest',
  ],
  ...['X-Search-ID', 'Min-Revision', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'],
].join(', ')

/** Whether pages of another origin may use the route; `named`: the operator has listed the origin. */
const isOpenTo = ({ access, ownPagesOnly }: Route, named: boolean): boolean =>
  !ownPagesOnly && (named || access === 'open' || access === 'discover')

/** Pages of any origin may use public discovery, without credentials; `cors.origins` lists those that may do more. */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const { origin } = request.headers
  const { route } = configOf(request)
  if (!route) return
  // Also without Origin: a cache must not use that response, which has no CORS headers, for a page.
  addVary(reply, 'Origin')
  if (origin === undefined) return
  const named = origins.includes(origin)
  if (!isOpenTo(route, named)) return
  reply.header('access-control-allow-origin', named ? origin : '*').header('access-control-expose-headers', EXPOSED)
}

/** Responds to a CORS preflight with the methods that the page may use on this path. */
export function sendPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: readonly Route[],
  origins: readonly string[],
): FastifyReply {
  reply.code(204).header('allow', routes.map(({ method }) => method).join(', '))
  addVary(reply, 'Origin')
  const { origin } = request.headers
  const named = origin !== undefined && origins.includes(origin)
  const usable = routes.filter((route) => isOpenTo(route, named)).map(({ method }) => method)
  if (origin === undefined || usable.length === 0) return reply.send()
  return reply
    .header('access-control-allow-origin', named ? origin : '*')
    .header('access-control-allow-methods', usable.join(', '))
    .header('access-control-allow-headers', ACCEPTED)
    .header('access-control-max-age', '600')
    .send()
}
