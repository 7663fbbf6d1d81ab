import type { SignatureParameters, SignedComponent } from '../../src/signing/message-signature.js'

/** `test-key-ed25519` of RFC 9421 §B.1.4. */
export const SIGNATURE_KEY = {
  kty: 'OKP',
  crv: 'Ed25519',
  d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU',
  x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
} as const

export const SIGNED_BODY = '{"hello": "world"}'
/** The SHA-256 of the body as RFC 9530 §B.1 writes it. */
export const BODY_DIGEST = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'

/** A message and its signature, computed without the code under test; Ed25519 signatures are deterministic. */
export interface SignatureVector {
  readonly name: string
  readonly components: readonly SignedComponent[]
  readonly parameters: SignatureParameters
  readonly fields: { readonly 'signature-input': string; readonly signature: string }
}

const PARAMETERS = { created: 1618884473, keyId: 'test-key-ed25519' }

/** RFC 9421 §B.2.6; it has no `alg`, which the messages of server and kit always have. */
export const RFC_SIGNATURE: SignatureVector = {
  name: 'RFC 9421 §B.2.6',
  components: [
    { name: 'date', value: 'Tue, 20 Apr 2021 02:07:55 GMT' },
    { name: '@method', value: 'POST' },
    { name: '@path', value: '/foo' },
    { name: '@authority', value: 'example.com' },
    { name: 'content-type', value: 'application/json' },
    { name: 'content-length', value: '18' },
  ],
  parameters: { ...PARAMETERS, label: 'sig-b26' },
  fields: {
    'signature-input':
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    signature: 'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
  },
}

const DIGEST: SignedComponent = { name: 'content-digest', value: BODY_DIGEST }

/** Messages with `SIGNED_BODY`; the last component is always its digest. */
export const MESSAGE_SIGNATURES: readonly SignatureVector[] = [
  {
    name: 'a request',
    components: [
      { name: '@method', value: 'POST' },
      { name: '@target-uri', value: 'https://example.com/foo?param=Value' },
      { name: 'content-type', value: 'application/json' },
      DIGEST,
    ],
    parameters: { ...PARAMETERS, algorithm: 'ed25519' },
    fields: {
      'signature-input':
        'sig1=("@method" "@target-uri" "content-type" "content-digest");created=1618884473;keyid="test-key-ed25519";alg="ed25519"',
      signature: 'sig1=:py1E72hynVA30ysDVC6TNoJmSxS8skZEoq3oFfAh3DSdv5iHbwWzhLv8I6vzimdjM5XozSIyweyq1eeMJGMTDQ==:',
    },
  },
  {
    name: 'a response with components of its request, and a key id that needs escaping',
    components: [
      { name: '@status', value: '200' },
      { name: 'content-type', value: 'application/json' },
      { name: '@method', value: 'POST', ofRequest: true },
      { name: '@path', value: '/foo', ofRequest: true },
      DIGEST,
    ],
    parameters: { ...PARAMETERS, keyId: 'did:web:a.example#"k\\1"', algorithm: 'ed25519' },
    fields: {
      'signature-input':
        'sig1=("@status" "content-type" "@method";req "@path";req "content-digest");created=1618884473;keyid="did:web:a.example#\\"k\\\\1\\"";alg="ed25519"',
      signature: 'sig1=:Yc74SWzVFDBmuSl5/3Vzcriy1ACa2gLrPC2tnU7mg8SjC5XXKZumaEXqYmbWR+mENXM5KIRy9W0Vn7IgbifhAg==:',
    },
  },
]

/** A response with the label, nonce and tag that the client asked for (RFC 9421 §5). */
export const REQUESTED_SIGNATURE: SignatureVector = {
  name: 'a response with a requested label, nonce and tag',
  components: [{ name: '@status', value: '200' }, DIGEST],
  parameters: { ...PARAMETERS, algorithm: 'ed25519', label: 'mine', nonce: 'n1', tag: 'app' },
  fields: {
    'signature-input':
      'mine=("@status" "content-digest");created=1618884473;keyid="test-key-ed25519";alg="ed25519";nonce="n1";tag="app"',
    signature: 'mine=:laNSkItf2vvS9R4e0UqMHWVI3DQLF7Y/+X7ivIjKU/kWoMNs/w6GD+CAtiiL+jKf+yXgtDHeBTrX4kVOcle5CA==:',
  },
}
