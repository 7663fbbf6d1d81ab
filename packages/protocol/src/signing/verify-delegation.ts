import { errors, jwtVerify } from 'jose'
import { checkOrder, DELEGATION_TYPE, type DelegationHop, hashOf, readHop, splitChain } from './delegation.js'
import { candidateKeys, importKey, isSigningAlgorithm, SIGNING_ALGORITHMS, type VerificationKey } from './keys.js'
import type { SeenTokens } from './seen-tokens.js'
import { SigningError } from './signing-error.js'

/** Seconds by which clocks may differ. */
const CLOCK_TOLERANCE = 30

/** Seconds; longest accepted lifetime of a hop. */
const MAX_LIFETIME = 86_400

export interface DelegationCheck {
  /** The names of this agent; the last hop must be addressed to one of them. */
  readonly audience: string | readonly string[]
  /** The keys of an issuer; called only once every other check has passed. */
  readonly keysOf: (issuer: string) => Promise<readonly VerificationKey[]>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Detects replays; without it a token can be used again until it expires. */
  readonly seen?: SeenTokens
}

export interface Delegation {
  /** On whose behalf the task is done. */
  readonly subject: string
  /** The delegating agents, from the first to the caller. */
  readonly actors: readonly string[]
  readonly hops: readonly DelegationHop[]
}

/**
 * Verifies the value of `X-Delegation-Chain`: every signature, the order of the hops, their lifetimes, and that the last
 * one is addressed to this agent and not replayed (C-65). The cheap checks come first, so that an invalid chain does not
 * cause keys to be fetched.
 *
 * @throws {SigningError} with the reason; a chain is never trusted in part
 */
export async function verifyDelegation(chain: string, check: DelegationCheck): Promise<Delegation> {
  const tokens = splitChain(chain)
  const hops = tokens.map(readHop)
  const [first, last] = [hops[0], hops.at(-1)]
  if (!first || !last) throw new SigningError('unsigned', 'the chain is empty')
  checkOrder(hops)
  for (const hop of hops) checkLifetime(hop, check.now() / 1000)
  if (![check.audience].flat().includes(last.audience)) {
    throw new SigningError('wrong_audience', 'the last hop is addressed to another agent')
  }
  await checkHashes(tokens, hops)

  for (const [i, token] of tokens.entries()) await checkSignature(token, hops[i] ?? first, check)
  // Earlier hops may occur again: their audience may make several calls for the one it received.
  if (check.seen && !(await check.seen.add(`${last.issuer} ${last.id}`, (last.expiresAt + CLOCK_TOLERANCE) * 1000))) {
    throw new SigningError('replayed', 'the last hop was used before')
  }
  return { subject: first.subject, actors: hops.map(({ issuer }) => issuer), hops }
}

function checkLifetime({ issuedAt, expiresAt }: DelegationHop, now: number): void {
  if (expiresAt + CLOCK_TOLERANCE <= now) throw new SigningError('expired', 'a hop has expired')
  if (issuedAt - CLOCK_TOLERANCE > now) throw new SigningError('malformed', 'a hop was issued in the future')
  if (expiresAt - issuedAt > MAX_LIFETIME) {
    throw new SigningError('malformed', `a hop is valid for more than ${MAX_LIFETIME} seconds`)
  }
}

async function checkHashes(tokens: readonly string[], hops: readonly DelegationHop[]): Promise<void> {
  for (const [i, hop] of hops.entries()) {
    const before = tokens[i - 1]
    if (hop.prior !== (before === undefined ? undefined : await hashOf(before))) {
      throw new SigningError('broken_chain', `hop ${i + 1} does not contain the hash of the previous hop`)
    }
  }
}

async function checkSignature(token: string, hop: DelegationHop, check: DelegationCheck): Promise<void> {
  const keys = await check.keysOf(hop.issuer)
  try {
    await jwtVerify(
      token,
      async ({ alg, kid }) => {
        if (!isSigningAlgorithm(alg))
          throw new SigningError('unsupported_algorithm', `the algorithm ${alg} is not accepted`)
        const [key] = candidateKeys(keys, alg, kid)
        if (!key) throw new SigningError('unknown_key', `${hop.issuer} has published no key ${kid ?? ''} for ${alg}`)
        return importKey(key.jwk, alg)
      },
      {
        algorithms: [...SIGNING_ALGORITHMS],
        typ: DELEGATION_TYPE,
        currentDate: new Date(check.now()),
        clockTolerance: CLOCK_TOLERANCE,
      },
    )
  } catch (error) {
    if (error instanceof errors.JOSEError)
      throw new SigningError('bad_signature', `the signature of ${hop.issuer} is invalid`, error)
    throw error
  }
}
