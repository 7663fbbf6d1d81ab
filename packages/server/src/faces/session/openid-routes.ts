import { asString, DirectoryError, isObject, type JsonObject } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OpenIdSignIn, PendingSignIn } from '../../services/identity/openid-sign-in.js'
import type { Seal } from '../../services/identity/seal.js'
import type { Sessions } from '../../services/identity/sessions.js'
import type { AuditTrail } from '../../services/operations/audit-trail.js'
import { readQuery } from '../read-request.js'
import type { Route } from '../route-group.js'
import { type DescribedResponse, plain } from '../schemas/response.js'
import { toDirectoryError } from '../send-error.js'
import { callerOf, cookieOf, type SessionCookies } from './session-cookies.js'

export interface OpenIdRoutesOptions {
  readonly sessions: Sessions
  readonly cookies: SessionCookies
  /** Encrypts what is kept in a cookie while somebody is at the provider. */
  readonly seal: Seal
  readonly providers: readonly OpenIdSignIn[]
  readonly trail: Pick<AuditTrail, 'record' | 'refused'>
  /** Served over TLS, directly or by a proxy. */
  readonly secure: boolean
  readonly baseUrl: () => string
  readonly now: () => number
}

/** What the cookie of a pending sign-in contains. */
interface Pending extends PendingSignIn {
  readonly issuer: string
  /** The path to return to. */
  readonly returnTo: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

const START = '/session/openid'
const CALLBACK = `${START}/callback`
/** Tells the content of the cookie from other sealed texts. */
const ABOUT = 'pending sign-in'
const PENDING_SECONDS = 600

const page = (description: string): DescribedResponse => plain(description, 'text/html')

/** Where people start to sign in at a provider. */
export const startPathOf = (provider: number, baseUrl: string): string =>
  new URL(`${baseUrl}${START}/${provider}`).pathname

/** Signing in at an OpenID provider: there and back. */
export function openIdRoutes(options: OpenIdRoutesOptions): Route[] {
  const { sessions, cookies, seal, providers, trail, secure, baseUrl, now } = options
  const name = secure ? '__Host-switchboard_sign_in' : 'switchboard_sign_in'
  // Lax: the provider sends the browser back from another site.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const redirectUri = (): string => baseUrl() + CALLBACK

  const start = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const n = isObject(request.params) ? String(request.params.n) : ''
    const provider = /^\d{1,3}$/.test(n) ? providers[Number(n)] : undefined
    if (!provider) throw new DirectoryError('not_found', 'there is no such identity provider: see GET /session')
    const own = new URL(baseUrl())
    // The provider sends the browser to this host, and only there are the cookies of this response sent back.
    if (!secure && request.headers.host !== own.host) return reply.redirect(own.origin + request.url)
    const returnTo = ownPath(readQuery(request).get('return_to') ?? '', own)
    const { url, pending } = await provider.begin(redirectUri())
    const expiresAt = now() + PENDING_SECONDS * 1000
    const content: Pending = { ...pending, issuer: provider.issuer, returnTo, expiresAt }
    const cookie = seal.close(JSON.stringify(content), ABOUT)
    return reply.header('set-cookie', `${name}=${cookie}; Max-Age=${PENDING_SECONDS}; ${attributes}`).redirect(url)
  }

  const finish = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const query = readQuery(request)
    const parameter = (key: string): string | undefined => query.get(key) ?? undefined
    const pending = readPending(seal.open(cookieOf(request, name) ?? '', ABOUT))
    // Whatever happens: it can be used once.
    reply.header('set-cookie', `${name}=; Max-Age=0; ${attributes}`)
    const provider = providers.find(({ issuer }) => issuer === pending?.issuer)
    if (!pending || !provider || pending.expiresAt <= now() || parameter('state') !== pending.state)
      throw new DirectoryError(
        'invalid_request',
        'this sign-in was not started in this browser, or more than ten minutes ago: start again',
      )
    const response = { code: parameter('code'), error: parameter('error'), iss: parameter('iss') }
    const claims = await provider.finish(response, pending, redirectUri())
    const started = sessions.startWithClaims(claims, provider.issuer)
    trail.record(callerOf(started.session.holder, request), 'session.start', { detail: `openid ${provider.issuer}` })
    cookies.set(reply, started)
    return reply.redirect(pending.returnTo)
  }

  /** People see these responses in their browser. */
  const readable =
    (handle: typeof start) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      try {
        return await handle(request, reply)
      } catch (error) {
        const known = toDirectoryError(error, request)
        request.log.info({ code: known.code, err: known.cause }, 'a sign-in at an identity provider failed')
        trail.refused(known, request.caller, { action: 'sign-in', always: true })
        return sendPage(reply, known, startPageOf(new URL(baseUrl())))
      }
    }

  return [
    {
      method: 'GET',
      path: `${START}/:n`,
      summary: 'Start to sign in at an identity provider (OpenID Connect)',
      access: 'open',
      ownPagesOnly: true,
      limit: 'register',
      query: { return_to: 'the path to return to after that; default: the start page' },
      responses: {
        302: 'to the identity provider',
        404: page('there is no such provider'),
        503: page('it does not respond'),
      },
      handle: readable(start),
    },
    {
      method: 'GET',
      path: CALLBACK,
      summary: 'Finish signing in: identity providers send browsers here',
      access: 'open',
      ownPagesOnly: true,
      limit: 'register',
      query: { code: 'of the provider', state: 'of the request to it', iss: 'the provider', error: 'its reason' },
      responses: {
        302: 'signed in: to the path that was asked for',
        400: page('this sign-in was not started in this browser, or too long ago'),
        401: page('the provider refused, or its response is not valid'),
        503: page('the provider does not respond'),
      },
      handle: readable(finish),
    },
  ]
}

/** A path of this directory, for a redirect that leads nowhere else; anything else becomes the start page. */
export function ownPath(wanted: string, own: URL): string {
  const url = URL.canParse(wanted, own.href) ? new URL(wanted, own) : own
  const path = url.pathname + url.search + url.hash
  // Browsers read two slashes, which `/.//host` leads to, as the start of another host.
  const isOwn = wanted.startsWith('/') && url.origin === own.origin && !path.startsWith('//')
  return isOwn ? path : startPageOf(own)
}

/** `/`, unless a proxy serves the directory below another path. */
const startPageOf = ({ pathname }: URL): string => pathname.replace(/\/?$/, '/')

/** The seal has proved that the content is ours. */
function readPending(text: string | undefined): Pending | undefined {
  const content: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isObject(content)) return undefined
  const { state, nonce, verifier, issuer, returnTo } = stringsOf(content)
  const { expiresAt } = content
  if (!state || !nonce || !verifier || !issuer || !returnTo || typeof expiresAt !== 'number') return undefined
  return { state, nonce, verifier, issuer, returnTo, expiresAt }
}

const stringsOf = (content: JsonObject): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, asString(value)]))

function sendPage(
  reply: FastifyReply,
  { status, code, message, retryAfter }: DirectoryError,
  startPage: string,
): FastifyReply {
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
    .send(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Signing in failed</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:3rem auto;max-width:40rem;padding:0 1rem}</style>
<main><h1>Signing in failed</h1><p>${escapeHtml(message)}</p><p>Error code: <code>${code}</code></p><p><a href="${escapeHtml(startPage)}">Back to the directory</a></p></main></html>`)
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
