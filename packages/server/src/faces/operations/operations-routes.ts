import { DirectoryError, ERROR_KINDS, isObject } from '@switchboard/protocol'
import { sendJson, sendJsonText } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { component } from '../schemas/component.js'
import { openApiDocument } from '../schemas/documents.js'
import { count, object, oneOf, text, time } from '../schemas/parts.js'
import { json, plain } from '../schemas/response.js'

export interface OperationsOptions {
  /** The state of the directory for GET /health/ready. */
  readonly health: () => {
    ready: boolean
    /** Milliseconds; undefined unless it serves from memory, or refuses writes, because the store does not work. */
    degradedSince: number | undefined
    revision: number
    agents: number
    pending: number
  }
  /** The text of the OpenAPI description. */
  readonly openapi: () => string
  readonly metrics: { readonly contentType: string; read(): Promise<string> }
}

const healthSchema = component(
  'Health',
  object(
    {
      status: oneOf('ready', 'degraded', 'unavailable'),
      since: time,
      revision: count,
      index: object({ agents: count, pending: count }),
    },
    'since',
  ),
)
const problemTypeSchema = object({ code: text, title: text, status: count, name: text })

/** Health, metrics, OpenAPI and the pages that the `type` of an error points to. */
export function createOperationsRoutes({ health, openapi, metrics }: OperationsOptions): RouteGroup {
  return {
    name: 'operations',
    summary: 'Health, metrics and this description',
    errors: 'application/problem+json',
    routes: [
      {
        method: 'GET',
        path: '/health/live',
        summary: 'Whether the process is running',
        access: 'open',
        responses: { 200: json('it is running', object({ status: oneOf('live') })) },
        handle: (_request, reply) => sendJson(reply.header('cache-control', 'no-store'), { status: 'live' }),
      },
      {
        method: 'GET',
        path: '/health/ready',
        summary: 'Whether the directory accepts requests',
        access: 'open',
        responses: {
          200: json('ready, or degraded because the database does not work', healthSchema),
          503: json('starting or stopping', healthSchema),
        },
        handle: (_request, reply) => {
          const { ready, degradedSince, revision, agents, pending } = health()
          reply.code(ready ? 200 : 503).header('cache-control', 'no-store')
          return sendJson(reply, {
            status: ready ? (degradedSince === undefined ? 'ready' : 'degraded') : 'unavailable',
            ...(degradedSince !== undefined && { since: new Date(degradedSince).toISOString() }),
            revision,
            index: { agents, pending },
          })
        },
      },
      {
        method: 'GET',
        path: '/metrics',
        summary: 'Metrics for Prometheus',
        access: 'metrics',
        responses: { 200: plain('the text format of Prometheus', 'text/plain') },
        handle: async (_request, reply) =>
          reply
            .header('content-type', metrics.contentType)
            .header('cache-control', 'no-store')
            .send(await metrics.read()),
      },
      {
        method: 'GET',
        path: '/openapi.json',
        summary: 'The OpenAPI document of this API',
        access: 'open',
        responses: { 200: json('OpenAPI 3.1', openApiDocument) },
        handle: (_request, reply) => sendJsonText(reply.header('cache-control', 'public, max-age=300'), openapi()),
      },
      {
        method: 'GET',
        path: '/problems/:id',
        summary: 'What an error type means',
        access: 'open',
        responses: {
          200: json('its title and status', problemTypeSchema),
          303: 'for browsers: the page that says what to do',
          404: 'no such error type',
        },
        handle: (request, reply) => {
          const slug = isObject(request.params) ? String(request.params.id) : ''
          const kind = Object.entries(ERROR_KINDS).find(([code]) => code.replaceAll('_', '-') === slug)
          if (!kind) throw new DirectoryError('not_found', 'there is no such error type')
          const [code, { title, status, name }] = kind
          if (request.headers.accept?.includes('text/html'))
            return reply.redirect(`../docs/reference/errors#${code}`, 303)
          return sendJson(reply, { code, title, status, name })
        },
      },
    ],
  }
}
