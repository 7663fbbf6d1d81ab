import { SIGNING_ALGORITHMS } from '@switchboard/protocol'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import { AgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import type { TokenIssuer } from './options.js'

/** Seconds that clocks may differ. */
const CLOCK_TOLERANCE = 30
/** Milliseconds for the key set of an issuer. */
const KEYS_TIMEOUT_MS = 5000

export interface VerifiedToken {
  readonly subject: string
  readonly scopes: readonly string[]
}

/** Verifies JSON Web Tokens of known issuers; undefined for a text that is none of theirs. */
export function createTokens(
  issuers: readonly TokenIssuer[],
  { fetch, now }: Pick<Runtime, 'fetch' | 'now'>,
): (token: string) => Promise<VerifiedToken | undefined> {
  const known = new Map(issuers.map((issuer) => [issuer.issuer, { ...issuer, keySet: keySetOf(issuer, fetch) }]))
  return async (token) => {
    const issuer = known.get(issuerOf(token) ?? '')
    if (!issuer) return undefined
    try {
      const { payload } = await jwtVerify(token, issuer.keySet, {
        issuer: issuer.issuer,
        audience: [issuer.audience].flat(),
        algorithms: [...SIGNING_ALGORITHMS],
        requiredClaims: ['sub', 'exp'],
        clockTolerance: CLOCK_TOLERANCE,
        currentDate: new Date(now()),
      })
      const scope: unknown = payload.scope
      return { subject: payload.sub ?? '', scopes: typeof scope === 'string' ? scope.split(' ') : [] }
    } catch (error) {
      if (isKeySetDown(error)) {
        throw new AgentError('unavailable', `the keys of ${issuer.issuer} cannot be read`, {
          cause: error,
          retryAfter: 5,
        })
      }
      if (error instanceof errors.JOSEError) return undefined
      throw error
    }
  }
}

function keySetOf({ issuer, jwksUrl, keys }: TokenIssuer, fetch: Runtime['fetch']): JWTVerifyGetKey {
  if (keys) return createLocalJWKSet({ keys: [...keys] })
  if (jwksUrl === undefined) {
    throw new AgentError('invalid_definition', `the issuer ${issuer} needs a jwksUrl, or keys`)
  }
  return createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: KEYS_TIMEOUT_MS,
    [customFetch]: (url, init) => fetch(url, init),
  })
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch (error) {
    if (error instanceof errors.JWTInvalid) return undefined
    throw error
  }
}

/** It is the issuer who fails then, not the caller. */
const isKeySetDown = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) || error.code === 'ERR_JWKS_TIMEOUT' || error.code === 'ERR_JOSE_GENERIC'
