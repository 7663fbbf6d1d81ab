import { ERROR_KINDS, type JsonObject } from '@switchboard/protocol'
import type { Route, RouteGroup } from './route-group.js'

/** The OpenAPI description, generated from the routes so that it cannot differ from them. */
export function toOpenApi(groups: readonly RouteGroup[], version: string, baseUrl: string): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const group of groups) {
    for (const route of group.routes) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(group, route) }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchboard',
      version,
      description: 'The directory and exchange for AI agents.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: groups.map(({ name }) => ({ name })),
    paths,
    components: { schemas: { Error: ERROR_SCHEMA }, securitySchemes: SECURITY },
  }
}

function toOperation(group: RouteGroup, route: Route): JsonObject {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const inQuery = Object.entries(route.query ?? {}).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }))
  const required = route.access === 'caller' || route.access === 'admin'
  const { $id: _, ...schema } = route.body ?? {}
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_all, letter: string) => letter.toUpperCase())}`,
    tags: [group.name],
    summary: route.summary,
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(route.body && { requestBody: { content: { 'application/json': { schema } } } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, description]) => [
          status,
          toResponse(group, status, description),
        ]),
      ),
      default: toResponse(group, '400', 'an error, with the members that each draft expects'),
    },
    ...(route.access !== 'open' && { security: required ? CREDENTIALS : [...CREDENTIALS, {}] }),
  }
}

const toResponse = (group: RouteGroup, status: string, description: string): JsonObject =>
  Number(status) < 400
    ? { description }
    : { description, content: { [group.errors]: { schema: { $ref: '#/components/schemas/Error' } } } }

const CREDENTIALS: JsonObject[] = [{ bearer: [] }, { apiKey: [] }]

const SECURITY: JsonObject = {
  bearer: { type: 'http', scheme: 'bearer', description: 'an API key or a JWT' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
}

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'error', 'code', 'message', 'correlation_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        // Not an enum: agents' own codes are passed on (C-97).
        code: { type: 'string', examples: [...new Set(Object.values(ERROR_KINDS).map(({ name }) => name))] },
        message: { type: 'string' },
      },
    },
    code: { type: 'string' },
    message: { type: 'string' },
    correlation_id: { type: 'string' },
    retry_after: { type: 'number' },
  },
}
