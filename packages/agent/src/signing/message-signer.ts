import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import {
  contentDigest,
  type JsonObject,
  type SignedComponent,
  type SigningKey,
  signMessage,
} from '@switchboard/protocol'
import { AgentError } from '../errors.js'

/** Signs HTTP messages of this agent (RFC 9421), so that receivers can check who sent them and that they are intact (C-64). */
export interface MessageSigner {
  /** The signature fields for a message with this body; its digest is covered in addition to the components. */
  sign(components: readonly SignedComponent[], body: string): Record<string, string>
}

export function createMessageSigner({ id, jwk }: SigningKey, now: () => number): MessageSigner {
  // A structured field holds no other characters (RFC 8941 §3.3.3).
  if (!/^[\x20-\x7e]+$/.test(id)) {
    throw new AgentError('invalid_definition', 'the id of a signing key must consist of printable ASCII characters')
  }
  const key = createPrivateKey({ key: { ...jwk }, format: 'jwk' })
  const algorithm = algorithmOf(key)
  return {
    sign(components, body) {
      const digest = contentDigest(createHash('sha256').update(body).digest())
      const fields = signMessage(
        [...components, { name: 'content-digest', value: digest }],
        { created: Math.floor(now() / 1000), keyId: id, algorithm: algorithm.name },
        (base) => sign(algorithm.hash, base, { key, ...algorithm.options }),
      )
      return { 'content-digest': digest, ...fields }
    },
  }
}

/** The registered algorithm names for the supported keys (RFC 9421 §3.3). */
function algorithmOf(key: KeyObject): { name: string; hash: string | null; options: { dsaEncoding?: 'ieee-p1363' } } {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'ed25519') return { name: 'ed25519', hash: null, options: {} }
  if (type === 'ec' && details?.namedCurve === 'prime256v1') {
    return { name: 'ecdsa-p256-sha256', hash: 'sha256', options: { dsaEncoding: 'ieee-p1363' } }
  }
  if (type === 'rsa') return { name: 'rsa-v1_5-sha256', hash: 'sha256', options: {} }
  throw new AgentError('invalid_definition', 'the signing key must be an Ed25519, P-256 or RSA key')
}

const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'alg']

/** The public half of a key, as published in the agent's key set. */
export function publicKeyOf({ id, jwk }: SigningKey): JsonObject {
  const members = Object.entries(jwk).filter(([name]) => PUBLIC_MEMBERS.includes(name))
  return { ...Object.fromEntries(members), kid: id, use: 'sig' }
}
