import type { Context } from '../../services/context.js'
import type { Probes } from '../../services/trust/probes.js'
import { idOf } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { amount, list, object, oneOf, text, time } from '../schemas/parts.js'
import { json } from '../schemas/response.js'

const outcome = oneOf('passed', 'failed')
const probeSchema = object({
  agent: text,
  state: outcome,
  at: time,
  results: list(object({ operation: text, state: outcome, latency_ms: amount, reason: text }, 'reason')),
})

/** Results of probes, for owners. */
export function createProbeRoutes(context: Context, probes: Probes): RouteGroup {
  return {
    name: 'probes',
    summary: 'Trials of agents with their own examples',
    errors: 'application/json',
    routes: [
      {
        method: 'GET',
        path: '/probes/:id',
        summary: 'How one of your agents did when the directory last tried it with its examples',
        access: 'caller',
        limit: 'lookup',
        responses: {
          200: json('the results, with reasons', probeSchema),
          403: 'the agent belongs to another publisher',
          404: 'no such agent, or it has not been probed',
        },
        handle: (request, reply) =>
          sendJson(reply.header('cache-control', 'no-store'), probes.detail(context, idOf(request), request.caller)),
      },
    ],
  }
}
