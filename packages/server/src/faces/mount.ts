import { DirectoryError } from '@switchboard/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditTrail } from '../services/operations/audit-trail.js'
import type { Metrics } from '../telemetry/metrics.js'
import { waitForTurn } from '../turns.js'
import { type AdmitOptions, admit, reportLimits } from './admit.js'
import { allowOrigin, sendPreflight } from './cors.js'
import { createObserveRequest, type ObserveOptions } from './observe-requests.js'
import { collectBody, idOf, pathOf } from './read-request.js'
import { addWarnings } from './respond.js'
import { configOf, type Route, type RouteGroup } from './route-group.js'
import { sendError, toDirectoryError } from './send-error.js'

export interface MountOptions extends AdmitOptions, ObserveOptions {
  readonly metrics: Pick<Metrics, 'request' | 'error'>
  readonly isStopping: () => boolean
  readonly baseUrl: () => string
  /** Warnings that concern every response at the moment. */
  readonly warnings: () => readonly string[]
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Mounts route groups with the authentication, rate limits, CORS and errors that all of them share. */
export function mountRoutes(app: FastifyInstance, groups: readonly RouteGroup[], options: MountOptions): void {
  const { metrics, revisions } = options
  const observe = createObserveRequest(options)
  app.removeAllContentTypeParsers()
  // Without a parser of its own, Fastify would parse the media type of most requests each time.
  app.addContentTypeParser(['application/json', '*'], (request, payload, done) => collectBody(request, payload, done))
  app.decorateRequest('caller')
  app.decorateRequest('trace')
  app.decorateRequest('routeConfig')
  reportLimits(app, options.limits)
  app.addHook('onRequest', (request, reply, done) => {
    observe(request, reply)
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (configOf(request).group?.noStore) reply.header('cache-control', 'no-store')
    addWarnings(reply, options.warnings())
    allowOrigin(request, reply, options.origins)
    const pending = admit(request, options)
    if (pending) pending.then(() => done(), done)
    else done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('x-directory-revision', revisions.current())
    if (request.caller?.bySession) keepPrivate(reply)
    // So that proxies do not use a connection again that is about to be closed.
    if (options.isStopping()) reply.header('connection', 'close')
    done(null, payload)
  })
  app.setErrorHandler((error, request, reply) => {
    const known = toDirectoryError(error, request)
    auditRefusal(options.trail, known, request)
    metrics.error(known.code)
    return sendError(known, request, reply, options.baseUrl())
  })
  app.setNotFoundHandler((request, reply) => {
    metrics.error('not_found')
    const error = new DirectoryError('not_found', `there is nothing at ${pathOf(request)}`)
    return sendError(error, request, reply, options.baseUrl())
  })
  for (const group of groups) for (const route of group.routes) mountRoute(app, group, route)
  for (const [path, { group, routes }] of groupByPath(groups)) mountRest(app, path, group, routes, options.origins)
}

/** Caches may store what an ordinary request gets; to them, one with a cookie is ordinary, unlike one with credentials. */
function keepPrivate(reply: FastifyReply): void {
  const known = reply.getHeader('cache-control')
  if (known === undefined || known === 'no-cache') reply.header('cache-control', 'private, no-cache')
}

/** Records a refusal with its route, but not with the URL: a query may contain personal data (PROF §15). */
function auditRefusal(trail: AuditTrail, error: DirectoryError, request: FastifyRequest): void {
  const { route } = configOf(request)
  const isAboutAgent = route?.path.includes('/agents/:id') === true
  trail.refused(error, request.caller, {
    action: 'request',
    ...(route && { route: `${route.method} ${route.path}` }),
    ...(isAboutAgent && { agent: idOf(request) }),
  })
}

function mountRoute(app: FastifyInstance, group: RouteGroup, route: Route): void {
  // Whether the process is alive must be known however much work is waiting.
  const isUrgent = route.path.startsWith('/health/')
  app.route({
    method: route.method,
    url: route.path,
    config: { group, route },
    handler: (request, reply) => {
      const turn = isUrgent ? undefined : waitForTurn()
      return turn ? turn.then(() => route.handle(request, reply)) : route.handle(request, reply)
    },
  })
}

/** Mounts 405 for the methods a path does not have, and OPTIONS for CORS. */
function mountRest(
  app: FastifyInstance,
  path: string,
  group: RouteGroup,
  routes: readonly Route[],
  origins: readonly string[],
): void {
  const allow = routes.map(({ method }) => method).join(', ')
  app.route({
    method: METHODS.filter((method) => !routes.some((route) => route.method === method)),
    url: path,
    config: { group },
    handler: (request) => {
      throw new DirectoryError('method_not_allowed', `${request.method} is not supported here: use ${allow}`, {
        headers: { allow },
      })
    },
  })
  app.route({
    method: 'OPTIONS',
    url: path,
    config: { group },
    handler: (request, reply) => sendPreflight(request, reply, routes, origins),
  })
}

/** Routes by path; the group that declares a path first determines the media type of its errors. */
function groupByPath(groups: readonly RouteGroup[]): Map<string, { group: RouteGroup; routes: Route[] }> {
  const byPath = new Map<string, { group: RouteGroup; routes: Route[] }>()
  for (const group of groups) {
    for (const route of group.routes) {
      const known = byPath.get(route.path)
      if (known) known.routes.push(route)
      else byPath.set(route.path, { group, routes: [route] })
    }
  }
  return byPath
}
