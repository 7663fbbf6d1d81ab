import { createServer } from 'node:http'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'

/** Claims of a token; `undefined` leaves one out. */
export type Claims = Record<string, unknown>

/** An authority that issues JWTs and serves its public keys. */
export interface TestIssuer {
  /** The entry in the directory's config. */
  readonly trust: { issuer: string; audience: string; jwksUrl: string }
  /** A token valid for an hour; `claims` override the defaults. */
  token(claims?: Claims, expires?: string | number): Promise<string>
  /** The public key as PEM. */
  readonly publicKey: string
  readonly privateKey: CryptoKey
  /** Whether the key set is served (200); otherwise 503. */
  available: boolean
  close(): Promise<void>
}

const KEY_ID = 'key-1'

/** Starts an issuer on a free loopback port. */
export async function startIssuer(issuer = 'https://issuer.example', audience = 'switchboard'): Promise<TestIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  const keys = [{ ...(await exportJWK(publicKey)), kid: KEY_ID, alg: 'RS256', use: 'sig' }]
  const server = createServer((_request, response) => {
    response.writeHead(self.available ? 200 : 503, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const self: TestIssuer = {
    trust: { issuer, audience, jwksUrl: `http://127.0.0.1:${port}/jwks.json` },
    publicKey: await exportSPKI(publicKey),
    privateKey,
    available: true,
    token: (claims = {}, expires = '1h') =>
      new SignJWT({ iss: issuer, aud: audience, sub: 'alice', scope: 'publish discover', ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: KEY_ID })
        .setIssuedAt()
        .setExpirationTime(expires)
        .sign(privateKey),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return self
}
