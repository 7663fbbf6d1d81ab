import { createLocalJWKSet, decodeJwt, errors, type JWK, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { subjectProblem } from '../identifiers.js'
import { SIGNING_ALGORITHMS } from '../signing/keys.js'
import { createRemoteKeySet, KeysUnavailableError } from './remote-key-set.js'

const REQUIRED_CLAIMS = ['sub', 'exp']
/** Seconds since 1970; a `Date` cannot be later. */
const LAST_SECOND = 8_640_000_000_000

/** An issuer whose JSON Web Tokens are accepted, with its public keys or the URL of its key set. */
export type TrustedIssuer = {
  readonly issuer: string
  /** A token must be meant for this audience, or for one of these. */
  readonly audience: string | readonly string[]
} & ({ readonly jwksUrl: string } | { readonly keys: readonly JWK[] })

/** The verified content of a token. */
export interface VerifiedToken {
  readonly issuer: string
  /** The claim `sub`: unique for this issuer only. */
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
  /** Milliseconds of a clock that is never set, to measure intervals. Default: `performance.now`. */
  readonly monotonic?: () => number
}

/**
 * Verifies bearer JWTs (AD §8.2, AURI §10): a trusted issuer, an asymmetric signature algorithm, the audience, `sub`
 * and `exp`.
 */
export function createTokenVerifier(
  issuers: readonly TrustedIssuer[],
  { now, clockTolerance = 0, ...deps }: TokenVerifierDeps,
): TokenVerifier {
  const trusted = new Map(issuers.map((issuer) => [issuer.issuer, { ...issuer, keySet: keySetOf(issuer, deps) }]))
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
      return readClaims(found.issuer, payload)
    } catch (error) {
      throw toTokenError(error)
    }
  }
}

function keySetOf(
  issuer: TrustedIssuer,
  { fetch = globalThis.fetch, monotonic = () => performance.now() }: Pick<TokenVerifierDeps, 'fetch' | 'monotonic'>,
): JWTVerifyGetKey {
  if ('keys' in issuer) return createLocalJWKSet({ keys: [...issuer.keys] })
  return createRemoteKeySet({ url: issuer.jwksUrl, fetch, monotonic })
}

/** The issuer that a token names. It is not verified: it only chooses what to verify the token with. */
export function claimedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token)
    return typeof iss === 'string' ? iss : undefined
  } catch (error) {
    if (error instanceof errors.JWTInvalid) return undefined
    throw error
  }
}

function readClaims(issuer: string, claims: JWTPayload): VerifiedToken {
  const { exp } = claims
  if (exp === undefined || !(exp <= LAST_SECOND)) throw wrongClaim('exp', 'is not a time')
  return { issuer, subject: readSubject(claims), scopes: readScopes(claims), expiresAt: exp * 1000, claims }
}

/** The claim `sub`; throws a `TokenError` if it is not a valid subject. */
export function readSubject({ sub }: Readonly<Record<string, unknown>>): string {
  if (typeof sub !== 'string') throw wrongClaim('sub', 'must be a string')
  const problem = subjectProblem(sub)
  if (problem !== undefined) throw wrongClaim('sub', problem)
  return sub
}

/** `scope` is a list separated by spaces (RFC 8693 §4.2); some issuers send `scp` instead, as such a list or an array. */
export function readScopes({ scope, scp }: Readonly<Record<string, unknown>>): string[] {
  return readWords(scope === undefined || scope === null ? 'scp' : 'scope', scope ?? scp)
}

/** The words of a claim: a list separated by spaces, or an array of strings; none if the claim is absent or null. */
export function readWords(claim: string, words: unknown): string[] {
  if (words === undefined || words === null) return []
  if (typeof words === 'string') return words.split(' ').filter((word) => word !== '')
  if (Array.isArray(words) && words.every((word) => typeof word === 'string'))
    return words.filter((word) => word !== '')
  throw wrongClaim(claim, 'must be a string or an array of strings')
}

const wrongClaim = (claim: string, problem: string): TokenError =>
  new TokenError('invalid', `the claim ${claim} of the token ${problem}`)

function toTokenError(error: unknown): TokenError {
  if (error instanceof TokenError) return error
  if (error instanceof KeysUnavailableError) {
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
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'the token does not say which key it is signed with: it needs a kid'
  return 'the token is malformed'
}
