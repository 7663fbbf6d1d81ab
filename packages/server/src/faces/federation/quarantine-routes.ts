import { assertValid, compileSchema, given, type JsonObject } from '@switchboard/protocol'
import type { Reviews } from '../../services/federation/review.js'
import type { FederatedCopy } from '../../store/store.js'
import { readJsonObject, readQuery, wholeNumber } from '../read-request.js'
import { linkNext, sendJson } from '../respond.js'
import type { Route } from '../route-group.js'
import { choiceParameter, numberParameter } from '../schemas/parameter.js'
import { json } from '../schemas/response.js'
import { copiesSchema } from './response-schemas.js'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200
const STATES = ['quarantined', 'rejected', 'accepted', 'listed'] as const

const reviewSchema: JsonObject = {
  type: 'object',
  required: ['agent', 'decision'],
  properties: {
    agent: { type: 'string', minLength: 1 },
    peer: { type: 'string', minLength: 1 },
    decision: { enum: ['accept', 'reject'] },
    received_at: { type: 'string', minLength: 1 },
  },
  additionalProperties: false,
}
const checkReview = compileSchema(reviewSchema)

/** For operators: agents of peers that wait for a review. */
export const quarantineRoutes = (reviews: Reviews): Route[] => [
  {
    method: 'GET',
    path: '/admin/quarantine',
    summary: 'Agents of peers that wait for a review',
    access: 'admin',
    query: {
      peer: 'only those of this peer',
      state: choiceParameter(STATES, 'default: quarantined'),
      limit: numberParameter(`entries per page, at most ${MAX_LIMIT} (default: ${DEFAULT_LIMIT})`, 1),
      after: 'the last entry of the page before, as `peer/agent`',
    },
    responses: {
      200: json('the agents with their documents and origins; Link rel="next" if there are more', copiesSchema),
    },
    handle: async (request, reply) => {
      const params = readQuery(request)
      const limit = Math.min(wholeNumber(params, 'limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT)
      const state = params.get('state') ?? 'quarantined'
      const wanted = STATES.find((known) => known === state)
      if (!wanted) assertValid([{ at: '?state', message: `must be one of ${STATES.join(', ')}` }])
      const [, peer, agent] = /^([^/]+)\/(.+)$/s.exec(params.get('after') ?? '') ?? []
      const copies = await reviews.list({
        limit: limit + 1,
        ...(wanted && { state: wanted }),
        ...(params.has('peer') && { peer: params.get('peer') ?? '' }),
        ...(peer !== undefined && agent !== undefined && { after: { peer, agent } }),
      })
      const page = copies.slice(0, limit)
      const last = page.at(-1)
      if (copies.length > limit && last) {
        params.set('after', `${last.peer}/${last.agent}`)
        linkNext(reply, `/admin/quarantine?${params}`)
      }
      return sendJson(reply, { agents: page.map(showCopy) })
    },
  },
  {
    method: 'POST',
    path: '/admin/quarantine',
    summary: 'Accept or reject an agent of a peer; without a peer, the copies of all peers',
    access: 'admin',
    body: reviewSchema,
    responses: {
      200: json('the agents as decided', copiesSchema),
      404: 'no peer supplies this agent',
      409: 'a peer has changed the agent since `received_at`',
    },
    handle: async (request, reply) => {
      const body = readJsonObject(request)
      assertValid(checkReview(body))
      const decided = await reviews.decide(
        {
          agent: String(body.agent),
          decision: body.decision === 'accept' ? 'accepted' : 'rejected',
          ...(typeof body.peer === 'string' && { peer: body.peer }),
          ...(typeof body.received_at === 'string' && { receivedAt: body.received_at }),
        },
        request.caller,
      )
      return sendJson(reply, { agents: decided.map(showCopy) })
    },
  },
]

function showCopy({ peer, agent, state, format, document, origin, expiresAt }: FederatedCopy): JsonObject {
  const { service, authority, path, received_at, signature } = origin
  return {
    agent,
    peer,
    state,
    format,
    origin_service: service,
    origin_authority: authority,
    is_signed: signature !== undefined,
    path,
    received_at,
    ...given('expires_at', expiresAt === undefined ? undefined : new Date(expiresAt).toISOString()),
    document,
  }
}
