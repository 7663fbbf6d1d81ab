import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTokenSigner,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_NOW,
  TOKENS,
  TOKENS_WITHIN_TOLERANCE,
  type TokenSigner,
} from '../../../../protocol/test-vectors/call/tokens.js'
import { createSubjects } from '../../policy/subjects.js'
import { createTokens, type VerifyToken } from './tokens.js'

let signer: TokenSigner
let keyServer: Server
let verify: (token: string) => ReturnType<VerifyToken>
beforeAll(async () => {
  signer = await createTokenSigner()
  keyServer = createServer((_, response) => response.end(JSON.stringify({ keys: signer.keys })))
  await new Promise<void>((resolve) => keyServer.listen(0, '127.0.0.1', resolve))
  const address = keyServer.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const issuer = { issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE, jwksUrl: `http://127.0.0.1:${port}/` }
  const subjects = createSubjects({ plainIssuer: TOKEN_ISSUER, trustDomains: new Map() })
  const { verifyJwt } = createTokens({ issuers: [issuer], subjects, now: () => TOKEN_NOW, monotonic: () => 0 })
  verify = (token) => verifyJwt(token, '192.0.2.1')
})
afterAll(() => keyServer.close())

describe('createTokens', () => {
  it.each(TOKENS)('AD-8.2-02 verifies a token $name', async ({ result, ...vector }) => {
    const verified = verify(await signer.sign(vector))
    if ('code' in result) await expect(verified).rejects.toMatchObject({ code: 'unauthorized', status: 401 })
    else await expect(verified).resolves.toMatchObject(result)
  })

  it.each(TOKENS_WITHIN_TOLERANCE)('AD-8.2-02 rejects a token $name: there is no clock tolerance', async (vector) => {
    await expect(verify(await signer.sign(vector))).rejects.toMatchObject({ code: 'unauthorized', status: 401 })
  })

  it.each(['corp-*', ['corp-*', 7], {}])(
    'rejects a token if its names claim is %j, instead of ignoring the claim',
    async (names) => {
      const token = await signer.sign({ algorithm: 'ES256', claims: { names } })
      await expect(verify(token)).rejects.toMatchObject({
        code: 'unauthorized',
        message: expect.stringMatching(/names.*array of strings/),
      })
      const limited = await signer.sign({ algorithm: 'ES256', claims: { names: ['corp-*'] } })
      await expect(verify(limited)).resolves.toMatchObject({ names: ['corp-*'] })
    },
  )

  it.each(['HS256', 'none'])('AD-8.2-02 explains why it rejects %s', async (algorithm) => {
    await expect(verify(await signer.sign({ algorithm }))).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringMatching(/^the signature algorithm of the token is not accepted: use one of EdDSA, /),
    })
  })

  it.each([7, 'text', [], {}, { jkt: 'x' }, { 'x5t#S256': 7 }, { 'x5t#S256': 'x', jkt: 'y' }])(
    'rejects a token with the confirmation %j, instead of ignoring the claim',
    async (cnf) => {
      const token = await signer.sign({ algorithm: 'ES256', claims: { cnf } })
      await expect(verify(token)).rejects.toMatchObject({ code: 'unauthorized', message: expect.stringMatching(/cnf/) })
      const bound = await signer.sign({ algorithm: 'ES256', claims: { cnf: { 'x5t#S256': 'x' } } })
      await expect(verify(bound)).resolves.toMatchObject({ certificate: 'x' })
    },
  )
})
