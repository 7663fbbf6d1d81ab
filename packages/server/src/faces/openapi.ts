import type { JsonObject } from '@switchboard/protocol'
import type { Route, RouteGroup } from './route-group.js'
import { componentsOf } from './schemas/component.js'
import { errorResponse } from './schemas/error.js'
import { openObjects } from './schemas/open-objects.js'
import type { Parameter } from './schemas/parameter.js'
import type { DescribedResponse } from './schemas/response.js'

/** The text of the OpenAPI description, which changes only with the URL of the directory. */
export function createOpenApi(groups: readonly RouteGroup[], version: string): (baseUrl: string) => string {
  let written: { readonly baseUrl: string; readonly text: string } | undefined
  return (baseUrl) => {
    if (written?.baseUrl !== baseUrl) written = { baseUrl, text: JSON.stringify(toOpenApi(groups, version, baseUrl)) }
    return written.text
  }
}

/** The OpenAPI description, generated from the routes so that it cannot differ from them. */
function toOpenApi(groups: readonly RouteGroup[], version: string, baseUrl: string): JsonObject {
  const paths: Record<string, JsonObject> = {}
  const aliases = aliasesOf(groups)
  for (const group of groups) {
    for (const route of group.routes) {
      if (route.isPage || route.aliasOf !== undefined) continue
      const path = toPath(route.path)
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(group, route, aliases) }
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
    tags: groups
      .filter(({ routes }) => !routes.every(({ isPage }) => isPage))
      .map(({ name, summary }) => ({ name, description: summary })),
    paths,
    components: {
      schemas: componentsOf([paths, COMMON_RESPONSES]),
      responses: COMMON_RESPONSES,
      securitySchemes: SECURITY,
    },
  }
}

/** Other paths of each route, by its method and path. */
function aliasesOf(groups: readonly RouteGroup[]): Map<string, string[]> {
  const aliases = new Map<string, string[]>()
  for (const { method, path, aliasOf } of groups.flatMap(({ routes }) => routes)) {
    if (aliasOf === undefined) continue
    const key = `${method} ${aliasOf}`
    aliases.set(key, [...(aliases.get(key) ?? []), toPath(path)])
  }
  return aliases
}

const toPath = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

function toOperation(group: RouteGroup, route: Route, aliases: ReadonlyMap<string, string[]>): JsonObject {
  const alsoAt = aliases.get(`${route.method} ${route.path}`)
  const remarks = [
    ...(alsoAt ? [`Also at ${alsoAt.map((path) => `\`${path}\``).join(' and ')}.`] : []),
    ...(route.limit ? [limitRemark(route)] : []),
  ]
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    ...toParameter('path', name, PATH_PARAMETERS[name] ?? `the ${name}`),
    required: true,
  }))
  const parameters = [
    ...inPath,
    ...Object.entries(route.query ?? {}).map(([name, about]) => toParameter('query', name, about)),
    ...Object.entries(route.headers ?? {}).map(([name, about]) => toParameter('header', name, about)),
  ]
  const required = route.access === 'caller' || route.access === 'admin'
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_all, letter: string) => letter.toUpperCase())}`,
    tags: [group.name],
    summary: route.summary,
    ...(remarks.length > 0 && { description: remarks.join(' ') }),
    ...(alsoAt && { 'x-aliases': alsoAt }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: toRequestBody(route, route.body) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, response]) => [status, toResponse(group, status, response)]),
      ),
      ...commonResponses(group, route),
    },
    security: route.access === 'open' ? [] : required ? CREDENTIALS : [...CREDENTIALS, {}],
  }
}

const limitRemark = ({ limit, limitWithText }: Route): string =>
  `Counts against the \`${limit}\` limit${limitWithText ? `, with \`q\` against the \`${limitWithText}\` limit` : ''}.`

const toParameter = (place: string, name: string, about: string | Parameter): JsonObject => ({
  name,
  in: place,
  ...(typeof about === 'string' ? { description: about, schema: { type: 'string' } } : { ...about }),
})

function toRequestBody({ bodyTypes = ['application/json'], bodyOptional }: Route, body: JsonObject): JsonObject {
  const { $id: _, ...own } = body
  const schema = openObjects(own)
  const content = Object.fromEntries(bodyTypes.map((type) => [type, { schema }]))
  return { ...(!bodyOptional && { required: true }), content }
}

/** What the variables of paths mean. */
const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  id: 'the id, percent-encoded',
  number: 'the number of the registration',
  taskId: 'the id of the task',
  operation: 'the name of the operation',
  version: 'the version of the agent, or a range',
}

function toResponse(group: RouteGroup, status: string, response: string | DescribedResponse): JsonObject {
  if (typeof response === 'string')
    return Number(status) < 400
      ? { description: response }
      : { $ref: RESPONSES + nameOf('default', group.errors), description: response }
  const { description, content } = response
  const media = Object.entries(content).map(([type, schema]) => [type, { schema }])
  return { description, ...(media.length > 0 && { content: Object.fromEntries(media) }) }
}

const RESPONSES = '#/components/responses/'

/** Errors that are the same for all routes, by status; what else can fail is the `default`. */
const COMMON_ERRORS: Readonly<Record<string, string>> = {
  400: 'the request is not valid; `error.details` names the members and parameters',
  401: 'credentials are missing, invalid, expired or revoked',
  403: 'these credentials do not allow this',
  429: 'too many requests: see Retry-After',
  default: 'an error, with the members that each draft expects',
}

/** Names of the components: one for groups whose errors are always problem details, one for the others. */
const nameOf = (status: string, errors: RouteGroup['errors']): string =>
  `${errors === 'application/json' ? 'Error' : 'Problem'}${status === 'default' ? '' : status}`

const COMMON_RESPONSES: JsonObject = Object.fromEntries(
  (['application/json', 'application/problem+json'] as const).flatMap((errors) =>
    Object.entries(COMMON_ERRORS).map(([status, description]) => [
      nameOf(status, errors),
      toResponse({ name: '', summary: '', errors, routes: [] }, status, errorResponse({ errors }, description)),
    ]),
  ),
)

function commonResponses({ errors }: RouteGroup, { path, access, limit, query, body, responses }: Route): JsonObject {
  const possible = [
    ...(body || query ? ['400'] : []),
    // Credentials that are not valid are refused everywhere, except by health checks.
    ...(path.startsWith('/health/') ? [] : ['401']),
    ...(access === 'open' ? [] : ['403']),
    ...(limit ? ['429'] : []),
    'default',
  ]
  return Object.fromEntries(
    possible
      .filter((status) => responses[Number(status)] === undefined)
      .map((status) => [status, { $ref: RESPONSES + nameOf(status, errors) }]),
  )
}

const CREDENTIALS: JsonObject[] = [{ bearer: [] }, { apiKey: [] }]

const SECURITY: JsonObject = {
  bearer: { type: 'http', scheme: 'bearer', description: 'an API key or a JWT' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'an API key' },
}
