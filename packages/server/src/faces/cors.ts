import type { FastifyReply, FastifyRequest } from 'fastify'

const EXPOSED = 'ETag, Link, Location, Retry-After, X-Request-ID, X-Switchboard-Warnings, X-Total-Count'

/** Public discovery answers any origin, without credentials; the operator may name origins for everything else. */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const { origin } = request.headers
  if (origin === undefined) return
  const access = request.routeOptions.config.route?.access
  const named = origins.includes(origin)
  if (!named && access !== 'discover' && access !== 'open') return
  reply.header('access-control-allow-origin', named ? origin : '*').header('access-control-expose-headers', EXPOSED)
  if (named) reply.header('vary', 'Origin')
}

export function answerPreflight(reply: FastifyReply, allow: string): FastifyReply {
  return reply
    .code(204)
    .header('allow', allow)
    .header('access-control-allow-methods', allow)
    .header(
      'access-control-allow-headers',
      'Accept, Content-Type, If-None-Match, If-Match, Prefer, X-Request-ID, Authorization, X-API-Key',
    )
    .header('access-control-max-age', '600')
    .send()
}
