import type { DemoInfo, JsonObject } from '@switchboard/protocol'
import type { DemoRun } from '../../services/operations/demo.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { json } from '../schemas/response.js'
import { demoSchema } from './response-schemas.js'

const show = (agents: readonly DemoInfo[]): JsonObject[] => agents.map((agent) => ({ ...agent }))

/** For administrators of a directory in development mode: agents to try it with. */
export const createDemoRoutes = (demo: DemoRun): RouteGroup => ({
  name: 'demo',
  summary: 'Agents to try a directory with',
  errors: 'application/json',
  noStore: true,
  routes: [
    {
      method: 'GET',
      path: '/admin/demo',
      summary: 'Whether the agents of the demo are running, and what can be tried with each',
      access: 'admin',
      responses: { 200: json('available: whether this directory can run them; running; agents', demoSchema) },
      handle: (_request, reply) => {
        const { available, running, agents } = demo.status()
        return sendJson(reply, { available, running, agents: show(agents) })
      },
    },
    {
      method: 'POST',
      path: '/admin/demo',
      summary: 'Start the agents of the demo in the process of the directory and register them',
      access: 'admin',
      responses: {
        200: json('they were running', demoSchema),
        201: json('started; the agents and what can be tried with each', demoSchema),
        403: 'the directory is in production mode',
        409: 'they could not be registered',
      },
      handle: async (_request, reply) => {
        const { created, agents } = await demo.start()
        return sendJson(reply.code(created ? 201 : 200), { available: true, running: true, agents: show(agents) })
      },
    },
    {
      method: 'DELETE',
      path: '/admin/demo',
      summary: 'Stop the agents of the demo and remove them',
      access: 'admin',
      responses: { 204: 'stopped and removed', 403: 'the directory is in production mode' },
      handle: async (_request, reply) => {
        await demo.stop()
        return reply.code(204).send()
      },
    },
  ],
})
