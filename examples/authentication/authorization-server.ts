import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** The scopes of each client, by `id:secret`. */
export type Clients = Readonly<Record<string, string>>

/** An OAuth 2.0 server that knows one grant, `client_credentials`. In reality you use the one of your organisation. */
export async function startAuthorizationServer(audience: string, clients: Clients) {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'ES256' }]

  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/jwks.json') return void response.end(JSON.stringify({ keys }))
    const login = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()
    const scope = clients[login]
    const form = new URLSearchParams(await text(request))
    if (scope === undefined || form.get('grant_type') !== 'client_credentials') {
      return void response.writeHead(401).end(JSON.stringify({ error: 'invalid_client' }))
    }
    const token = await new SignJWT({ scope })
      .setProtectedHeader({ alg: 'ES256', kid: 'key-1' })
      .setIssuer(url)
      .setSubject(login.replace(/:.*/, ''))
      .setAudience(audience)
      .setExpirationTime('5m')
      .sign(privateKey)
    response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 300 }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, jwksUrl: `${url}/jwks.json`, close: () => new Promise((resolve) => server.close(resolve)) }
}
