import { assertValid, compileSchema, type JsonObject } from '@switchboard/protocol'
import type { Outcomes } from '../../services/calls/outcomes/outcomes.js'
import { rateAgent } from '../../services/calls/outcomes/rate-agent.js'
import type { Context } from '../../services/context.js'
import { headerOf, idOf, readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import { belowAidipBases, type Route, type RouteGroup } from '../route-group.js'
import { count, object, text } from '../schemas/parts.js'
import { json } from '../schemas/response.js'

export interface FeedbackOptions {
  readonly context: Context
  readonly outcomes: Outcomes
}

/** Characters. */
const LONGEST_COMMENT = 2000

const feedbackSchema: JsonObject = {
  type: 'object',
  required: ['rating'],
  properties: {
    rating: { type: 'integer', minimum: 1, maximum: 5 },
    comment: { type: 'string', maxLength: LONGEST_COMMENT },
  },
}
const ratedSchema = object({ agent: text, rating: count, comment: text }, 'comment')
const checkFeedback = compileSchema(feedbackSchema)

/** Ratings by callers (AIDIP §10, C-03). */
export function createFeedbackRoutes({ context, outcomes }: FeedbackOptions): RouteGroup {
  const rate = (base: string): Route => ({
    method: 'POST',
    path: `${base}/agents/:id/feedback`,
    summary: 'Rate an agent from 1 to 5; a later rating replaces yours',
    access: 'caller',
    limit: 'register',
    body: feedbackSchema,
    headers: { 'X-Search-ID': 'the search that found the agent' },
    responses: {
      201: json('stored', ratedSchema),
      403: 'the agent is yours, or you may not call it',
      404: 'no such agent',
    },
    handle: async (request, reply) => {
      const id = idOf(request)
      const body = readJsonObject(request)
      assertValid(checkFeedback(body))
      const rating = Number(body.rating)
      const feedback = { rating, ...(typeof body.comment === 'string' && { comment: body.comment }) }
      await rateAgent(context, outcomes, id, feedback, request.caller, headerOf(request, 'x-search-id'))
      return sendJson(reply.code(201), { agent: id, ...feedback })
    },
  })
  return {
    name: 'feedback',
    summary: 'Ratings by callers',
    errors: 'application/json',
    routes: belowAidipBases((base) => [rate(base)], ['/v1', '/v0']),
  }
}
