import { DirectoryError, invalid, type JsonObject } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Holder } from '../../policy/caller.js'
import type { Session, Sessions, StartedSession } from '../../services/identity/sessions.js'
import { readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { component } from '../schemas/component.js'
import { flag, list, object, oneOf, text, texts, time } from '../schemas/parts.js'
import { json } from '../schemas/response.js'
import { type OpenIdRoutesOptions, openIdRoutes, startPathOf } from './openid-routes.js'
import { callerOf, type SessionCookies } from './session-cookies.js'

export interface SessionRoutesOptions {
  /** Undefined: nobody can sign in, because there is no secret to encrypt cookies with. */
  readonly sessions: Sessions | undefined
  readonly cookies: SessionCookies
  readonly trail: OpenIdRoutesOptions['trail']
  /** Identity providers where people can sign in; undefined: there are none. */
  readonly openid: OpenIdRoutesOptions | undefined
  readonly production: boolean
  readonly version: string
}

const PATH = '/session'
const KEY_SCHEMA: JsonObject = {
  type: 'object',
  required: ['key'],
  properties: { key: { type: 'string', description: 'an API key of this directory' } },
}

const sessionSchema = component(
  'Session',
  object(
    {
      signed_in: flag,
      subject: text,
      scopes: texts,
      expires_at: time,
      csrf: text,
      sign_in: object({ key: flag, openid: list(object({ issuer: text, name: text, href: text })) }),
      mode: oneOf('production', 'development'),
      version: text,
    },
    ...['subject', 'scopes', 'expires_at', 'csrf'],
  ),
)

/** Signing in with a browser, and who is signed in. */
export function createSessionRoutes(options: SessionRoutesOptions): RouteGroup {
  const { sessions, cookies, trail } = options
  /** Wrong keys are in the audit log like those of other requests. */
  const startWithKey = (at: Sessions, key: string, request: FastifyRequest): StartedSession => {
    try {
      return at.startWithKey(key)
    } catch (error) {
      trail.refused(error, request.caller, { action: 'sign-in' })
      throw error
    }
  }
  const routes: Route[] = [
    {
      method: 'GET',
      path: PATH,
      summary: 'Who is signed in, and how one can sign in',
      access: 'open',
      ownPagesOnly: true,
      responses: {
        200: json('the subject, its scopes and the token for X-CSRF-Token; or that nobody is signed in', sessionSchema),
      },
      handle: (request, reply) => {
        const session = cookies.peek(request)
        const { caller } = request
        const holder = session?.holder ?? (caller.subject === undefined ? undefined : caller)
        return sendSession(options, reply, holder, session)
      },
    },
    {
      method: 'POST',
      path: PATH,
      summary: 'Sign in with an API key: sets a cookie',
      access: 'open',
      ownPagesOnly: true,
      limit: 'register',
      body: KEY_SCHEMA,
      responses: {
        200: json('signed in', sessionSchema),
        401: 'the API key is invalid, expired or revoked',
        403: 'the request does not come from a page of this directory',
      },
      handle: (request, reply) => {
        cookies.assertOwnPage(request)
        if (!sessions) throw noSecret()
        const { key } = readJsonObject(request)
        if (typeof key !== 'string' || key === '') throw invalid([{ at: '/key', message: 'must be an API key' }])
        const { session, cookie } = startWithKey(sessions, key, request)
        const { holder } = session
        trail.record(callerOf(holder, request), 'session.start', { detail: `key ${holder.keyId}` })
        cookies.set(reply, { session, cookie })
        return sendSession(options, reply, holder, session)
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Sign out: ends the session everywhere',
      access: 'open',
      ownPagesOnly: true,
      limit: 'register',
      responses: { 204: 'signed out', 403: 'the request does not come from a page of this directory' },
      handle: async (request, reply) => {
        cookies.assertOwnPage(request)
        const session = cookies.peek(request)
        if (session) cookies.assertProof(request, session)
        // Also if the session cannot be ended because the store does not work.
        cookies.clear(reply)
        if (session) await sessions?.end(session, callerOf(session.holder, request))
        return reply.code(204).send()
      },
    },
  ]
  const { openid } = options
  return {
    name: 'session',
    summary: 'Signing in with a browser',
    errors: 'application/json',
    noStore: true,
    routes: [...routes, ...(openid ? openIdRoutes(openid) : [])],
  }
}

function sendSession(
  { sessions, openid, production, version }: SessionRoutesOptions,
  reply: FastifyReply,
  holder: Holder | undefined,
  session: Session | undefined,
): FastifyReply {
  return sendJson(reply, {
    signed_in: holder !== undefined,
    ...(holder?.subject !== undefined && { subject: holder.subject, scopes: [...holder.scopes] }),
    ...(session && { expires_at: new Date(session.expiresAt).toISOString(), csrf: session.csrf }),
    sign_in: {
      key: sessions !== undefined,
      openid: openid
        ? openid.providers.map(({ issuer, name }, n) => ({ issuer, name, href: startPathOf(n, openid.baseUrl()) }))
        : [],
    },
    mode: production ? 'production' : 'development',
    version,
  })
}

const noSecret = (): DirectoryError =>
  new DirectoryError('conflict', 'nobody can sign in here with a browser: the operator must set SWITCHBOARD_SECRET')
