import { beforeAll, describe, expect, it } from 'vitest'
import {
  createTokenSigner,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_NOW,
  TOKENS,
  TOKENS_WITHIN_TOLERANCE,
  type TokenSigner,
} from '../../../protocol/test-vectors/call/tokens.js'
import { SYSTEM } from '../runtime.js'
import { type Authenticator, createAuthenticator } from './authenticate.js'

let signer: TokenSigner
let authenticator: Authenticator
beforeAll(async () => {
  signer = await createTokenSigner()
  const issuers = [{ issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE, keys: signer.keys }]
  authenticator = createAuthenticator({ issuers }, { ...SYSTEM, now: () => TOKEN_NOW })
})

const authenticateToken = (token: string) =>
  authenticator.authenticate({
    authorization: `Bearer ${token}`,
    apiKey: undefined,
    certificate: undefined,
    address: '10.0.0.1',
  })

describe('createAuthenticator', () => {
  it.each([...TOKENS, ...TOKENS_WITHIN_TOLERANCE])(
    'AURI-10-01 verifies a token $name',
    async ({ result, ...vector }) => {
      const caller = authenticateToken(await signer.sign(vector))
      if ('code' in result) await expect(caller).rejects.toMatchObject({ code: 'unauthorized', status: 401 })
      else await expect(caller).resolves.toMatchObject({ subject: result.subject, scopes: new Set(result.scopes) })
    },
  )

  it('rejects a token that is bound to a key or certificate, because it cannot check that', async () => {
    const token = await signer.sign({ algorithm: 'ES256', claims: { cnf: { 'x5t#S256': 'x' } } })
    await expect(authenticateToken(token)).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringMatching(/bound/),
    })
  })

  it('tells the subjects of several issuers apart', async () => {
    const other = { issuer: 'https://other.example', audience: TOKEN_AUDIENCE, keys: signer.keys }
    const own = { issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE, keys: signer.keys }
    const { authenticate } = createAuthenticator({ issuers: [own, other] }, { ...SYSTEM, now: () => TOKEN_NOW })
    const subjectOf = async (claims: Record<string, unknown>) => {
      const authorization = `Bearer ${await signer.sign({ algorithm: 'ES256', claims })}`
      return (await authenticate({ authorization, apiKey: undefined, certificate: undefined, address: '' })).subject
    }
    expect(await subjectOf({})).toBe('https://issuer.example#ann')
    expect(await subjectOf({ iss: 'https://other.example' })).toBe('https://other.example#ann')
  })

  it('says why it rejects a token', async () => {
    await expect(authenticateToken(await signer.sign({ algorithm: 'HS256' }))).rejects.toThrow(
      /algorithm of the token is not accepted/,
    )
  })
})
