import { AgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import { createApiKeys } from './api-keys.js'
import type { Caller } from './caller.js'
import type { AuthenticationOptions } from './options.js'
import { createTokens } from './tokens.js'

/** What a caller shows. */
export interface Credentials {
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
  /** Subject of a client certificate that the TLS layer has verified. */
  readonly certificate: string | undefined
  /** Whom limits count for where there is no subject. */
  readonly address: string
}

export interface Authenticator {
  authenticate(credentials: Credentials): Promise<Caller>
  /** Schemes in the drafts' words, for the descriptor (C-11). */
  readonly schemes: readonly string[]
}

/** Finds out who calls. A credential that is wrong is refused, also where none is needed. */
export function createAuthenticator(options: AuthenticationOptions | undefined, runtime: Runtime): Authenticator {
  const { apiKeys = [], issuers = [], clientCertificates, anonymous = false } = options ?? {}
  const findKey = createApiKeys(apiKeys)
  const verifyToken = createTokens(issuers, runtime)
  const schemes = [
    ...(apiKeys.length > 0 ? ['api_key'] : []),
    ...(issuers.length > 0 ? ['oauth2_bearer'] : []),
    ...(clientCertificates ? ['mtls'] : []),
  ]
  const isOpen = schemes.length === 0 || anonymous

  const ofSecret = async (secret: string): Promise<Caller> => {
    const key = findKey(secret)
    if (key) return callerOf(key.subject, key.scopes, 'api_key')
    const token = await verifyToken(secret)
    if (token) return callerOf(token.subject, token.scopes, 'oauth2_bearer')
    throw unauthorized('the credentials are not valid', schemes, 'invalid_token')
  }

  return {
    schemes: isOpen ? ['none', ...schemes] : schemes,
    async authenticate({ authorization, apiKey, certificate, address }) {
      const secret = apiKey ?? bearerOf(authorization)
      // An agent that knows no credentials cannot judge them: they are meant for somebody on the way.
      if (secret !== undefined && (apiKeys.length > 0 || issuers.length > 0)) return ofSecret(secret)
      if (certificate !== undefined && clientCertificates) {
        return callerOf(certificate, clientCertificates.scopesOf?.(certificate) ?? [], 'mtls')
      }
      if (isOpen) return { subject: undefined, scopes: new Set(), scheme: 'none', client: address }
      throw unauthorized('say who you are', schemes)
    },
  }
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
