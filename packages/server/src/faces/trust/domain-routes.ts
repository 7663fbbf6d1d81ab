import { assertValid, compileSchema, type JsonObject } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { type DomainClaim, endOfClaim } from '../../policy/domain-proof.js'
import { challengeOf } from '../../services/trust/check-domain.js'
import type { Domains } from '../../services/trust/domains.js'
import { readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { component } from '../schemas/component.js'
import { list, object, oneOf, text, time } from '../schemas/parts.js'
import { json } from '../schemas/response.js'

const claimSchema: JsonObject = {
  type: 'object',
  required: ['domain'],
  properties: { domain: { type: 'string', minLength: 1, maxLength: 260 } },
}
const checkClaim = compileSchema(claimSchema)

const shownClaimSchema = component(
  'DomainClaim',
  object(
    {
      domain: text,
      state: oneOf('proven', 'pending'),
      method: oneOf('http', 'dns'),
      since: time,
      publish: object({
        http: object({ url: text, content: text }),
        dns: object({ name: text, type: text, value: text }),
      }),
      checked_at: time,
      next_check_at: time,
      expires_at: time,
    },
    ...['method', 'since', 'checked_at', 'expires_at'],
  ),
)

/** Proofs that a publisher controls the domains in the ids of its agents. */
export function createDomainRoutes(domains: Domains): RouteGroup {
  return {
    name: 'domains',
    summary: 'Proofs of control over a domain',
    errors: 'application/json',
    routes: [
      {
        method: 'POST',
        path: '/domains',
        summary: 'Prove that you control a domain: says what to publish and, when it is published, checks it',
        access: 'caller',
        limit: 'register',
        body: claimSchema,
        responses: {
          200: json('the state after a check', shownClaimSchema),
          201: json('what to publish', shownClaimSchema),
          403: 'no publish scope, or too many domains',
        },
        handle: async (request, reply) => {
          const body = readJsonObject(request)
          assertValid(checkClaim(body))
          const { claim, created } = await domains.claim(String(body.domain), request.caller)
          return sendJson(reply.code(created ? 201 : 200).header('cache-control', 'no-store'), showClaim(claim))
        },
      },
      {
        method: 'GET',
        path: '/domains',
        summary: 'Domains that you have proven, or are about to',
        access: 'caller',
        limit: 'lookup',
        responses: { 200: json('your domains', object({ domains: list(shownClaimSchema) })) },
        handle: (request, reply) =>
          sendJson(reply.header('cache-control', 'no-store'), { domains: ownDomains(domains, request).map(showClaim) }),
      },
      {
        method: 'DELETE',
        path: '/domains/:domain',
        summary: 'Withdraw the proof of a domain',
        access: 'caller',
        limit: 'register',
        responses: { 204: 'withdrawn', 404: 'no such domain of yours' },
        handle: async (request, reply) => {
          await domains.withdraw(domainParam(request), request.caller)
          return reply.code(204).send()
        },
      },
    ],
  }
}

const ownDomains = (domains: Domains, { caller }: FastifyRequest): readonly DomainClaim[] =>
  caller.subject === undefined ? [] : domains.list(caller.subject)

function domainParam({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'domain' in params ? String(params.domain) : ''
}

function showClaim(claim: DomainClaim): JsonObject {
  const { name, token, proof, checkedAt, nextCheckAt } = claim
  const end = endOfClaim(claim)
  const { http, dns } = challengeOf(name, token)
  return {
    domain: name,
    state: proof ? 'proven' : 'pending',
    ...(proof && { method: proof.method, since: timeOf(proof.at) }),
    publish: { http: { ...http }, dns: { ...dns } },
    ...(checkedAt !== undefined && { checked_at: timeOf(checkedAt) }),
    next_check_at: timeOf(nextCheckAt),
    ...(end !== undefined && { expires_at: timeOf(end) }),
  }
}

const timeOf = (at: number): string => new Date(at).toISOString()
