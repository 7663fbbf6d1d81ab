import { DirectoryError, ERROR_KINDS, isObject, type JsonObject } from '@switchboard/protocol'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { toDocsPage } from './docs-page.js'

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
  readonly openapi: () => JsonObject
  readonly metrics: { readonly contentType: string; read(): Promise<string> }
}

/** Health, metrics, OpenAPI and the pages that the `type` of an error points to. */
export function createOperationsRoutes({ health, openapi, metrics }: OperationsOptions): RouteGroup {
  return {
    name: 'operations',
    errors: 'application/problem+json',
    routes: [
      {
        method: 'GET',
        path: '/health/live',
        summary: 'Whether the process is running',
        access: 'open',
        responses: { 200: 'it is running' },
        handle: (_request, reply) => sendJson(reply.header('cache-control', 'no-store'), { status: 'live' }),
      },
      {
        method: 'GET',
        path: '/health/ready',
        summary: 'Whether the directory accepts requests',
        access: 'open',
        responses: { 200: 'ready, or degraded because the database does not work', 503: 'starting or stopping' },
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
        responses: { 200: 'the text format of Prometheus' },
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
        responses: { 200: 'OpenAPI 3.1' },
        handle: (_request, reply) => sendJson(reply.header('cache-control', 'public, max-age=300'), openapi()),
      },
      {
        method: 'GET',
        path: '/docs',
        summary: 'The API reference as a page',
        access: 'open',
        responses: { 200: 'an HTML page' },
        handle: (_request, reply) =>
          reply
            .header('content-type', 'text/html; charset=utf-8')
            .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
            .send(toDocsPage(openapi())),
      },
      {
        method: 'GET',
        path: '/problems/:id',
        summary: 'What an error type means',
        access: 'open',
        responses: { 200: 'its title and status', 404: 'no such error type' },
        handle: (request, reply) => {
          const slug = isObject(request.params) ? String(request.params.id) : ''
          const kind = Object.entries(ERROR_KINDS).find(([code]) => code.replaceAll('_', '-') === slug)
          if (!kind) throw new DirectoryError('not_found', 'there is no such error type')
          const [code, { title, status, name }] = kind
          return sendJson(reply, { code, title, status, name })
        },
      },
    ],
  }
}
