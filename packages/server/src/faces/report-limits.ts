import type { FastifyInstance, FastifyReply } from 'fastify'
import { extraRequests, type RateLimits } from '../policy/rate-limit.js'

/**
 * Counts expensive requests as several, and tells clients what is left of their limit (RateLimit header fields,
 * draft-ietf-httpapi-ratelimit-headers-10). What a request cost is known when its response is sent.
 */
export function reportLimits(app: FastifyInstance, limits: RateLimits): void {
  app.decorateRequest('visited', 0)
  app.decorateRequest('counted')
  app.addHook('onSend', (request, reply, payload, done) => {
    const { counted, visited } = request
    if (counted) {
      const { action, client } = counted
      const extra = extraRequests({ agents: visited, bytes: lengthOf(reply, payload) })
      if (extra > 0) limits.charge(action, client, extra)
      const { limit, windowSeconds, remaining, resetSeconds } = limits.quotaOf(action, client)
      reply
        .header('ratelimit-policy', `"${action}";q=${limit};w=${windowSeconds}`)
        .header('ratelimit', `"${action}";r=${remaining};t=${resetSeconds}`)
    }
    done(null, payload)
  })
}

/** The length of the body if it is known: streams of agents are limited elsewhere. */
function lengthOf(reply: FastifyReply, payload: unknown): number {
  if (typeof payload === 'string' || payload instanceof Uint8Array) return payload.length
  return Number(reply.getHeader('content-length') ?? 0)
}
