import { createHash, type KeyObject, sign } from 'node:crypto'
import { type Item, type Parameters, serializeDictionary, serializeInnerList, serializeItem } from 'structured-headers'

/** A part of a message that a signature covers (RFC 9421 §2). */
export interface Component {
  /** A field's name in lower case, or a derived component such as `@status`. */
  readonly name: string
  readonly value: string
  /** Of the request that the signed response answers (§2.4). */
  readonly ofRequest?: boolean
}

export interface SignatureParameters {
  /** Tells this signature from others of the same message. */
  readonly label: string
  /** Seconds since 1970. */
  readonly created: number
  readonly keyId: string
  readonly nonce?: string
  readonly tag?: string
}

/** The fields that carry the signature. */
export interface SignatureFields {
  readonly 'signature-input': string
  readonly signature: string
}

/** Signs parts of a message with an Ed25519 key (RFC 9421 §3.1, §3.3.6). */
export function signMessage(
  components: readonly Component[],
  { label, created, keyId, nonce, tag }: SignatureParameters,
  key: KeyObject,
): SignatureFields {
  const identifiers = components.map(({ name, ofRequest }): Item => {
    const parameters: Parameters = ofRequest ? new Map([['req', true]]) : new Map()
    return [name, parameters]
  })
  const parameters: Parameters = new Map<string, number | string>([
    ['created', created],
    ['keyid', keyId],
    ['alg', 'ed25519'],
  ])
  if (nonce !== undefined) parameters.set('nonce', nonce)
  if (tag !== undefined) parameters.set('tag', tag)
  const lines = components.map(({ value }, i) => `${serializeItem(identifiers[i] ?? ['', new Map()])}: ${value}`)
  const covered = serializeInnerList([identifiers, parameters])
  const base = [...lines, `"@signature-params": ${covered}`].join('\n')
  return {
    'signature-input': `${label}=${covered}`,
    signature: serializeDictionary(new Map([[label, [sign(null, Buffer.from(base), key), new Map()]]])),
  }
}

/** The Content-Digest of a body (RFC 9530). */
export const contentDigest = (body: string | Uint8Array): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
