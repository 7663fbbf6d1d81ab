import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import { subjectProblem } from '../identifiers.js'
import { SIGNING_ALGORITHMS } from '../signing/keys.js'

const REQUIRED_CLAIMS = ['sub', 'exp']
/** Milliseconds to fetch the key set of an issuer. */
const KEYS_TIMEOUT_MS = 5000

/** An issuer whose JSON Web Tokens are accepted, with its public keys or the URL of its key set. */
export type TrustedIssuer = {
  readonly issuer: string
  /** A token must be meant for this audience, or for one of these. */
  readonly audience: string | readonly string[]
} & ({ readonly jwksUrl: string } | { readonly keys: readonly JWK[] })

/** The verified content of a token. */
export interface VerifiedToken {
  readonly subject: string
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** All claims. */
  readonly claims: JWTPayload
}

/** Why a token is rejected; `keys_unavailable` says nothing about the token, the others are final. */
export type TokenErrorCode = 'unknown_issuer' | 'unsupported_algorithm' | 'expired' | 'invalid' | 'keys_unavailable'

/** A token that cannot be verified. The message is ASCII without quotation marks, and safe to show to the caller. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  readonly code: TokenErrorCode

  constructor(code: TokenErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Verifies a token and returns its content, or throws a `TokenError`. */
export type TokenVerifier = (token: string) => Promise<VerifiedToken>

export interface TokenVerifierDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Seconds by which the clocks of issuer and verifier may differ. Default: 0. */
  readonly clockTolerance?: number
  /** Fetches key sets; default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

/**
 * Verifies bearer JWTs (AD §8.2, AURI §10): a trusted issuer, an asymmetric signature algorithm, the audience, `sub`
 * and `exp`.
 */
export function createTokenVerifier(
  issuers: readonly TrustedIssuer[],
  { now, fetch, clockTolerance = 0 }: TokenVerifierDeps,
): TokenVerifier {
  const trusted = new Map(issuers.map((issuer) => [issuer.issuer, { ...issuer, keySet: keySetOf(issuer, fetch) }]))
  return async (token) => {
    const found = trusted.get(claimedIssuer(token) ?? '')
    if (!found) throw new TokenError('unknown_issuer', 'the issuer of the token is not trusted here')
    try {
      const { payload } = await jwtVerify(token, found.keySet, {
        issuer: found.issuer,
        audience: [found.audience].flat(),
        algorithms: [...SIGNING_ALGORITHMS],
        requiredClaims: REQUIRED_CLAIMS,
        clockTolerance,
        currentDate: new Date(now()),
      })
      return readClaims(payload)
    } catch (error) {
      throw toTokenError(error)
    }
  }
}

function keySetOf(issuer: TrustedIssuer, fetch: TokenVerifierDeps['fetch']): JWTVerifyGetKey {
  if ('keys' in issuer) return createLocalJWKSet({ keys: [...issuer.keys] })
  return createRemoteJWKSet(new URL(issuer.jwksUrl), {
    timeoutDuration: KEYS_TIMEOUT_MS,
    ...(fetch && { [customFetch]: (url: string, init: RequestInit) => fetch(url, init) }),
  })
}

/** Not verified yet: it only chooses the keys to verify with. */
function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch (error) {
    if (error instanceof errors.JWTInvalid) return undefined
    throw error
  }
}

function readClaims(claims: JWTPayload): VerifiedToken {
  const { sub = '', exp = 0 } = claims
  const problem = subjectProblem(sub)
  if (problem !== undefined) throw new TokenError('invalid', `the subject of the token ${problem}`)
  return { subject: sub, scopes: readScopes(claims), expiresAt: exp * 1000, claims }
}

/** `scope` is a list separated by spaces (RFC 8693 §4.2); some issuers send `scp` instead, as such a list or an array. */
function readScopes({ scope, scp }: JWTPayload): string[] {
  const words = scope ?? scp
  if (typeof words === 'string') return words.split(' ').filter((word) => word !== '')
  return Array.isArray(words) ? words.filter((word): word is string => typeof word === 'string' && word !== '') : []
}

function toTokenError(error: unknown): TokenError {
  if (error instanceof TokenError) return error
  if (areKeysUnavailable(error)) {
    return new TokenError('keys_unavailable', 'the keys of the issuer of the token cannot be fetched', error)
  }
  if (error instanceof errors.JWTExpired) return new TokenError('expired', 'the token has expired', error)
  if (error instanceof errors.JOSEAlgNotAllowed) {
    const message = `the signature algorithm of the token is not accepted: use one of ${SIGNING_ALGORITHMS.join(', ')}`
    return new TokenError('unsupported_algorithm', message, error)
  }
  return new TokenError('invalid', invalidMessage(error), error)
}

function invalidMessage(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed)
    return `the claim ${error.claim} of the token is missing or wrong`
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'the signature of the token is not valid'
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'the issuer of the token does not publish the key it is signed with'
  return 'the token is malformed'
}

const areKeysUnavailable = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) ||
  ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code)
