import { type CryptoKey, importJWK, type JWK } from 'jose'
import { asObjects, asString, type JsonObject, type JsonValue } from '../json.js'
import { SigningError } from './signing-error.js'

/** Maximum number of keys of one signer; the rest are ignored. */
const MAX_KEYS = 100

/** Accepted algorithms. All are asymmetric, so that a verifier cannot sign. */
export const SIGNING_ALGORITHMS = ['EdDSA', 'Ed25519', 'ES256', 'ES384', 'RS256', 'PS256'] as const

export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]

/** A public key and the id by which signatures refer to it. */
export interface VerificationKey {
  /** A kid, or the DID URL of a verification method; undefined if the publisher gives none. */
  readonly id: string | undefined
  readonly jwk: JWK
}

export const isSigningAlgorithm = (word: unknown): word is SigningAlgorithm =>
  SIGNING_ALGORITHMS.some((algorithm) => algorithm === word)

/** The algorithm that a key signs with: its `alg`, or the usual one for its type. */
export function algorithmOf(jwk: JWK): SigningAlgorithm {
  const algorithm = jwk.alg ?? ALGORITHM_OF_KEY[`${jwk.kty} ${jwk.crv ?? ''}`.trim()]
  if (isSigningAlgorithm(algorithm)) return algorithm
  throw new SigningError('unsupported_algorithm', `no accepted algorithm for a key of type ${jwk.kty} ${jwk.crv ?? ''}`)
}

const ALGORITHM_OF_KEY: Record<string, SigningAlgorithm | undefined> = {
  'OKP Ed25519': 'EdDSA',
  'EC P-256': 'ES256',
  'EC P-384': 'ES384',
  RSA: 'RS256',
}

/** Whether a key can verify signatures of that algorithm: its type matches, and its declared use allows it. */
export function fitsAlgorithm(jwk: JWK, algorithm: SigningAlgorithm): boolean {
  if (jwk.use !== undefined && jwk.use !== 'sig') return false
  if (Array.isArray(jwk.key_ops) && !jwk.key_ops.includes('verify')) return false
  if (jwk.alg !== undefined && !sameAlgorithm(jwk.alg, algorithm)) return false
  switch (algorithm) {
    case 'EdDSA':
    case 'Ed25519':
      return jwk.kty === 'OKP' && jwk.crv === 'Ed25519'
    case 'ES256':
      return jwk.kty === 'EC' && jwk.crv === 'P-256'
    case 'ES384':
      return jwk.kty === 'EC' && jwk.crv === 'P-384'
    case 'RS256':
    case 'PS256':
      return jwk.kty === 'RSA'
  }
}

/** EdDSA is the older name of Ed25519 (RFC 9864). */
const sameAlgorithm = (a: string, b: string): boolean => a === b || (isEdwards(a) && isEdwards(b))
const isEdwards = (algorithm: string): boolean => algorithm === 'EdDSA' || algorithm === 'Ed25519'

/** The public keys of a JWK Set (RFC 7517); invalid entries are skipped. */
export function readKeySet(document: JsonObject): VerificationKey[] {
  return asObjects(document.keys)
    .slice(0, MAX_KEYS)
    .flatMap((key) => {
      const jwk = readJwk(key)
      return jwk ? [{ id: asString(key.kid), jwk }] : []
    })
}

/** The public members of a JSON Web Key; undefined if it cannot verify signatures. */
export function readJwk(value: JsonValue | undefined): JWK | undefined {
  const [key] = asObjects([value ?? null])
  const kty = asString(key?.kty)
  if (!key || !kty || !['OKP', 'EC', 'RSA'].includes(kty)) return undefined
  const members = ['crv', 'x', 'y', 'n', 'e', 'alg', 'use'].flatMap((name) => {
    const text = asString(key[name])
    return text === undefined ? [] : [[name, text] as const]
  })
  return { kty, ...Object.fromEntries(members) }
}

/** The key for WebCrypto; throws `malformed` if it cannot be imported. */
export async function importKey(jwk: JWK, algorithm: SigningAlgorithm): Promise<CryptoKey> {
  try {
    const key = await importJWK(jwk, algorithm)
    if (!(key instanceof Uint8Array)) return key
  } catch (error) {
    throw new SigningError('malformed', `the key cannot be used with ${algorithm}`, error)
  }
  throw new SigningError('unsupported_algorithm', 'symmetric keys are not accepted')
}

/** The keys that a signature's header may refer to, few enough to try them all. */
export function candidateKeys(
  keys: readonly VerificationKey[],
  algorithm: SigningAlgorithm,
  id: string | undefined,
): VerificationKey[] {
  const matches = (key: VerificationKey): boolean =>
    id === undefined || key.id === undefined || key.id === id || (id.startsWith('#') && key.id.endsWith(id))
  return keys.filter((key) => matches(key) && fitsAlgorithm(key.jwk, algorithm)).slice(0, MAX_TRIES)
}

/** Maximum number of keys to try for one signature. */
const MAX_TRIES = 4
