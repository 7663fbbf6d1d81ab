import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { base64url, exportJWK, FlattenedSign, generateKeyPair, type JWK } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixture } from '../../test/fixtures.js'
import { isObject, type JsonObject } from '../json.js'
import { canonicalJson } from './canonical-json.js'
import { claimedSigners, type SigningKey, signDocument, verifyDocument } from './document-signature.js'
import type { VerificationKey } from './keys.js'
import { isSigned } from './signature-claims.js'

const document = fixture('FX-DESC')

interface Pair {
  signing: SigningKey
  published: VerificationKey
}

async function newPair(alg: string, id = 'key-1'): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return {
    signing: { id, jwk: { ...(await exportJWK(privateKey)), alg } },
    published: { id, jwk: await exportJWK(publicKey) },
  }
}

const partsOf = (signed: JsonObject): [string, string] => {
  const jws = isObject(signed.signature) ? String(signed.signature.jws) : ''
  const [head = '', , mark = ''] = jws.split('.')
  return [head, mark]
}

const withHeader = (signed: JsonObject, header: JsonObject): JsonObject => ({
  ...signed,
  signature: { jws: `${base64url.encode(JSON.stringify(header))}..${partsOf(signed)[1]}` },
})

describe('a signed document', () => {
  let [pair, other]: Pair[] = []
  const ours = (): Pair => pair ?? fail()
  const theirs = (): Pair => other ?? fail()

  beforeAll(async () => {
    ;[pair, other] = [await newPair('EdDSA'), await newPair('EdDSA')]
  })

  it.each(['EdDSA', 'Ed25519', 'ES256', 'ES384', 'RS256', 'PS256'])('AURI-10-08 verifies with %s', async (alg) => {
    const { signing, published } = await newPair(alg)
    const signed = await signDocument(document, signing)
    expect(isSigned(signed)).toBe(true)
    expect(claimedSigners(signed)).toEqual([{ key: 'key-1', keySet: undefined }])
    expect(await verifyDocument(signed, [published])).toEqual({ key: 'key-1', algorithm: alg })
  })

  it('AURI-10-08 is a detached JWS over the canonical form, verified with another implementation', async () => {
    const signed = await signDocument(document, ours().signing)
    const [head, mark] = partsOf(signed)
    const key: JsonWebKey = { kty: 'OKP', crv: 'Ed25519', x: String(ours().published.jwk.x) }
    const content = `${head}.${Buffer.from(canonicalJson(document)).toString('base64url')}`
    const isGood = verify(
      null,
      Buffer.from(content),
      createPublicKey({ key, format: 'jwk' }),
      Buffer.from(mark, 'base64url'),
    )
    expect(isGood).toBe(true)
  })

  it('verifies after members are reordered and after it is signed again', async () => {
    const signed = await signDocument(await signDocument(document, theirs().signing), ours().signing)
    const reordered = Object.fromEntries(Object.entries(signed).reverse())
    expect(await verifyDocument(reordered, [ours().published])).toMatchObject({ key: 'key-1' })
  })

  it('AURI-10-09 fails when anything in it is altered', async () => {
    const signed = await signDocument(document, ours().signing)
    for (const altered of [
      { ...signed, endpoint: 'https://evil.example/' },
      { ...signed, name: 'planner.example.org' },
      Object.fromEntries(Object.entries(signed).filter(([name]) => name !== 'description')),
    ]) {
      await expect(verifyDocument(altered, [ours().published])).rejects.toMatchObject({ code: 'bad_signature' })
    }
  })

  it('AURI-10-09 fails with another key of the same id', async () => {
    const signed = await signDocument(document, ours().signing)
    await expect(verifyDocument(signed, [theirs().published])).rejects.toMatchObject({ code: 'bad_signature' })
  })

  it('AURI-10-09 fails if the signer has not published the key', async () => {
    const signed = await signDocument(document, ours().signing)
    const elsewhere = { ...ours().published, id: 'key-2' }
    await expect(verifyDocument(signed, [elsewhere])).rejects.toMatchObject({ code: 'unknown_key' })
    await expect(verifyDocument(signed, [])).rejects.toMatchObject({ code: 'unknown_key' })
  })

  it.each([
    [{ alg: 'none' }, 'unsupported_algorithm'],
    [{ alg: 'HS256', kid: 'key-1' }, 'unsupported_algorithm'],
    [{ kid: 'key-1' }, 'unsupported_algorithm'],
    [{ alg: 'ES256', kid: 'key-1' }, 'unknown_key'],
    [{ alg: 'EdDSA', kid: 'key-1', crit: ['exp'], exp: 1 }, 'bad_signature'],
  ])('rejects the header %j', async (header, code) => {
    const signed = withHeader(await signDocument(document, ours().signing), header)
    await expect(verifyDocument(signed, [ours().published])).rejects.toMatchObject({ code })
  })

  it.each([
    ['no member', {}, 'unsigned'],
    ['a string', { signature: 'x' }, 'unsigned'],
    ['an empty object', { signature: {} }, 'unsigned'],
    ['an invalid JWS', { signature: { jws: 'x' } }, 'malformed'],
    ['an attached payload', { signature: { jws: 'e30.e30.e30' } }, 'malformed'],
  ])('is rejected with %s as the signature', async (_what, members, code) => {
    await expect(verifyDocument({ ...document, ...members }, [ours().published])).rejects.toMatchObject({ code })
  })

  it('does not use a key for encryption or an invalid key', async () => {
    const signed = await signDocument(document, ours().signing)
    const { jwk } = ours().published
    const forEncryption: JWK = { ...jwk, use: 'enc' }
    await expect(verifyDocument(signed, [{ id: 'key-1', jwk: forEncryption }])).rejects.toMatchObject({
      code: 'unknown_key',
    })
    const broken = { id: 'key-1', jwk: { ...jwk, x: 'AA' } }
    await expect(verifyDocument(signed, [broken])).rejects.toMatchObject({ code: 'bad_signature' })
    expect(await verifyDocument(signed, [broken, ours().published])).toMatchObject({ key: 'key-1' })
  })

  it('may be an A2A card, which has its signatures in a list', async () => {
    const { signing, published } = await newPair('ES256', 'card-key')
    const jws = await new FlattenedSign(new TextEncoder().encode(canonicalJson(document)))
      .setProtectedHeader({ alg: 'ES256', kid: 'card-key', typ: 'JOSE' })
      .sign(signing.jwk)
    const good = { protected: String(jws.protected), signature: jws.signature }
    const card = { ...document, signatures: [{ protected: 'e30', signature: 'AAAA' }, good] }
    expect(await verifyDocument(card, [published])).toEqual({ key: 'card-key', algorithm: 'ES256' })
    await expect(verifyDocument({ ...card, name: 'another' }, [published])).rejects.toMatchObject({
      code: 'bad_signature',
    })
  })
})

const fail = (): never => {
  throw new Error('the keys have not been created yet')
}
