import { errors, jwtVerify } from 'jose'
import { checkOrder, DELEGATION_TYPE, type DelegationHop, hashOf, readHop, splitChain } from './delegation.js'
import { candidateKeys, importKey, isSigningAlgorithm, SIGNING_ALGORITHMS, type VerificationKey } from './keys.js'
import type { SeenTokens } from './seen-tokens.js'
import { SigningError } from './signing-error.js'

/** Seconds that clocks may differ. */
const CLOCK_TOLERANCE = 30

/** Seconds; who wants a longer life for a token is up to no good. */
const MAX_LIFETIME = 86_400

export interface DelegationCheck {
  /** The names by which this agent is called; the last hop must be for one of them. */
  readonly audience: string | readonly string[]
  /** Keys of an issuer; called only for chains that are in order otherwise. */
  readonly keysOf: (issuer: string) => Promise<readonly VerificationKey[]>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Remembers the tokens that were shown here; without it a token can be shown again until it expires. */
  readonly seen?: SeenTokens
}

export interface Delegation {
  /** For whom it is done. */
  readonly subject: string
  /** Who handed the task on, from the first to the one who called. */
  readonly actors: readonly string[]
  readonly hops: readonly DelegationHop[]
}

/**
 * Verifies the value of `X-Delegation-Chain`: every signature, the order of the hops, their lifetimes and that the last
 * one is for this agent and new (C-65). What costs nothing is checked first, so that nonsense fetches no keys.
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
    throw new SigningError('wrong_audience', 'the last hop is for another agent')
  }
  await checkHashes(tokens, hops)

  for (const [i, token] of tokens.entries()) await checkSignature(token, hops[i] ?? first, check)
  // Earlier hops may come again: their audience can make several calls for the one it received.
  if (check.seen && !(await check.seen.add(`${last.issuer} ${last.id}`, (last.expiresAt + CLOCK_TOLERANCE) * 1000))) {
    throw new SigningError('replayed', 'the last hop was shown before')
  }
  return { subject: first.subject, actors: hops.map(({ issuer }) => issuer), hops }
}

function checkLifetime({ issuedAt, expiresAt }: DelegationHop, now: number): void {
  if (expiresAt + CLOCK_TOLERANCE <= now) throw new SigningError('expired', 'a hop has expired')
  if (issuedAt - CLOCK_TOLERANCE > now) throw new SigningError('malformed', 'a hop was issued in the future')
  if (expiresAt - issuedAt > MAX_LIFETIME) {
    throw new SigningError('malformed', `a hop is good for more than ${MAX_LIFETIME} seconds`)
  }
}

async function checkHashes(tokens: readonly string[], hops: readonly DelegationHop[]): Promise<void> {
  for (const [i, hop] of hops.entries()) {
    const before = tokens[i - 1]
    if (hop.prior !== (before === undefined ? undefined : await hashOf(before))) {
      throw new SigningError('broken_chain', `hop ${i + 1} was not made for the hop before it`)
    }
  }
}

async function checkSignature(token: string, hop: DelegationHop, check: DelegationCheck): Promise<void> {
  const keys = await check.keysOf(hop.issuer)
  try {
    await jwtVerify(
      token,
      async ({ alg, kid }) => {
        if (!isSigningAlgorithm(alg)) throw new SigningError('unsupported_algorithm', `not accepted: ${alg}`)
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
      throw new SigningError('bad_signature', `the hop of ${hop.issuer} is forged`, error)
    throw error
  }
}
