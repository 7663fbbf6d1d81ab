import { DirectoryError } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Holder } from '../../policy/caller.js'
import type { Session, Sessions, StartedSession } from '../../services/identity/sessions.js'
import { headerOf, isSameSecret } from '../read-request.js'
import type { Route } from '../route-group.js'

/** Signs browsers in and out by a cookie. Pages of other origins can neither use it nor read what it gives access to. */
export interface SessionCookies {
  /**
   * The session that a request acts in; undefined if it has other credentials, or the route is the same for everybody. Throws
   * `unauthorized` if the session has ended, and `csrf_failed` if a request that changes something may come from another page.
   */
  of(request: FastifyRequest, route: Route): Session | undefined
  /** The session of a request that only wants to know; undefined if it has ended. */
  peek(request: FastifyRequest): Session | undefined
  /** Throws `csrf_failed` unless a page of this directory sent the request. */
  assertOwnPage(request: FastifyRequest): void
  /** Throws `csrf_failed` unless a page of this directory sent the request, and knows the token of the session. */
  assertProof(request: FastifyRequest, session: Session): void
  set(reply: FastifyReply, started: StartedSession): void
  clear(reply: FastifyReply): void
}

export interface SessionCookiesOptions {
  /** Undefined: nobody can sign in, because there is no secret to encrypt cookies with. */
  readonly sessions: Sessions | undefined
  /** Served over TLS, directly or by a proxy. */
  readonly secure: boolean
  readonly baseUrl: () => string
  readonly now: () => number
}

export const CSRF_HEADER = 'x-csrf-token'
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export function createSessionCookies({ sessions, secure, baseUrl, now }: SessionCookiesOptions): SessionCookies {
  // The prefix makes browsers refuse a cookie that another host of the domain, or a page without TLS, tries to set.
  const name = secure ? '__Host-switchboard_session' : 'switchboard_session'
  // Strict: the console reads everything with requests of its own, so a link from elsewhere needs no cookie.
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  const removed = `${name}=; Max-Age=0; ${attributes}`
  const senderOf = ({ headers }: FastifyRequest): 'own' | 'other' | 'unknown' => {
    // Browsers set this header, and no page can change it.
    const site = headers['sec-fetch-site']
    if (site !== undefined) return site === 'same-origin' ? 'own' : site === 'none' ? 'unknown' : 'other'
    const { origin, host } = headers
    if (origin === undefined) return 'unknown'
    const scheme = secure ? 'https' : 'http'
    // A proxy may send another Host than the one that the browser knows.
    return [host, new URL(baseUrl()).host].some((own) => origin === `${scheme}://${own}`) ? 'own' : 'other'
  }
  const read = (request: FastifyRequest): Session | 'ended' | undefined => {
    const cookie = sessions && cookieOf(request, name)
    return cookie === undefined ? undefined : sessions?.read(cookie)
  }

  const cookies: SessionCookies = {
    of(request, route) {
      const { authorization, cookie, 'x-api-key': apiKey } = request.headers
      if (cookie === undefined || authorization !== undefined || apiKey !== undefined || route.access === 'open')
        return undefined
      const isSafe = SAFE_METHODS.has(request.method)
      if (isSafe && senderOf(request) === 'other') return undefined
      const session = read(request)
      if (session === 'ended')
        throw new DirectoryError('unauthorized', 'your session has ended: sign in again', {
          headers: { 'set-cookie': removed },
        })
      if (session && !isSafe) cookies.assertProof(request, session)
      return session
    },
    peek(request) {
      const session = senderOf(request) === 'other' ? undefined : read(request)
      return session === 'ended' ? undefined : session
    },
    assertOwnPage(request) {
      if (senderOf(request) === 'own') return
      throw new DirectoryError(
        'csrf_failed',
        'only pages of this directory may do this with a session: send an Origin header with the URL of this directory, or an API key',
      )
    },
    assertProof(request, session) {
      cookies.assertOwnPage(request)
      if (isSameSecret(headerOf(request, CSRF_HEADER) ?? '', session.csrf)) return
      throw new DirectoryError('csrf_failed', 'send the member csrf of GET /session as X-CSRF-Token')
    },
    set(reply, { cookie, session }) {
      const seconds = Math.max(1, Math.floor((session.expiresAt - now()) / 1000))
      reply.header('set-cookie', `${name}=${cookie}; Max-Age=${seconds}; ${attributes}`)
    },
    clear: (reply) => void reply.header('set-cookie', removed),
  }
  return cookies
}

/** The value of a cookie. */
export function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  const start = `${name}=`
  for (const pair of headers.cookie?.split(';') ?? []) {
    const trimmed = pair.trim()
    if (trimmed.startsWith(start)) return trimmed.slice(start.length)
  }
  return undefined
}

/** The sender of a request, once it is known who holds its session. */
export const callerOf = (holder: Holder, { ip, id }: FastifyRequest): Caller => ({
  ...holder,
  address: ip,
  requestId: id,
})
