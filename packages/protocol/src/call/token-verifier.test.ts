import { beforeAll, describe, expect, it } from 'vitest'
import {
  createTokenSigner,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_NOW,
  TOKENS,
  TOKENS_WITHIN_TOLERANCE,
  type TokenSigner,
} from '../../test-vectors/call/tokens.js'
import { createTokenVerifier, type TokenVerifier } from './token-verifier.js'

let signer: TokenSigner
let verify: TokenVerifier
beforeAll(async () => {
  signer = await createTokenSigner()
  const issuer = { issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE, keys: signer.keys }
  verify = createTokenVerifier([issuer], { now: () => TOKEN_NOW })
})

describe('createTokenVerifier', () => {
  it.each(TOKENS)('AD-8.2-02 verifies a token $name', async ({ result, ...vector }) => {
    const verified = verify(await signer.sign(vector))
    if ('code' in result) await expect(verified).rejects.toMatchObject({ name: 'TokenError', ...result })
    else await expect(verified).resolves.toMatchObject(result)
  })

  it.each(TOKENS_WITHIN_TOLERANCE)(
    'rejects a token $name, unless clock skew is tolerated',
    async ({ result, ...vector }) => {
      const token = await signer.sign(vector)
      await expect(verify(token)).rejects.toMatchObject({ name: 'TokenError' })
      const issuer = { issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE, keys: signer.keys }
      const tolerant = createTokenVerifier([issuer], { now: () => TOKEN_NOW, clockTolerance: 30 })
      await expect(tolerant(token)).resolves.toMatchObject(result)
    },
  )

  it('rejects a text that is not a token', async () => {
    await expect(verify('nonsense')).rejects.toMatchObject({ code: 'unknown_issuer' })
  })

  it('rejects a token whose claims were changed after signing', async () => {
    const [head, , signature] = (await signer.sign({ algorithm: 'ES256' })).split('.')
    const [, claims] = (await signer.sign({ algorithm: 'ES256', claims: { sub: 'eve' } })).split('.')
    await expect(verify(`${head}.${claims}.${signature}`)).rejects.toMatchObject({
      code: 'invalid',
      message: 'the signature of the token is not valid',
    })
  })

  it('names the accepted algorithms when it rejects another', async () => {
    await expect(verify(await signer.sign({ algorithm: 'HS256' }))).rejects.toThrow(/not accepted: use one of .*ES256/)
  })

  it('reports that the keys are unavailable if they cannot be fetched', async () => {
    const requested: string[] = []
    const fetch: typeof globalThis.fetch = async (url) => {
      requested.push(String(url))
      throw new TypeError('fetch failed')
    }
    const issuer = { issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE, jwksUrl: 'https://issuer.example/jwks.json' }
    const remote = createTokenVerifier([issuer], { now: () => TOKEN_NOW, fetch })
    await expect(remote(await signer.sign({ algorithm: 'ES256' }))).rejects.toMatchObject({ code: 'keys_unavailable' })
    expect(requested).toEqual(['https://issuer.example/jwks.json'])
  })
})
