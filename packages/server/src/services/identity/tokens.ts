import { claimedIssuer, createTokenVerifier, DirectoryError, TokenError } from '@switchboard/protocol'
import type { Subjects } from '../../policy/subjects.js'
import { createIntrospect, type Introspect, type IntrospectDeps } from './introspection.js'
import { acceptsOpaque, type Issuer } from './issuers.js'
import { type Claims, checkIntrospected, readClaims, type TokenClaims } from './token-claims.js'

/** Verifies a token; `client` is the network that it came from. */
export type VerifyToken = (token: string, client: string) => Promise<TokenClaims>

/** Verifies the tokens of the configured issuers (AD §8.2). */
export interface Tokens {
  readonly verifyJwt: VerifyToken
  /** For tokens that do not name their issuer; undefined if no issuer introspects them. */
  readonly verifyOpaque: VerifyToken | undefined
}

export interface TokensOptions extends IntrospectDeps {
  readonly issuers: readonly Issuer[]
  readonly subjects: Subjects
}

/** Seconds after which to try again if the keys of an issuer cannot be fetched. */
const RETRY_SECONDS = 5

export function createTokens({ issuers, subjects, ...deps }: TokensOptions): Tokens {
  const introspects = new Map<Issuer, Introspect>(
    issuers.flatMap((issuer) => (issuer.introspection ? [[issuer, createIntrospect(issuer.introspection, deps)]] : [])),
  )
  const verifySignature = createTokenVerifier(
    issuers.flatMap(({ issuer, audience, jwksUrl }) => (jwksUrl === undefined ? [] : [{ issuer, audience, jwksUrl }])),
    deps,
  )

  const introspect = async (token: string, client: string, issuer: Issuer): Promise<Claims> => {
    const claims = await introspects.get(issuer)?.(token, client)
    if (claims) return claims
    throw new TokenError('invalid', 'the token is not active: it is unknown, expired or revoked')
  }
  const readIntrospected = async (token: string, client: string, issuer: Issuer): Promise<TokenClaims> => {
    const claims = checkIntrospected(await introspect(token, client, issuer), issuer, deps.now())
    return readClaims(claims, issuer, subjects)
  }

  const verifyJwt: VerifyToken = async (token, client) => {
    const name = claimedIssuer(token)
    const issuer = issuers.find((known) => known.issuer === name)
    if (issuer && issuer.jwksUrl === undefined) return readIntrospected(token, client, issuer)
    const { claims } = await verifySignature(token)
    if (!issuer) throw new TokenError('unknown_issuer', 'the issuer of the token is not trusted here')
    if (issuer.introspection?.jwts === true) await introspect(token, client, issuer)
    return readClaims(claims, issuer, subjects)
  }

  const opaque = issuers.find(acceptsOpaque)
  return {
    verifyJwt: translating(verifyJwt),
    verifyOpaque: opaque && translating((token, client) => readIntrospected(token, client, opaque)),
  }
}

const translating =
  (verify: VerifyToken): VerifyToken =>
  async (token, client) => {
    try {
      return await verify(token, client)
    } catch (error) {
      throw error instanceof TokenError ? toDirectoryError(error) : error
    }
  }

function toDirectoryError(error: TokenError): DirectoryError {
  const { code, message } = error
  if (code !== 'keys_unavailable') return new DirectoryError('unauthorized', message, { cause: error })
  return new DirectoryError('unavailable', `${message}: try again later`, { cause: error, retryAfter: RETRY_SECONDS })
}
