import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBase58, encodeBase58 } from './base58.js'
import { didKeyOf, keyOfDidKey } from './did-key.js'
import { SigningError } from './signing-error.js'

/** Examples from the did:key specification. */
const SAMPLES = [
  {
    did: 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',
    jwk: { kty: 'OKP', crv: 'Ed25519', x: 'O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik' },
  },
  {
    did: 'did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169',
    jwk: {
      kty: 'EC',
      crv: 'P-256',
      x: 'fyNYMN0976ci7xqiSdag3buk-ZCwgXU4kz9XNkBlNUI',
      y: 'hW2ojTNfH7Jbi8--CJUo3OCbH3y5n91g-IMA9MLMbTU',
    },
  },
]

describe('did:key', () => {
  it.each(SAMPLES)('$did encodes the key in the specification', ({ did, jwk }) => {
    expect(keyOfDidKey(did)).toEqual({ id: `${did}#${did.slice('did:key:'.length)}`, jwk })
    expect(didKeyOf(jwk)).toBe(did)
  })

  it.each(['did:key:z6Mk', 'did:key:', 'did:web:example.com', 'did:key:z0OIl', `did:key:z${'6'.repeat(10_000)}`, ''])(
    '%s is not a valid did:key',
    (did) => {
      expect(() => keyOfDidKey(did)).toThrow(SigningError)
    },
  )

  it('rejects a point that is not on the curve', () => {
    const point = Uint8Array.from([0x80, 0x24, 2, ...new Array<number>(31).fill(0), 7])
    const other = Uint8Array.from([0x80, 0x24, 9, ...new Array<number>(31).fill(0), 5])
    for (const bytes of [point, other]) {
      expect(() => keyOfDidKey(`did:key:z${encodeBase58(bytes)}`)).toThrow(/not a point on the curve/)
    }
  })
})

describe('base58', () => {
  it('round-trips any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect([...decodeBase58(encodeBase58(bytes))]).toEqual([...bytes])
      }),
    )
  })
})
