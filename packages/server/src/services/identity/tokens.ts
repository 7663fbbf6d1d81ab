import { createTokenVerifier, DirectoryError, TokenError } from '@switchboard/protocol'

/** An issuer whose JWTs are accepted (CONTRACT: `issuers[]`). */
export interface Issuer {
  readonly issuer: string
  readonly audience: string
  /** Set by the operator, so not restricted to public addresses. */
  readonly jwksUrl: string
}

/** The claims of a verified token that the directory uses. */
export interface TokenClaims {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly names?: readonly string[]
  readonly expiresAt: number
}

export type VerifyToken = (token: string) => Promise<TokenClaims>

/** Verifies JWTs of the configured issuers (AD §8.2). */
export function createVerifyToken(issuers: readonly Issuer[], now: () => number): VerifyToken {
  const verify = createTokenVerifier(issuers, { now })
  return async (token) => {
    try {
      const { subject, scopes, expiresAt, claims } = await verify(token)
      const { names } = claims
      return { subject, scopes, expiresAt, ...(Array.isArray(names) && { names: names.map(String) }) }
    } catch (error) {
      throw error instanceof TokenError ? toDirectoryError(error) : error
    }
  }
}

function toDirectoryError(error: TokenError): DirectoryError {
  const { code, message } = error
  if (code === 'keys_unavailable') {
    return new DirectoryError('unavailable', `${message}: try again later`, { cause: error, retryAfter: 5 })
  }
  const challenge = `Bearer realm="switchboard", error="invalid_token", error_description="${message}"`
  return new DirectoryError('unauthorized', message, { cause: error, headers: { 'www-authenticate': challenge } })
}
