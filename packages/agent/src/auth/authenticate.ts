import { createTokenVerifier, TokenError, type TrustedIssuer } from '@switchboard/protocol'
import { AgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import { createApiKeys } from './api-keys.js'
import type { Caller } from './caller.js'
import type { AuthenticationOptions, TokenIssuer } from './options.js'

/** The credentials of a request. */
export interface Credentials {
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
  /** Subject of a client certificate that the TLS layer has verified. */
  readonly certificate: string | undefined
  /** Identifies callers without a subject, for rate limits. */
  readonly address: string
}

export interface Authenticator {
  authenticate(credentials: Credentials): Promise<Caller>
  /** The schemes' names in the descriptor (C-11). */
  readonly schemes: readonly string[]
}

/** Seconds by which the clock of an issuer may differ from ours. */
const CLOCK_TOLERANCE = 30

/** Identifies the caller. An invalid credential is rejected even if none is required. */
export function createAuthenticator(options: AuthenticationOptions | undefined, runtime: Runtime): Authenticator {
  const { apiKeys = [], issuers = [], clientCertificates, anonymous = false } = options ?? {}
  const findKey = createApiKeys(apiKeys)
  const verifyToken = createTokenVerifier(issuers.map(toTrusted), { ...runtime, clockTolerance: CLOCK_TOLERANCE })
  const schemes = [
    ...(apiKeys.length > 0 ? ['api_key'] : []),
    ...(issuers.length > 0 ? ['oauth2_bearer'] : []),
    ...(clientCertificates ? ['mtls'] : []),
  ]
  const isOpen = schemes.length === 0 || anonymous

  const ofSecret = async (secret: string): Promise<Caller> => {
    const key = findKey(secret)
    if (key) return callerOf(key.subject, key.scopes, 'api_key')
    try {
      const { issuer, subject, scopes, claims } = await verifyToken(secret)
      if (claims.cnf !== undefined)
        throw new TokenError('invalid', 'the token is bound to a key: this agent cannot check it')
      // Unique only for its issuer.
      return callerOf(issuers.length > 1 ? `${issuer}#${subject}` : subject, scopes, 'oauth2_bearer')
    } catch (error) {
      throw error instanceof TokenError ? toAgentError(error) : error
    }
  }

  const toAgentError = (error: TokenError): AgentError => {
    if (error.code === 'keys_unavailable') {
      return new AgentError('unavailable', `${error.message}: try again later`, { cause: error, retryAfter: 5 })
    }
    // It may as well be an unknown API key.
    const message = error.code === 'unknown_issuer' ? 'the credentials are not valid' : error.message
    return unauthorized(message, schemes, 'invalid_token')
  }

  return {
    schemes: isOpen ? ['none', ...schemes] : schemes,
    async authenticate({ authorization, apiKey, certificate, address }) {
      const secret = apiKey ?? bearerOf(authorization)
      // Without keys and issuers of its own, the agent ignores credentials: they are meant for a proxy in front of it.
      if (secret !== undefined && (apiKeys.length > 0 || issuers.length > 0)) return ofSecret(secret)
      if (certificate !== undefined && clientCertificates) {
        return callerOf(certificate, clientCertificates.scopesOf?.(certificate) ?? [], 'mtls')
      }
      if (isOpen) return { subject: undefined, scopes: new Set(), scheme: 'none', client: address }
      throw unauthorized('this agent requires credentials', schemes)
    },
  }
}

function toTrusted({ issuer, audience, jwksUrl, keys }: TokenIssuer): TrustedIssuer {
  if (keys) return { issuer, audience, keys }
  if (jwksUrl !== undefined) return { issuer, audience, jwksUrl }
  throw new AgentError('invalid_definition', `the issuer ${issuer} needs a jwksUrl or keys`)
}

const callerOf = (subject: string, scopes: readonly string[], scheme: Caller['scheme']): Caller => ({
  subject,
  scopes: new Set(scopes),
  scheme,
  client: subject,
})

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]

function unauthorized(message: string, schemes: readonly string[], code?: string): AgentError {
  const challenge = `Bearer realm="agent"${code === undefined ? '' : `, error="${code}"`}`
  const hint = schemes.includes('api_key') ? ': an X-API-Key or a bearer token' : ''
  return new AgentError('unauthorized', message + hint, { headers: { 'www-authenticate': challenge } })
}
