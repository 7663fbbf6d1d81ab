import { isObject, type JsonObject } from '@switchboard/protocol/json'
import { ClientError } from '../errors.js'

/** Which agents this client may call. */
export interface TrustPolicy {
  /** Only agents that the directory's operator has verified or certified; publishers' own claims do not count. */
  readonly requireCertified?: boolean
  /** Lowest quality score, from 0 to 5, as stated by the directory. */
  readonly minQuality?: number
  /** Protocols of the bindings that may be called directly; default: http and https. */
  readonly protocols?: readonly string[]
}

/** Whether what the directory states about an agent meets the policy (C-23). */
export function meetsPolicy(metadata: JsonObject, { requireCertified, minQuality }: TrustPolicy): boolean {
  const verification = isObject(metadata.verification) ? metadata.verification : {}
  if (requireCertified && !isCertified(verification)) return false
  const quality = verification.quality_score
  return minQuality === undefined || (typeof quality === 'number' && quality >= minQuality)
}

const isCertified = ({ state, certification }: JsonObject): boolean =>
  state === 'verified' || (isObject(certification) && certification.verified === true)

/** Statuses of agents that must not be called (C-21). */
const NOT_AVAILABLE = new Set(['inactive', 'suspended', 'revoked'])

/** Throws if an agent must not be called: it is not active, marked unsafe, or does not meet the policy. */
export function assertCallable(metadata: JsonObject & { readonly id: string }, policy: TrustPolicy): void {
  const reject = (reason: string): never => {
    throw new ClientError('permission_denied', `${metadata.id} was not called: ${reason}`)
  }
  if (typeof metadata.status === 'string' && NOT_AVAILABLE.has(metadata.status)) reject(`it is ${metadata.status}`)
  if (isObject(metadata.verification) && metadata.verification.unsafe === true) reject('it is marked unsafe')
  if (!meetsPolicy(metadata, policy)) reject('it does not meet requireCertified or minQuality')
}
