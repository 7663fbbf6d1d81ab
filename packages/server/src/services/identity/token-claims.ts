import { isObject, readSubject, subjectProblem, TokenError } from '@switchboard/protocol'
import type { Holder } from '../../policy/caller.js'
import type { Subjects } from '../../policy/subjects.js'
import type { Issuer } from './issuers.js'
import { scopesOf } from './token-scopes.js'

/** The content of a verified token that the directory uses. */
export interface TokenClaims {
  readonly subject: string
  readonly scopes: readonly string[]
  /** Agent names or prefixes that the token is limited to. */
  readonly names?: readonly string[]
  /** Milliseconds since 1970; absent if the issuer does not say. */
  readonly expiresAt?: number
  /** SHA-256 of the client certificate with which the token must be presented, in base64url (RFC 8705 §3.1). */
  readonly certificate?: string
}

/** The subject of a token, with its rights. */
export const holderOfClaims = ({ subject, scopes, names, expiresAt }: TokenClaims): Holder => ({
  subject,
  kind: 'token',
  scopes: new Set(scopes),
  ...(names && { names }),
  ...(expiresAt !== undefined && { credentialEnds: expiresAt }),
})

/** Claims that have been verified, or that the issuer has responded with. */
export type Claims = Readonly<Record<string, unknown>>

/** Reads verified claims; throws a `TokenError` if they are malformed. */
export function readClaims(claims: Claims, { issuer, scopes }: Issuer, subjects: Subjects): TokenClaims {
  const subject = subjects.ofToken(issuer, readSubject(claims))
  const problem = subjectProblem(subject)
  if (problem !== undefined) throw new TokenError('invalid', `the subject of the token with its issuer ${problem}`)
  return {
    subject,
    scopes: scopesOf(claims, scopes),
    ...readNames(claims.names),
    ...readConfirmation(claims.cnf),
    ...(typeof claims.exp === 'number' && { expiresAt: claims.exp * 1000 }),
  }
}

/**
 * The claims of an issuer's response, with the checks of a JWT (RFC 7662 §4). A token that a client got for itself may
 * have no subject: then it is the client, as in a JWT (RFC 9068 §2.2).
 */
export function checkIntrospected(claims: Claims, { issuer, audience }: Issuer, now: number): Claims {
  const { iss = issuer, aud, exp, nbf, token_type: type = 'Bearer' } = claims
  const isFor = (one: unknown): boolean => typeof one === 'string' && [audience].flat().includes(one)
  const checks: Record<string, boolean> = {
    iss: iss === issuer,
    aud: [aud].flat().some(isFor),
    exp: exp === undefined || (typeof exp === 'number' && Number.isFinite(exp * 1000)),
    nbf: nbf === undefined || (typeof nbf === 'number' && nbf * 1000 <= now),
    token_type: typeof type === 'string' && type.toLowerCase() === 'bearer',
  }
  const wrong = Object.keys(checks).find((claim) => checks[claim] === false)
  if (wrong !== undefined) throw new TokenError('invalid', `the claim ${wrong} of the token is missing or wrong`)
  if (typeof exp === 'number' && exp * 1000 <= now) throw new TokenError('expired', 'the token has expired')
  return { sub: claims.client_id, ...claims }
}

/** A malformed limit is rejected: ignoring it would lift it. */
function readNames(names: unknown): Pick<TokenClaims, 'names'> {
  if (names === undefined) return {}
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return { names }
  throw new TokenError('invalid', 'the claim names of the token must be an array of strings')
}

/** A token that is bound in a way which cannot be checked here is rejected (RFC 7800 §3.1). */
function readConfirmation(confirmation: unknown): Pick<TokenClaims, 'certificate'> {
  if (confirmation === undefined) return {}
  const { 'x5t#S256': certificate, ...others } = isObject(confirmation) ? confirmation : {}
  if (typeof certificate === 'string' && Object.keys(others).length === 0) return { certificate }
  throw new TokenError('invalid', 'the claim cnf of the token must be the x5t#S256 of a client certificate')
}
