import { type Item, type Parameters, serializeDictionary, serializeInnerList, serializeItem } from 'structured-headers'

/** A part of an HTTP message that a signature covers (RFC 9421 §2). */
export interface SignedComponent {
  /** The name of a field in lower case, or of a derived component such as `@status`. */
  readonly name: string
  readonly value: string
  /** In the signature of a response: a component of the request (§2.4). */
  readonly ofRequest?: boolean
}

export interface SignatureParameters {
  /** Distinguishes the signatures of one message; default: `sig1`. */
  readonly label?: string
  /** Seconds since 1970. */
  readonly created: number
  readonly keyId: string
  /** Name in the HTTP Signature Algorithms registry, such as `ed25519`; left out of the signature if undefined. */
  readonly algorithm?: string
  readonly nonce?: string
  readonly tag?: string
}

/** The fields that carry a signature. */
export interface SignatureFields {
  readonly 'signature-input': string
  readonly signature: string
}

/** Signs components of an HTTP message (RFC 9421 §3.1); `sign` signs the signature base with the key of `keyId`. */
export function signMessage(
  components: readonly SignedComponent[],
  { label = 'sig1', created, keyId, algorithm, nonce, tag }: SignatureParameters,
  sign: (base: Uint8Array) => Uint8Array<ArrayBuffer>,
): SignatureFields {
  const identifiers = components.map(
    ({ name, ofRequest }): Item => [name, ofRequest ? new Map([['req', true]]) : none()],
  )
  const parameters: Parameters = new Map<string, number | string>([
    ['created', created],
    ['keyid', keyId],
  ])
  if (algorithm !== undefined) parameters.set('alg', algorithm)
  if (nonce !== undefined) parameters.set('nonce', nonce)
  if (tag !== undefined) parameters.set('tag', tag)
  const covered = serializeInnerList([identifiers, parameters])
  const lines = identifiers.map((identifier, i) => `${serializeItem(identifier)}: ${components[i]?.value}`)
  const base = [...lines, `"@signature-params": ${covered}`].join('\n')
  return {
    'signature-input': `${label}=${covered}`,
    signature: serializeDictionary(new Map([[label, [sign(new TextEncoder().encode(base)), none()]]])),
  }
}

/** The Content-Digest field (RFC 9530) of a body with this SHA-256 hash. */
export const contentDigest = (sha256: Uint8Array<ArrayBuffer>): string =>
  serializeDictionary(new Map([['sha-256', [sha256, none()]]]))

const none = (): Parameters => new Map()
