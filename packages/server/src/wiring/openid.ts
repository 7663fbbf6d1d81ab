import type { OpenIdRoutesOptions } from '../faces/session/openid-routes.js'
import type { SessionCookies } from '../faces/session/session-cookies.js'
import type { Context } from '../services/context.js'
import { createOpenIdSignIn } from '../services/identity/openid-sign-in.js'
import type { Base } from './base.js'
import type { Calls } from './calls.js'
import type { Identity } from './identity.js'

/** The identity providers where people can sign in; undefined if there are none. */
export function wireOpenId(
  { config, now, monotonic, baseUrl }: Base,
  { identity, calls, context }: { identity: Identity; calls: Calls; context: Context },
  cookies: SessionCookies,
): OpenIdRoutesOptions | undefined {
  const { sessions, seal, subjects } = identity
  const deps = { subjects, fetch, guardedFetch: calls.gateway.fetch, now, monotonic }
  const providers = config.issuers.flatMap((issuer) =>
    issuer.signIn ? [createOpenIdSignIn(issuer, issuer.signIn, deps)] : [],
  )
  if (!sessions || !seal || providers.length === 0) return undefined
  const { production: secure, trail } = context
  return { sessions, cookies, seal, providers, trail, secure, baseUrl, now }
}
