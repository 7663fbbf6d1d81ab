import { isObject, type JsonObject } from '@switchboard/protocol'
import { ClientError } from '../errors.js'

/** What an agent must be for this client to call it. */
export interface TrustPolicy {
  /** Only agents that the directory's operator has verified or certified; what publishers say of themselves is no proof. */
  readonly requireCertified?: boolean
  /** The least quality score that the directory vouches for, from 0 to 5. */
  readonly minQuality?: number
  /** Protocols of bindings that may be called directly; undefined: http and https. */
  readonly protocols?: readonly string[]
}

/** Whether the directory vouches for as much as the policy asks (C-23). */
export function isGoodEnough(metadata: JsonObject, { requireCertified, minQuality }: TrustPolicy): boolean {
  const verification = isObject(metadata.verification) ? metadata.verification : {}
  if (requireCertified && !isCertified(verification)) return false
  const quality = verification.quality_score
  return minQuality === undefined || (typeof quality === 'number' && quality >= minQuality)
}

const isCertified = ({ state, certification }: JsonObject): boolean =>
  state === 'verified' || (isObject(certification) && certification.verified === true)

/** Statuses of agents that are not to be called (C-21). */
const NOT_AVAILABLE = new Set(['inactive', 'suspended', 'revoked'])

/** Throws if an agent is not to be called: switched off since it was found, marked unsafe, or below the policy. */
export function assertCallable(metadata: JsonObject & { readonly id: string }, policy: TrustPolicy): void {
  const refuse = (why: string): never => {
    throw new ClientError('permission_denied', `${metadata.id} is not called: ${why}`)
  }
  if (typeof metadata.status === 'string' && NOT_AVAILABLE.has(metadata.status)) refuse(`it is ${metadata.status}`)
  if (isObject(metadata.verification) && metadata.verification.unsafe === true) refuse('it is marked unsafe')
  if (!isGoodEnough(metadata, policy)) refuse('the directory does not vouch for what the policy asks')
}

/** Text of a stranger for people: no control characters and no marks that turn the reading direction (AD §8.5). */
export const toDisplayText = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]+/gu, ' ').trim()
