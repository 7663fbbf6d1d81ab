import { hash, randomBytes } from 'node:crypto'
import {
  createTokenVerifier,
  DirectoryError,
  isObject,
  parseJson,
  TokenError,
  type TokenVerifier,
} from '@switchboard/protocol'
import { createSwrCache } from '../../gateway/resilience/swr-cache.js'
import type { Subjects } from '../../policy/subjects.js'
import { fetchText } from '../trust/fetch-text.js'
import type { Issuer, SignInOptions } from './issuers.js'
import { type OAuthClient, sendOAuthRequest } from './oauth-request.js'
import { readClaims, type TokenClaims } from './token-claims.js'

/** What has to be remembered between the request to the provider and its response; the browser must not be able to read it. */
export interface PendingSignIn {
  readonly state: string
  readonly nonce: string
  /** Of PKCE (RFC 7636): proves that whoever exchanges the code has requested it. */
  readonly verifier: string
}

/** Signs people in at one OpenID provider: authorization code flow with PKCE (OpenID Connect Core §3.1). */
export interface OpenIdSignIn {
  readonly issuer: string
  /** What people read on the button. */
  readonly name: string
  /** Where to send the browser. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly pending: PendingSignIn }>
  /** Exchanges the code of the provider's response; returns who has signed in. */
  finish(response: AuthorizationResponse, pending: PendingSignIn, redirectUri: string): Promise<TokenClaims>
}

/** The query parameters with which the provider sends the browser back (RFC 6749 §4.1.2, RFC 9207). */
export interface AuthorizationResponse {
  readonly code: string | undefined
  readonly error: string | undefined
  readonly iss: string | undefined
}

export interface OpenIdSignInDeps {
  readonly subjects: Subjects
  /** For addresses that the operator has written: those of the issuer itself. */
  readonly fetch: typeof fetch
  /** For addresses that the provider's document names elsewhere. */
  readonly guardedFetch: typeof fetch
  readonly now: () => number
  readonly monotonic: () => number
}

/** The part of a provider's metadata that is needed here (OpenID Connect Discovery §3). */
interface Provider {
  readonly authorizationUrl: URL
  readonly tokenUrl: URL
  readonly authMethod: NonNullable<OAuthClient['method']>
  readonly verify: TokenVerifier
}

const LIMITS = { timeoutMs: 5000, maxBytes: 65_536 }
const METADATA_CACHE = { freshMs: 600_000, usableMs: 3_600_000, failedMs: 2000, limit: 1 }
const RETRY_SECONDS = 5

const randomText = (): string => randomBytes(32).toString('base64url')

/** @throws {DirectoryError} from its functions, with messages that may be shown to the person who signs in */
export function createOpenIdSignIn(trusted: Issuer, signIn: SignInOptions, deps: OpenIdSignInDeps): OpenIdSignIn {
  const { issuer } = trusted
  const { clientId, clientSecret, requestScopes = ['openid'], scopes: everyones = [] } = signIn
  const scope = [...new Set(['openid', ...requestScopes])].join(' ')
  const cache = createSwrCache<Provider>({ ...METADATA_CACHE, monotonic: deps.monotonic })
  const fetchAt = (url: URL): typeof fetch => (url.origin === new URL(issuer).origin ? deps.fetch : deps.guardedFetch)

  const load = async (): Promise<Provider> => {
    const url = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const metadata = parseJson(await fetchText(deps.fetch, url, LIMITS))
    if (!isObject(metadata) || metadata.issuer !== issuer)
      throw new Error(`the document at ${url.href} is not about the issuer ${issuer}`)
    const {
      authorization_endpoint,
      token_endpoint,
      jwks_uri,
      token_endpoint_auth_methods_supported: methods,
    } = metadata
    const keysUrl = trusted.jwksUrl ?? String(jwks_uri)
    const keysFetch = trusted.jwksUrl === undefined ? fetchAt(new URL(keysUrl)) : deps.fetch
    const postOnly = Array.isArray(methods) && !methods.includes('client_secret_basic')
    return {
      authorizationUrl: new URL(String(authorization_endpoint)),
      tokenUrl: new URL(String(token_endpoint)),
      authMethod: postOnly ? 'client_secret_post' : 'client_secret_basic',
      verify: createTokenVerifier([{ issuer, audience: clientId, jwksUrl: keysUrl }], { ...deps, fetch: keysFetch }),
    }
  }
  const provider = (): Promise<Provider> =>
    cache.get(issuer, load).catch((cause: unknown) => {
      throw unavailable('the identity provider does not say where to sign in', cause)
    })

  const exchange = async (form: Record<string, string>): Promise<{ idToken: string; granted: unknown }> => {
    const { tokenUrl: url, authMethod: method } = await provider()
    const client = { id: clientId, method, ...(clientSecret !== undefined && { secret: clientSecret }) }
    const response = await sendOAuthRequest({ url: url.href, form, client, ...LIMITS }, fetchAt(url)).catch(
      (cause: unknown) => {
        throw unavailable('the identity provider does not respond', cause)
      },
    )
    const { id_token: idToken, scope: granted = scope } = response.body
    if (response.status >= 500) throw unavailable('the identity provider failed')
    if (response.status !== 200 || typeof idToken !== 'string')
      throw rejected('the identity provider did not accept the sign-in: start again')
    return { idToken, granted }
  }

  return {
    issuer,
    name: signIn.name ?? new URL(issuer).host,
    async begin(redirectUri) {
      const { authorizationUrl } = await provider()
      const pending = { state: randomText(), nonce: randomText(), verifier: randomText() }
      const url = new URL(authorizationUrl)
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: hash('sha256', pending.verifier, 'base64url'),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return { url: url.href, pending }
    },
    async finish({ code, error, iss }, { nonce, verifier }, redirectUri) {
      if (iss !== undefined && iss !== issuer) throw rejected('the response came from another identity provider')
      if (error !== undefined)
        throw rejected(`the identity provider refused: ${/^[\w.-]{1,64}$/.exec(error)?.[0] ?? 'error'}`)
      if (code === undefined) throw rejected('the response of the identity provider has no code')
      const { idToken, granted } = await exchange({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      })
      try {
        const { claims } = await (await provider()).verify(idToken)
        if (claims.nonce !== nonce) throw new TokenError('invalid', 'the claim nonce of the token is missing or wrong')
        // A token for several clients must have been issued to this one (OpenID Connect Core §3.1.3.7).
        const isShared = Array.isArray(claims.aud) && claims.aud.length > 1
        if (claims.azp === undefined ? isShared : claims.azp !== clientId)
          throw new TokenError('invalid', 'the claim azp of the token is missing or wrong')
        const { subject, scopes, names } = readClaims({ scope: granted, ...claims }, trusted, deps.subjects)
        const own = scopes.filter((one) => one !== 'openid')
        return { subject, scopes: [...new Set([...everyones, ...own])], ...(names && { names }) }
      } catch (cause) {
        if (!(cause instanceof TokenError)) throw cause
        if (cause.code === 'keys_unavailable') throw unavailable(cause.message, cause)
        throw rejected(cause.message, cause)
      }
    },
  }
}

const rejected = (message: string, cause?: unknown): DirectoryError =>
  new DirectoryError('unauthorized', message, { cause })

const unavailable = (message: string, cause?: unknown): DirectoryError =>
  new DirectoryError('unavailable', `${message}: try again later`, { cause, retryAfter: RETRY_SECONDS })
