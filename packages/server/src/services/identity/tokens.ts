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
      return { subject, scopes, expiresAt, ...readNames(claims.names) }
    } catch (error) {
      throw error instanceof TokenError ? toDirectoryError(error) : error
    }
  }
}

/** The agent names that the token is limited to. A malformed limit is rejected: ignoring it would lift it. */
function readNames(names: unknown): Pick<TokenClaims, 'names'> {
  if (names === undefined) return {}
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return { names }
  throw new TokenError('invalid', 'the names of the token must be an array of strings')
}

function toDirectoryError(error: TokenError): DirectoryError {
  const { code, message } = error
  if (code === 'keys_unavailable') {
    return new DirectoryError('unavailable', `${message}: try again later`, { cause: error, retryAfter: 5 })
  }
  const challenge = `Bearer realm="switchboard", error="invalid_token", error_description="${message}"`
  return new DirectoryError('unauthorized', message, { cause: error, headers: { 'www-authenticate': challenge } })
}
