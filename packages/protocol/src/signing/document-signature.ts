import { base64url, decodeProtectedHeader, errors, FlattenedSign, flattenedVerify, type JWK } from 'jose'
import type { JsonObject } from '../json.js'
import { canonicalJson } from './canonical-json.js'
import {
  algorithmOf,
  candidateKeys,
  importKey,
  isSigningAlgorithm,
  type SigningAlgorithm,
  type VerificationKey,
} from './keys.js'
import { readSignatures, type SignatureClaim } from './signature-claims.js'
import { SigningError } from './signing-error.js'

/** A private key and the id of its public key. */
export interface SigningKey {
  /** A kid of the signer's key set, or the DID URL of a verification method. */
  readonly id: string
  readonly jwk: JWK
}

/** Which key signed a document. */
export interface DocumentSignature {
  readonly key: string | undefined
  readonly algorithm: SigningAlgorithm
}

/**
 * Adds a `signature` to the document: a detached JWS over its canonical form without that member (C-64). It remains valid
 * when the document is relayed unchanged.
 */
export async function signDocument(document: JsonObject, key: SigningKey): Promise<JsonObject> {
  const { signature: _replaced, ...content } = document
  const algorithm = algorithmOf(key.jwk)
  const jws = await new FlattenedSign(bytesOf(content))
    .setProtectedHeader({ alg: algorithm, kid: key.id })
    .sign(await importKey(key.jwk, algorithm))
  return { ...content, signature: { jws: `${jws.protected}..${jws.signature}`, kid: key.id } }
}

/**
 * Adds a signature to an A2A card: a JWS over its canonical form without `signatures` (A2A §8.4). A2A leaves members with
 * empty values and those that it does not define out of that form: only a card without them has the same form for everyone.
 *
 * @param keySet URL of the key set that has the public key
 */
export async function signCard(card: JsonObject, key: SigningKey, keySet: string): Promise<JsonObject> {
  const { signatures: _replaced, ...content } = card
  const algorithm = algorithmOf(key.jwk)
  const { protected: header = '', signature } = await new FlattenedSign(bytesOf(content))
    .setProtectedHeader({ alg: algorithm, kid: key.id, typ: 'JOSE', jku: keySet })
    .sign(await importKey(key.jwk, algorithm))
  return { ...content, signatures: [{ protected: header, signature }] }
}

/** A key that a document claims to be signed with, as the header of the signature names it. */
export interface ClaimedSigner {
  /** A kid of the signer's key set, or the DID URL of a verification method. */
  readonly key: string | undefined
  /** URL of the signer's key set (`jku`), as A2A cards name it. */
  readonly keySet: string | undefined
}

/**
 * The keys that a document claims to be signed with, not verified.
 *
 * @throws {SigningError} `malformed` if a signature has no readable header
 */
export const claimedSigners = (document: JsonObject): ClaimedSigner[] =>
  readSignatures(document).map((claim) => {
    const { kid, jku } = readHeader(claim.protected)
    return { key: kid, keySet: jku }
  })

/**
 * Verifies a document against the keys of the expected signer; one valid signature is enough.
 *
 * @throws {SigningError} with the reason why the last signature is not valid
 */
export async function verifyDocument(
  document: JsonObject,
  keys: readonly VerificationKey[],
): Promise<DocumentSignature> {
  let reason = new SigningError('unsigned', 'the document has no signature')
  for (const claim of readSignatures(document)) {
    try {
      return await verifyClaim(document, claim, keys)
    } catch (error) {
      if (!(error instanceof SigningError)) throw error
      reason = error
    }
  }
  throw reason
}

async function verifyClaim(
  document: JsonObject,
  claim: SignatureClaim,
  keys: readonly VerificationKey[],
): Promise<DocumentSignature> {
  const { alg: algorithm, kid } = readHeader(claim.protected)
  if (!isSigningAlgorithm(algorithm)) {
    throw new SigningError('unsupported_algorithm', `the signature's algorithm is not accepted: ${algorithm}`)
  }
  const { [claim.member]: _signature, ...content } = document
  const jws = {
    protected: claim.protected,
    payload: base64url.encode(bytesOf(content)),
    signature: claim.signature,
  }
  const candidates = candidateKeys(keys, algorithm, kid)
  for (const { id, jwk } of candidates) {
    if (await verifies(jws, jwk, algorithm)) return { key: kid ?? id, algorithm }
  }
  if (candidates.length === 0) {
    throw new SigningError('unknown_key', `the signer has published no key ${kid ?? ''} for ${algorithm}`)
  }
  throw new SigningError('bad_signature', 'the signature does not match the document')
}

async function verifies(
  jws: { protected: string; payload: string; signature: string },
  jwk: JWK,
  algorithm: SigningAlgorithm,
): Promise<boolean> {
  try {
    await flattenedVerify(jws, await importKey(jwk, algorithm), { algorithms: [algorithm] })
    return true
  } catch (error) {
    // This key is unusable; another one may verify the signature.
    if (error instanceof errors.JOSEError || error instanceof SigningError) return false
    throw error
  }
}

/** Algorithm, key id and URL of the key set in the protected header of a JWS; throws `malformed` if it cannot be read. */
function readHeader(header: string): Record<'alg' | 'kid' | 'jku', string | undefined> {
  try {
    const { alg, kid, jku }: Partial<Record<string, unknown>> = { ...decodeProtectedHeader({ protected: header }) }
    return { alg: textOf(alg), kid: textOf(kid), jku: textOf(jku) }
  } catch (error) {
    throw new SigningError('malformed', 'the signature has no readable header', error)
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const bytesOf = (content: JsonObject): Uint8Array => new TextEncoder().encode(canonicalJson(content))
