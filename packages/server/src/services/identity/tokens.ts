import { DirectoryError } from '@switchboard/protocol'
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { subjectProblem } from '../../policy/caller.js'

/** An issuer whose JWTs are accepted (CONTRACT: `issuers[]`). */
export interface Issuer {
  readonly issuer: string
  readonly audience: string
  /** Written by the operator, so allowed as written. */
  readonly jwksUrl: string
}

/** What a verified token says. */
export interface TokenClaims {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly names?: readonly string[]
  readonly expiresAt?: number
}

export type VerifyToken = (token: string) => Promise<TokenClaims>

/** A JWT has three parts and a JSON header; API keys have neither. */
export const looksLikeToken = (secret: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(secret)

/** Verifies JWTs against the keys of their issuers: signature, issuer, audience and time (AD §8.2). */
export function createTokenVerifier(issuers: readonly Issuer[], now: () => number): VerifyToken {
  const keySets = new Map<string, { issuer: Issuer; keys: JWTVerifyGetKey }>(
    issuers.map((issuer) => [issuer.issuer, { issuer, keys: createRemoteJWKSet(new URL(issuer.jwksUrl)) }]),
  )
  return async (token) => {
    const known = keySets.get(issuerOf(token) ?? '')
    if (!known) throw refused('the token is of an issuer that this directory does not know')
    try {
      const { payload } = await jwtVerify(token, known.keys, {
        issuer: known.issuer.issuer,
        audience: known.issuer.audience,
        currentDate: new Date(now()),
        requiredClaims: ['sub', 'exp'],
      })
      return readClaims(payload)
    } catch (error) {
      if (error instanceof DirectoryError) throw error
      if (isIssuersFault(error)) {
        throw new DirectoryError('unavailable', 'the keys of the token\u2019s issuer cannot be had now: try again', {
          cause: error,
          retryAfter: 5,
        })
      }
      throw refused(error instanceof errors.JWTExpired ? 'the token has expired' : 'the token is not valid', error)
    }
  }
}

/** Whether the keys could not be fetched or read: then nothing is known of the token, good or bad. */
const isIssuersFault = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) ||
  ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code)

function issuerOf(token: string): string | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof payload === 'object' && payload !== null && 'iss' in payload ? String(payload.iss) : undefined
  } catch {
    return undefined
  }
}

function readClaims({ sub, exp, scope, scp, names }: JWTPayload): TokenClaims {
  if (sub === undefined) throw refused('the token names no subject')
  const problem = subjectProblem(sub)
  if (problem !== undefined) throw refused(`the subject of the token ${problem}`)
  const scopes = typeof scope === 'string' ? scope.split(' ') : Array.isArray(scp) ? scp.map(String) : []
  return {
    subject: sub,
    scopes: scopes.filter((word) => word !== ''),
    ...(Array.isArray(names) && { names: names.map(String) }),
    ...(exp !== undefined && { expiresAt: exp * 1000 }),
  }
}

const refused = (message: string, cause?: unknown): DirectoryError =>
  new DirectoryError('unauthorized', message, {
    cause,
    headers: {
      'www-authenticate': `Bearer realm="switchboard", error="invalid_token", error_description="${message}"`,
    },
  })
