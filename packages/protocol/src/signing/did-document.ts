import type { JWK } from 'jose'
import { asString, isObject, type JsonObject, type JsonValue } from '../json.js'
import { decodeBase58 } from './base58.js'
import { ed25519Key, keyOfMultibase } from './did-key.js'
import { readJwk, type VerificationKey } from './keys.js'
import { SigningError } from './signing-error.js'

/** Maximum number of verification methods; the rest are ignored. */
const MAX_METHODS = 100

/**
 * The keys that may sign for a DID: those of its `assertionMethod`, or all if the document has none
 * (DID Core §5.3.2). Methods of unknown types are skipped.
 */
export function readDidKeys(document: JsonObject): VerificationKey[] {
  const did = asString(document.id) ?? ''
  const methods = listOf(document.verificationMethod).filter(isObject)
  if (document.assertionMethod === undefined) return methods.flatMap((method) => readMethod(method, did))
  return listOf(document.assertionMethod).flatMap((entry) => {
    if (isObject(entry)) return readMethod(entry, did)
    const wanted = typeof entry === 'string' ? absoluteId(entry, did) : undefined
    const method = methods.find(({ id }) => typeof id === 'string' && absoluteId(id, did) === wanted)
    return method ? readMethod(method, did) : []
  })
}

const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value.slice(0, MAX_METHODS) : [])

/** The absolute DID URL; documents and signatures may use the relative form "#key-1". */
export const absoluteId = (id: string, did: string): string => (id.startsWith('#') ? did + id : id)

function readMethod(method: JsonObject, did: string): VerificationKey[] {
  const id = asString(method.id)
  const jwk = readPublicKey(method)
  return id !== undefined && jwk ? [{ id: absoluteId(id, did), jwk }] : []
}

function readPublicKey(method: JsonObject): JWK | undefined {
  const { publicKeyJwk, publicKeyMultibase, publicKeyBase58, type } = method
  try {
    if (publicKeyJwk !== undefined) return readJwk(publicKeyJwk)
    if (typeof publicKeyMultibase === 'string') return keyOfMultibase(publicKeyMultibase)
    if (typeof publicKeyBase58 === 'string' && type === 'Ed25519VerificationKey2018') {
      return ed25519Key(decodeBase58(publicKeyBase58))
    }
  } catch (error) {
    // A key of an unknown type does not invalidate the others.
    if (!(error instanceof SigningError)) throw error
  }
  return undefined
}
