import { DirectoryError, isLoopbackHost } from '@switchboard/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, clientOf, type Holder, hasScope, isAdmin } from '../policy/caller.js'
import { extraRequests, type LimitedAction, type RateLimits } from '../policy/rate-limit.js'
import type { Authenticate } from '../services/identity/authenticate.js'
import type { AuditTrail } from '../services/operations/audit-trail.js'
import type { Revisions } from '../services/replicas/revisions.js'
import { callerOfOwn } from './own-fetch.js'
import { headerOf, isSameSecret, searchTextOf } from './read-request.js'
import { configOf, type Route } from './route-group.js'
import { callerOf, type SessionCookies } from './session/session-cookies.js'

export interface AdmitOptions {
  readonly authenticate: Authenticate
  readonly sessions: SessionCookies
  readonly limits: RateLimits
  readonly revisions: Revisions
  readonly trail: AuditTrail
  /** Called for every caller, before its limits are checked. */
  readonly onCaller: (caller: Caller) => void
  /** What a caller without credentials may discover. */
  readonly anonymous: 'public' | 'none'
  /** The proxy must have received the request over HTTPS. */
  readonly behindProxy: boolean
  /** Origins whose pages may use everything that their credentials allow. */
  readonly origins: readonly string[]
  /** With it, Prometheus may read the metrics. */
  readonly metricsToken: string | undefined
}

const ANONYMOUS: Holder = { subject: undefined, kind: 'anonymous', scopes: new Set() }

/**
 * Authenticates the caller, checks access to the route and counts the request against the rate limit, before the body
 * is read. Returns a promise only if a token has to be verified or replicas to be asked, because every request takes this path.
 */
export function admit(request: FastifyRequest, options: AdmitOptions): Promise<void> | undefined {
  const { route } = configOf(request)
  request.caller = { address: request.ip, requestId: request.id, ...ANONYMOUS }
  if (!route || route.path.startsWith('/health/')) return undefined
  if (route.access === 'metrics' && mayReadMetrics(request, options)) return undefined
  if (options.behindProxy && headerOf(request, 'x-forwarded-proto') !== 'https') {
    throw new DirectoryError(
      'forbidden',
      'this directory accepts only HTTPS: the proxy must send "X-Forwarded-Proto: https"',
    )
  }
  const refuse = (error: unknown): never => {
    options.trail.refused(error, request.caller, { action: 'sign-in' })
    throw error
  }
  const enter = (known: Caller): Promise<void> | undefined => {
    request.caller = known
    options.trail.signedIn(known)
    options.onCaller(known)
    if (known.kind === 'certificate') assertOwnPage(request, route, options.origins)
    assertAccess(route, known, options.anonymous)
    const action = limitOf(route, request)
    if (!action) return undefined
    request.counted = { action, client: clientOf(known) }
    return options.limits.spend(request.counted.action, request.counted.client)
  }
  const proceed = (): Promise<void> | undefined => {
    const caller = callerOfOwn(request.raw) ?? identify(request, route, options, refuse)
    return caller instanceof Promise ? caller.catch(refuse).then(enter) : enter(caller)
  }
  const revision = headerOf(request, 'min-revision')
  // Before all else: the revision may be that of a new key.
  const reached = revision === undefined ? undefined : options.revisions.reach(revision)
  return reached ? reached.then(proceed) : proceed()
}

/** What the request counts as. */
function limitOf({ limit, limitWithText }: Route, { url }: FastifyRequest): LimitedAction | undefined {
  if (!limitWithText || !url.includes('?')) return limit
  return searchTextOf(new URLSearchParams(url.slice(url.indexOf('?') + 1))) === undefined ? limit : limitWithText
}

function identify(
  request: FastifyRequest,
  route: Route,
  { authenticate, sessions }: AdmitOptions,
  refuse: (error: unknown) => never,
): Caller | Promise<Caller> {
  try {
    const session = sessions.of(request, route)
    if (session) return callerOf(session.holder, request)
    return authenticate({
      authorization: request.headers.authorization,
      apiKey: headerOf(request, 'x-api-key'),
      socket: request.raw.socket,
      address: request.ip,
      requestId: request.id,
    })
  } catch (error) {
    return refuse(error)
  }
}

function assertAccess({ access }: Route, caller: Caller, anonymous: 'public' | 'none'): void {
  if (access === 'open' || (access === 'discover' && anonymous === 'public')) return
  if (caller.kind === 'anonymous') {
    throw new DirectoryError('unauthorized', 'this needs credentials: send "Authorization: Bearer KEY"')
  }
  if (access === 'discover' && !hasScope(caller, 'discover')) {
    throw new DirectoryError('forbidden', 'this needs the `discover` scope')
  }
  if ((access === 'admin' || access === 'metrics') && !isAdmin(caller))
    throw new DirectoryError('forbidden', 'this needs the `admin` scope')
}

/** Headers that proxies add. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/**
 * Whether a request for the metrics comes from a program on this machine, or has the metrics token. Behind a proxy, and
 * if a proxy was not configured but left its traces, the address is that of the proxy and proves nothing. The host must be
 * local too, because a page can have its own name resolved to a loopback address.
 */
function mayReadMetrics(
  { headers, raw, hostname }: FastifyRequest,
  { metricsToken, behindProxy }: AdmitOptions,
): boolean {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (metricsToken !== undefined && token !== undefined && isSameSecret(token, metricsToken)) return true
  const address = raw.socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  return (
    callerOfOwn(raw) === undefined &&
    !behindProxy &&
    isLoopbackHost(address) &&
    isLoopbackHost(hostname) &&
    FORWARDING.every((name) => headers[name] === undefined)
  )
}

/** A browser presents the client certificate for any page, so only pages of known origins may change something. */
function assertOwnPage({ headers }: FastifyRequest, { method }: Route, origins: readonly string[]): void {
  const { origin, host } = headers
  if (origin === undefined || method === 'GET' || origins.includes(origin)) return
  if (URL.canParse(origin) && new URL(origin).host === host) return
  throw new DirectoryError(
    'forbidden',
    'pages of this origin may not use your certificate: add the origin to cors.origins',
  )
}

/**
 * Counts expensive requests as several, and tells clients what is left of their limit (RateLimit header fields,
 * draft-ietf-httpapi-ratelimit-headers-10). What a request cost is known when its response is sent.
 */
export function reportLimits(app: FastifyInstance, limits: RateLimits): void {
  app.decorateRequest('visited', 0)
  app.decorateRequest('counted')
  app.addHook('onSend', (request, reply, payload, done) => {
    const { counted, visited } = request
    if (counted) {
      const { action, client } = counted
      const extra = extraRequests({ agents: visited, bytes: lengthOf(reply, payload) })
      if (extra > 0) limits.charge(action, client, extra)
      const { limit, windowSeconds, remaining, resetSeconds } = limits.quotaOf(action, client)
      reply
        .header('ratelimit-policy', `"${action}";q=${limit};w=${windowSeconds}`)
        .header('ratelimit', `"${action}";r=${remaining};t=${resetSeconds}`)
    }
    done(null, payload)
  })
}

/** The length of the body if it is known: streams of agents are limited elsewhere. */
function lengthOf(reply: FastifyReply, payload: unknown): number {
  if (typeof payload === 'string' || payload instanceof Uint8Array) return payload.length
  return Number(reply.getHeader('content-length') ?? 0)
}
