import { base64url, type JWK } from 'jose'
import { decodeBase58, encodeBase58 } from './base58.js'
import type { VerificationKey } from './keys.js'
import { SigningError } from './signing-error.js'

/** Multicodec prefixes as their varint bytes. */
const ED25519 = [0xed, 0x01]
const P256 = [0x80, 0x24]

/** The key encoded in a `did:key` (Ed25519 or P-256), with the id it has in the DID document. */
export function keyOfDidKey(did: string): VerificationKey {
  const multibase = /^did:key:(z[^#:]+)(#.*)?$/.exec(did)?.[1]
  if (multibase === undefined) throw new SigningError('malformed', 'not a did:key')
  return { id: `did:key:${multibase}#${multibase}`, jwk: keyOfMultibase(multibase) }
}

/** The `did:key` of a public key. */
export function didKeyOf(jwk: JWK): string {
  if (jwk.kty === 'OKP' && jwk.crv === 'Ed25519' && jwk.x) {
    return `did:key:z${encodeBase58(Uint8Array.from([...ED25519, ...base64url.decode(jwk.x)]))}`
  }
  if (jwk.kty === 'EC' && jwk.crv === 'P-256' && jwk.x && jwk.y) {
    const sign = 2 + ((base64url.decode(jwk.y).at(-1) ?? 0) & 1)
    return `did:key:z${encodeBase58(Uint8Array.from([...P256, sign, ...base64url.decode(jwk.x)]))}`
  }
  throw new SigningError('unsupported_algorithm', 'a did:key needs an Ed25519 or P-256 key')
}

/** The key of a `publicKeyMultibase` in base58btc ("z…"). */
export function keyOfMultibase(multibase: string): JWK {
  if (!multibase.startsWith('z')) throw new SigningError('malformed', 'the multibase key is not base58btc')
  const bytes = decodeBase58(multibase.slice(1))
  const [key, codec] = [bytes.slice(2), [...bytes.slice(0, 2)].join()]
  if (codec === ED25519.join() && key.length === 32) return ed25519Key(key)
  if (codec === P256.join() && key.length === 33) return p256Key(key)
  throw new SigningError('unsupported_algorithm', 'the multibase key is neither Ed25519 nor P-256')
}

/** The JWK of the 32 bytes of an Ed25519 key. */
export const ed25519Key = (bytes: Uint8Array): JWK => ({ kty: 'OKP', crv: 'Ed25519', x: base64url.encode(bytes) })

// y² = x³ − 3x + b over the field of p (SEC 2, secp256r1).
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

/** Not every WebCrypto accepts compressed points, so y is computed: p ≡ 3 (mod 4), thus √a = a^((p+1)/4). */
function p256Key(compressed: Uint8Array): JWK {
  const [sign, ...rest] = compressed
  const x = rest.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  const square = (((x * x * x - 3n * x + B) % P) + P) % P
  const root = power(square, (P + 1n) / 4n)
  if ((sign !== 2 && sign !== 3) || x >= P || (root * root) % P !== square) {
    throw new SigningError('malformed', 'the P-256 key is not a point on the curve')
  }
  const y = (root & 1n) === BigInt(sign & 1) ? root : P - root
  return { kty: 'EC', crv: 'P-256', x: coordinate(x), y: coordinate(y) }
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let [square, left] = [base, exponent]; left > 0n; square = (square * square) % P, left >>= 1n) {
    if (left & 1n) result = (result * square) % P
  }
  return result
}

const coordinate = (value: bigint): string =>
  base64url.encode(Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * (31 - i))) & 0xffn)))
