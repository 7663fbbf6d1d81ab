import { base64url, decodeJwt, SignJWT } from 'jose'
import type { SigningKey } from './document-signature.js'
import { algorithmOf, importKey } from './keys.js'
import { SigningError } from './signing-error.js'

/** Maximum number of hops in a chain (C-65). */
export const MAX_DELEGATION_HOPS = 10

/** Characters; servers do not accept much larger headers. */
const MAX_CHAIN_LENGTH = 16_384

/** The `typ` of delegation tokens, so that no other JWT is accepted as one, or the reverse (RFC 8725 §3.11). */
export const DELEGATION_TYPE = 'delegation+jwt'

/** Seconds. */
const DEFAULT_LIFETIME = 300

/** One step of a delegation: `issuer` asks `audience` to act on behalf of `subject`. */
export interface DelegationHop {
  readonly issuer: string
  /** On whose behalf the task is done; the same in every hop of a chain. */
  readonly subject: string
  readonly audience: string
  /** Unique among the tokens of its issuer. */
  readonly id: string
  /** Seconds since 1970. */
  readonly issuedAt: number
  readonly expiresAt: number
  /** Hash of the previous hop; absent in the first. */
  readonly prior?: string
}

export interface DelegationRequest {
  /** The received chain to extend; absent at the start of a chain. */
  readonly chain?: string
  /** Who delegates: a DID, or an agent or https URL whose keys the audience can find. */
  readonly issuer: string
  /** Required at the start of a chain; later hops keep it. */
  readonly subject?: string
  readonly audience: string
  readonly key: SigningKey
  /** Seconds. */
  readonly lifetime?: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Generates the id of the token. */
  readonly newId: () => string
}

/**
 * Adds a signed hop to a delegation chain and returns the new value of `X-Delegation-Chain` (C-65). Throws instead of
 * signing a chain that the receiver would reject: a loop, too many hops, or a chain that was issued to another agent.
 */
export async function delegate(request: DelegationRequest): Promise<string> {
  const { chain, issuer, audience, key, lifetime = DEFAULT_LIFETIME } = request
  const tokens = splitChain(chain ?? '')
  const earlier = tokens.map(readHop)
  const subject = earlier[0]?.subject ?? request.subject
  if (subject === undefined) throw new SigningError('malformed', 'the first hop of a chain needs a subject')

  const issuedAt = Math.floor(request.now() / 1000)
  const last = tokens.at(-1)
  const prior = last === undefined ? undefined : await hashOf(last)
  const hop = { issuer, subject, audience, id: request.newId(), issuedAt, expiresAt: issuedAt + lifetime }
  checkOrder([...earlier, hop])

  const algorithm = algorithmOf(key.jwk)
  const token = await new SignJWT({ sub: subject, jti: hop.id, ...(prior !== undefined && { prior }) })
    .setProtectedHeader({ alg: algorithm, kid: key.id, typ: DELEGATION_TYPE })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(hop.expiresAt)
    .sign(await importKey(key.jwk, algorithm))
  return [...tokens, token].join(',')
}

/** The tokens in the value of `X-Delegation-Chain`. */
export function splitChain(chain: string): string[] {
  if (chain.length > MAX_CHAIN_LENGTH) {
    throw new SigningError('too_long', `the chain has more than ${MAX_CHAIN_LENGTH} characters`)
  }
  const tokens = chain.split(',').map((token) => token.trim())
  return tokens.filter((token) => token !== '')
}

/** The claims of a token, not verified. */
export function readHop(token: string): DelegationHop {
  const { iss, sub, aud, jti, iat, exp, prior }: Record<string, unknown> = readClaims(token)
  if (typeof iss !== 'string' || typeof sub !== 'string' || typeof aud !== 'string' || typeof jti !== 'string') {
    throw new SigningError('malformed', 'a hop must have iss, sub, aud and jti, each a string')
  }
  if (typeof exp !== 'number' || typeof iat !== 'number') {
    throw new SigningError('malformed', 'a hop must have iat and exp, each a number')
  }
  const hop = { issuer: iss, subject: sub, audience: aud, id: jti, issuedAt: iat, expiresAt: exp }
  return typeof prior === 'string' ? { ...hop, prior } : hop
}

function readClaims(token: string): Record<string, unknown> {
  try {
    return decodeJwt(token)
  } catch (error) {
    throw new SigningError('malformed', 'the chain contains something that is not a JWT', error)
  }
}

/** Checks that each hop continues the previous one for the same subject, and that no actor occurs twice. */
export function checkOrder(hops: readonly DelegationHop[]): void {
  if (hops.length > MAX_DELEGATION_HOPS) {
    throw new SigningError('too_long', `the chain has more than ${MAX_DELEGATION_HOPS} hops`)
  }
  const actors = new Set<string>()
  for (const [i, hop] of hops.entries()) {
    const before = hops[i - 1]
    if (before && (hop.issuer !== before.audience || hop.subject !== before.subject)) {
      throw new SigningError('broken_chain', `hop ${i + 1} does not continue hop ${i}`)
    }
    actors.add(hop.issuer)
    if (actors.has(hop.audience)) {
      throw new SigningError('loop', `hop ${i + 1} delegates to an agent that is already in the chain`)
    }
  }
}

/** The hash that the next hop contains, so that no hop can be removed or moved to another chain. */
export async function hashOf(token: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))))
}
