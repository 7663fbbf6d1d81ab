import { DirectoryError } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { type Caller, hasScope, isAdmin } from '../policy/caller.js'
import type { RateLimits } from '../policy/rate-limit.js'
import type { Authenticate } from '../services/identity/authenticate.js'
import { headerOf } from './answer.js'
import type { Route } from './route-group.js'

export interface AdmitOptions {
  readonly authenticate: Authenticate
  readonly limits: RateLimits
  /** What a caller without credentials may discover. */
  readonly anonymous: 'public' | 'none'
  /** Requests must have come to the proxy by HTTPS. */
  readonly behindProxy: boolean
  /** Origins whose pages may do all that their credentials allow. */
  readonly origins: readonly string[]
}

const NOBODY: Omit<Caller, 'address' | 'requestId'> = { subject: undefined, kind: 'anonymous', scopes: new Set() }

/**
 * Finds out who is calling, checks the right to this route and spends the caller's allowance, before a body is read.
 * A promise only where a token has to be verified: every request comes this way.
 */
export function admit(request: FastifyRequest, options: AdmitOptions): Promise<void> | undefined {
  const { route } = request.routeOptions.config
  request.caller = { ...NOBODY, address: request.ip, requestId: request.id }
  if (!route || route.path.startsWith('/health/')) return undefined
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
  const enter = (known: Caller): void => {
    request.caller = known
    if (known.kind === 'certificate') assertOwnPage(request, route, options.origins)
    assertAccess(route, known, options.anonymous)
    if (route.limit) options.limits.spend(route.limit, clientOf(known))
  }
  if (caller instanceof Promise) return caller.then(enter)
  enter(caller)
  return undefined
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="switchboard"' }

function assertAccess({ access }: Route, caller: Caller, anonymous: 'public' | 'none'): void {
  if (access === 'open' || (access === 'discover' && anonymous === 'public')) return
  if (caller.kind === 'anonymous') {
    throw new DirectoryError('unauthorized', 'this takes credentials: send "Authorization: Bearer KEY"', {
      headers: CHALLENGE,
    })
  }
  if (access === 'discover' && !hasScope(caller, 'discover')) {
    throw new DirectoryError('forbidden', 'discovering takes the scope discover')
  }
  if (access === 'admin' && !isAdmin(caller)) throw new DirectoryError('forbidden', 'this takes the scope admin')
}

/** A browser shows a certificate for any page that asks it to: what changes something must be wished by a page we know. */
function assertOwnPage({ headers }: FastifyRequest, { method }: Route, origins: readonly string[]): void {
  const { origin, host } = headers
  if (origin === undefined || method === 'GET' || origins.includes(origin)) return
  if (URL.canParse(origin) && new URL(origin).host === host) return
  throw new DirectoryError('forbidden', 'pages of other origins may not act by your certificate: see cors.origins')
}

/** Subjects and addresses are counted apart: a subject may be called like an address. */
export const clientOf = ({ subject, address }: Caller): string =>
  subject === undefined ? `address ${networkOf(address)}` : `subject ${subject}`

/** Whoever has one IPv6 address has 2^64 of them: the network counts. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const missing = address.includes('::')
    ? 8 - groups.length - tail.split(':').filter((group) => group !== '').length
    : 0
  return [...groups, ...Array<string>(missing).fill('0'), ...tail.split(':')].slice(0, 4).join(':')
}
