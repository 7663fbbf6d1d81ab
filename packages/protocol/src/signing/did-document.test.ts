import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonObject, parseJson } from '../json.js'
import { readDidKeys } from './did-document.js'
import { readKeySet } from './keys.js'

const DID = 'did:web:example.com'
const X = 'O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik'
const MULTIBASE = 'z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp'
const ED25519 = { kty: 'OKP', crv: 'Ed25519', x: X }

describe('the keys of a DID document', () => {
  it.each([
    ['a JWK', { type: 'JsonWebKey2020', publicKeyJwk: { ...ED25519, d: 'secret' } }],
    ['a multibase key', { type: 'Multikey', publicKeyMultibase: MULTIBASE }],
    [
      'a base58 key',
      { type: 'Ed25519VerificationKey2018', publicKeyBase58: '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS' },
    ],
  ])('are read from %s', (_what, method) => {
    const [key] = readDidKeys({ id: DID, verificationMethod: [{ id: '#k', controller: DID, ...method }] })
    expect(key).toMatchObject({ id: `${DID}#k`, jwk: { kty: 'OKP', crv: 'Ed25519' } })
    expect(key?.jwk.d).toBeUndefined()
  })

  it('are only those in assertionMethod, if the document has that member', () => {
    const method = (id: string): JsonObject => ({ id, type: 'JsonWebKey2020', publicKeyJwk: ED25519 })
    const document = {
      id: DID,
      verificationMethod: [method('#login'), method(`${DID}#sign`)],
      authentication: ['#login'],
      assertionMethod: ['#sign', method('#embedded'), '#missing', 7],
    }
    expect(readDidKeys(document).map(({ id }) => id)).toEqual([`${DID}#sign`, `${DID}#embedded`])
    expect(readDidKeys({ ...document, assertionMethod: [] })).toEqual([])
  })

  it('are limited in number, and invalid ones are skipped', () => {
    const nonsense = [
      null,
      'x',
      {},
      { id: 5 },
      { id: '#a', publicKeyMultibase: 'u123' },
      { id: '#b', publicKeyJwk: [] },
    ]
    expect(readDidKeys({ id: DID, verificationMethod: nonsense })).toEqual([])
    const many = Array.from({ length: 5000 }, (_, i) => ({ id: `#${i}`, publicKeyJwk: ED25519 }))
    expect(readDidKeys({ id: DID, verificationMethod: many }).length).toBeLessThanOrEqual(100)
  })

  it('can be read from any document without throwing', () => {
    const part = fc.oneof(fc.jsonValue(), fc.constantFrom('#a', DID, MULTIBASE, ED25519))
    const method = fc.record(
      { id: part, type: part, publicKeyJwk: part, publicKeyMultibase: part, publicKeyBase58: part },
      { requiredKeys: [] },
    )
    const document = fc.record(
      {
        id: part,
        verificationMethod: fc.oneof(part, fc.array(method)),
        assertionMethod: fc.oneof(part, fc.array(part)),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(document, (value) => {
        const read = parseJson(JSON.stringify(value).replaceAll('__proto__', 'proto'))
        const object: JsonObject = typeof read === 'object' && read !== null && !Array.isArray(read) ? read : {}
        expect(readDidKeys(object)).toBeInstanceOf(Array)
        expect(readKeySet({ keys: [object] })).toBeInstanceOf(Array)
      }),
    )
  })
})

describe('a key set', () => {
  it('returns public keys for verification, without private members', () => {
    const keys = readKeySet({ keys: [{ ...ED25519, kid: 'a', d: 'secret' }, { kty: 'oct', k: 'x' }, 'x', null] })
    expect(keys).toEqual([{ id: 'a', jwk: ED25519 }])
  })
})
