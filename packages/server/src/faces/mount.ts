import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { DirectoryError, errorBody } from '@switchboard/protocol'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, hasScope, isAdmin } from '../policy/caller.js'
import type { RateLimits } from '../policy/rate-limit.js'
import type { Authenticate } from '../services/authenticate.js'
import { headerOf } from './answer.js'
import { collectBody } from './collect-body.js'
import { allowOrigin, answerPreflight } from './cors.js'
import type { Face, Route } from './face.js'

export interface MountOptions {
  readonly authenticate: Authenticate
  readonly limits: RateLimits
  readonly anonymous: 'public' | 'none'
  readonly baseUrl: () => string
  /** Requests must have come to the proxy by HTTPS. */
  readonly behindProxy: boolean
  readonly origins: readonly string[]
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const ANONYMOUS: Caller = { subject: undefined, kind: 'anonymous', scopes: new Set(), address: '', requestId: '' }

/** Serves faces: who is calling, how often, and one way of failing for all of them. */
export function mountFaces(app: FastifyInstance, faces: readonly Face[], options: MountOptions): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, payload, done) => collectBody(request, payload, done))
  app.decorateRequest('caller')
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    allowOrigin(request, reply, options.origins)
    admit(request, options).then(() => done(), done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    // The query is left out: what people search for is theirs (PROF §15).
    const { method } = request
    request.log.debug({ method, path: pathOf(request), status: reply.statusCode, ms: reply.elapsedTime }, 'answered')
    done()
  })
  app.setErrorHandler((error, request, reply) => sendError(toDirectoryError(error, request), request, reply, options))
  app.setNotFoundHandler((request, reply) =>
    sendError(new DirectoryError('not_found', `there is nothing at ${pathOf(request)}`), request, reply, options),
  )
  for (const face of faces) for (const route of face.routes) mountRoute(app, face, route)
  for (const [path, routes] of groupByPath(faces)) mountRest(app, path, routes)
}

function mountRoute(app: FastifyInstance, face: Face, route: Route): void {
  app.route({
    method: route.method,
    url: route.path,
    config: { face, route },
    handler: (request, reply) => route.handle(request, reply),
  })
}

/** Methods that a path does not have: 405 and what it has; OPTIONS is for browsers. */
function mountRest(app: FastifyInstance, path: string, routes: readonly { face: Face; route: Route }[]): void {
  const has = routes.map(({ route }) => route.method)
  const allow = has.join(', ')
  const [first] = routes
  if (!first) return
  const config = { face: first.face, route: { ...first.route, access: 'open' as const } }
  const { limit: _, ...unlimited } = config.route
  app.route({
    method: METHODS.filter((method) => !has.includes(method)),
    url: path,
    config: { face: first.face, route: unlimited },
    handler: (request) => {
      throw new DirectoryError('method_not_allowed', `${request.method} does not fit here: use ${allow}`, {
        headers: { allow },
      })
    },
  })
  app.route({
    method: 'OPTIONS',
    url: path,
    config: { face: first.face, route: unlimited },
    handler: (_request, reply) => answerPreflight(reply, allow),
  })
}

function groupByPath(faces: readonly Face[]): Map<string, { face: Face; route: Route }[]> {
  const groups = new Map<string, { face: Face; route: Route }[]>()
  for (const face of faces) {
    for (const route of face.routes) groups.set(route.path, [...(groups.get(route.path) ?? []), { face, route }])
  }
  return groups
}

/** Authenticates, checks the right to this route and spends the caller's allowance, before a body is read. */
async function admit(request: FastifyRequest, options: MountOptions): Promise<void> {
  const { route } = request.routeOptions.config
  if (!route) return
  request.caller = { ...ANONYMOUS, address: request.ip, requestId: request.id }
  if (route.path.startsWith('/health/')) return
  if (options.behindProxy && headerOf(request, 'x-forwarded-proto') !== 'https') {
    throw new DirectoryError(
      'forbidden',
      'this directory is served by HTTPS only: the proxy must send X-Forwarded-Proto: https',
    )
  }
  const caller = options.authenticate({
    authorization: request.headers.authorization,
    apiKey: headerOf(request, 'x-api-key'),
    socket: request.raw.socket,
    address: request.ip,
    requestId: request.id,
  })
  request.caller = caller instanceof Promise ? await caller : caller
  assertAccess(route, request.caller, options.anonymous)
  if (route.limit) options.limits.spend(route.limit, request.caller.subject ?? request.caller.address)
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="switchboard"' }

function assertAccess({ access }: Route, caller: Caller, anonymous: 'public' | 'none'): void {
  if (access === 'open' || (access === 'discover' && anonymous === 'public')) return
  if (caller.kind === 'anonymous') {
    throw new DirectoryError('unauthorized', 'this takes credentials: send "Authorization: Bearer KEY"', {
      headers: CHALLENGE,
    })
  }
  if (access === 'discover' && !hasScope(caller, 'discover'))
    throw new DirectoryError('forbidden', 'discovering takes the scope discover')
  if (access === 'admin' && !isAdmin(caller)) throw new DirectoryError('forbidden', 'this takes the scope admin')
}

function sendError(
  error: DirectoryError,
  request: FastifyRequest,
  reply: FastifyReply,
  options: MountOptions,
): FastifyReply {
  const level = error.status >= 500 ? 'error' : 'info'
  request.log[level](
    {
      code: error.code,
      status: error.status,
      path: pathOf(request),
      ...(level === 'error' && { err: error.cause ?? error }),
    },
    'refused',
  )
  const body = errorBody(error, { base: options.baseUrl(), instance: pathOf(request), correlationId: request.id })
  const wantsProblem = (request.headers.accept ?? '').includes('application/problem+json')
  const type = wantsProblem
    ? 'application/problem+json'
    : (request.routeOptions.config.face?.errors ?? errorTypeOf(request.url))
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  // What a response was going to say of the document does not hold for its error.
  for (const name of ['etag', 'last-modified', 'link']) reply.removeHeader(name)
  return reply
    .code(error.status)
    .headers(error.headers)
    .header('cache-control', 'no-store')
    .header('content-type', `${type}; charset=utf-8`)
    .send(JSON.stringify(body))
}

/** Where no route matched, the path still tells whose error it is (C-68). */
const errorTypeOf = (url: string): string =>
  /^\/(ad|\.well-known|tasks)(\/|$|\?)/.test(url) ? 'application/problem+json' : 'application/json'

const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? ''

/** Fastify's own complaints in our words; anything else is our failure and tells the caller nothing. */
function toDirectoryError(error: unknown, request: FastifyRequest): DirectoryError {
  if (error instanceof DirectoryError) return error
  const status = isFastifyError(error) ? (error.statusCode ?? 500) : 500
  if (status === 413) return new DirectoryError('payload_too_large', 'the body is too large', { cause: error })
  if (status === 415)
    return new DirectoryError('unsupported_media_type', 'send JSON with "Content-Type: application/json"', {
      cause: error,
    })
  if (status >= 400 && status < 500 && isFastifyError(error))
    return new DirectoryError('invalid_request', error.message, { cause: error })
  return new DirectoryError('internal_error', `the directory failed; its operator can find this as ${request.id}`, {
    cause: error,
  })
}

const isFastifyError = (error: unknown): error is FastifyError => error instanceof Error && 'statusCode' in error

/** A client's own id if it is well-formed, so that one id serves both sides (C-74). */
export function requestIdOf(message: IncomingMessage): string {
  const given = message.headers['x-request-id']
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}
