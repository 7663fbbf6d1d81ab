import type { Context } from '../../services/context.js'
import type { Probes } from '../../services/trust/probes.js'
import { idOf } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'

/** Results of probes, for owners. */
export function createProbeRoutes(context: Context, probes: Probes): RouteGroup {
  return {
    name: 'probes',
    errors: 'application/json',
    routes: [
      {
        method: 'GET',
        path: '/probes/:id',
        summary: 'How one of your agents did when the directory last tried it with its examples',
        access: 'caller',
        limit: 'lookup',
        responses: {
          200: 'the results, with reasons',
          403: 'the agent belongs to another publisher',
          404: 'no such agent, or it has not been probed',
        },
        handle: (request, reply) =>
          sendJson(reply.header('cache-control', 'no-store'), probes.detail(context, idOf(request), request.caller)),
      },
    ],
  }
}
