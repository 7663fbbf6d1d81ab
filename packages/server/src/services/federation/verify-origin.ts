import {
  createTokenBuckets,
  isObject,
  type JsonObject,
  SigningError,
  type VerificationKey,
  verifyDocument,
} from '@switchboard/protocol'
import type { SignerKeys } from '../trust/signer-keys.js'
import type { KnownPeer } from './peers.js'

/** The signature of a record by its origin, if this directory has verified it; undefined otherwise. */
export type VerifyOrigin = (
  record: JsonObject,
  service: string,
  peer: Pick<KnownPeer, 'name'>,
) => Promise<{ jws: string; kid: string } | undefined>

/**
 * Origins without usable keys that one peer may name in a period of milliseconds. A peer names any addresses, and every
 * one of them is asked: without a limit, a peer could direct a flood of requests at others.
 */
const UNKNOWN_ORIGINS = { count: 100, periodMs: 600_000 }
/** Origins that are remembered: those with keys, and those without. */
const MAX_ORIGINS = 1000

/** Where a directory publishes its keys. */
export const keySetOf = (service: string): string => `${service}/.well-known/jwks.json`

/** Verifies a record with the keys that its origin publishes. Keys that cannot be read verify nothing. */
export function createVerifyOrigin(keysOf: SignerKeys, monotonic: () => number): VerifyOrigin {
  const failures = createTokenBuckets({
    capacity: UNKNOWN_ORIGINS.count,
    refillMs: UNKNOWN_ORIGINS.periodMs,
    maxKeys: MAX_ORIGINS,
    monotonic,
  })
  /** Origins whose keys could be read. */
  const known = new Map<string, true>()
  /** Until when an origin is not tried again for a peer. One peer must not be able to spoil an origin for the others. */
  const failedUntil = new Map<string, number>()

  const readKeys = async (service: string, peer: string): Promise<readonly VerificationKey[]> => {
    const failure = `${peer} ${service}`
    const isTried = (failedUntil.get(failure) ?? 0) <= monotonic() && failures.levelOf(peer).tokens > 0
    if (!known.has(service) && !isTried) return []
    const keys = await keysOf(keySetOf(service)).catch(() => [])
    if (keys.length > 0) remember(known, service, true)
    else {
      failures.charge(peer, 1)
      remember(failedUntil, failure, monotonic() + UNKNOWN_ORIGINS.periodMs)
    }
    return keys
  }

  return async (record, service, { name }) => {
    const { signature } = record
    if (!isObject(signature) || typeof signature.jws !== 'string') return undefined
    try {
      const { key } = await verifyDocument(record, await readKeys(service, name))
      return { jws: signature.jws, kid: key ?? '' }
    } catch (error) {
      if (error instanceof SigningError) return undefined
      throw error
    }
  }
}

/** Forgets the oldest entry if there are too many. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > MAX_ORIGINS && oldest !== undefined) map.delete(oldest)
}
