import type { JsonObject } from '@switchboard/protocol'
import { originOfId } from './id-origin.js'

/** How a publisher can prove that it controls a domain. */
export type ProofMethod = 'http' | 'dns'

/** A publisher's claim to a domain. Times are milliseconds since 1970. */
export interface DomainClaim {
  readonly owner: string
  /** Host name, followed by the port if it is not the default. */
  readonly name: string
  /** What the publisher has to publish; made for this owner and this domain. */
  readonly token: string
  /** When the proof was requested or, after it was lost, since when it has been missing. */
  readonly since: number
  /** Absent: pending. */
  readonly proof?: { readonly method: ProofMethod; readonly at: number }
  readonly checkedAt?: number
  /** Failed checks since the last successful one. */
  readonly failures: number
  readonly nextCheckAt: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Checks of a domain that is not proven yet: the first soon, then less and less often. */
const PENDING_MS = { first: MINUTE_MS / 4, longest: 6 * HOUR_MS }
/** How long a claim is kept without a proof. */
export const CLAIM_MS = 7 * DAY_MS
/** Interval between checks of a proven domain. */
const RECHECK_MS = DAY_MS
/** Failed checks in a row after which a proof is lost, an hour and then two hours apart. */
const MAX_FAILURES = 3

/** The normal form of a domain as a publisher writes it; undefined if it cannot be proven. */
export function domainOf(text: string, httpLoopback: boolean): string | undefined {
  const host = originOfId(`https://${text}`, httpLoopback)?.host
  return host === text.toLowerCase() ? host : undefined
}

/** A new claim. Its first check is due when the publisher has had time to publish the token. */
export const newClaim = (owner: string, name: string, token: string, now: number): DomainClaim => ({
  owner,
  name,
  token,
  since: now,
  failures: 0,
  nextCheckAt: now + PENDING_MS.first,
})

/** The claim after a check that found the token by this method, or did not find it. */
export function afterCheck(claim: DomainClaim, found: ProofMethod | undefined, now: number): DomainClaim {
  const { proof, ...rest } = claim
  if (found) {
    const kept = proof?.method === found ? proof : { method: found, at: proof?.at ?? now }
    return { ...rest, proof: kept, checkedAt: now, failures: 0, nextCheckAt: now + RECHECK_MS }
  }
  const failures = claim.failures + 1
  if (proof && failures < MAX_FAILURES) {
    return { ...claim, checkedAt: now, failures, nextCheckAt: now + failures * HOUR_MS }
  }
  const wait = Math.min(PENDING_MS.first * 2 ** Math.min(failures, 20), PENDING_MS.longest)
  return { ...rest, since: proof ? now : claim.since, checkedAt: now, failures, nextCheckAt: now + wait }
}

/** When the claim ends unless it is proven; undefined: it is proven. */
export const endOfClaim = ({ proof, since }: DomainClaim): number | undefined => (proof ? undefined : since + CLAIM_MS)

/** What everybody sees of a proven domain, in `verification`. */
export const showProof = ({ name, proof, checkedAt }: DomainClaim): JsonObject | undefined =>
  proof && {
    name,
    state: 'proven',
    method: proof.method,
    since: new Date(proof.at).toISOString(),
    checked_at: new Date(checkedAt ?? proof.at).toISOString(),
  }
