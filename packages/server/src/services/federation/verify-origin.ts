import { isObject, type JsonObject, verifyDocument } from '@switchboard/protocol'
import type { SignerKeys } from '../trust/signer-keys.js'

/** The signature of a record by its origin, if this directory has verified it; undefined otherwise. */
export type VerifyOrigin = (record: JsonObject, service: string) => Promise<{ jws: string; kid: string } | undefined>

/** Verifies a record with the keys that its origin publishes. Keys that cannot be read verify nothing. */
export function createVerifyOrigin(keysOf: SignerKeys): VerifyOrigin {
  return async (record, service) => {
    const { signature } = record
    if (!isObject(signature) || typeof signature.jws !== 'string') return undefined
    try {
      const keys = await keysOf(`${service}/.well-known/jwks.json`)
      const { key } = await verifyDocument(record, keys)
      return { jws: signature.jws, kid: key ?? '' }
    } catch {
      return undefined
    }
  }
}
