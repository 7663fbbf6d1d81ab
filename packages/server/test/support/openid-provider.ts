import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { Provider } from 'oidc-provider'

/** What a token is requested for. */
export interface TokenRequest {
  readonly client?: 'agent' | 'bound-agent'
  readonly format?: 'jwt' | 'opaque'
  /** Default: ES256. */
  readonly algorithm?: 'ES256' | 'RS256' | 'ES512' | 'HS256'
  readonly audience?: string
  readonly scope?: string
  /** Seconds. */
  readonly lifetime?: number
  /** PEM of the client's certificate, as a TLS proxy would pass it on. */
  readonly certificate?: string
}

/** An OpenID provider on a free loopback port. */
export interface OpenIdProvider {
  readonly issuer: string
  /** The directory's entry for this issuer. */
  readonly trust: { issuer: string; audience: string; jwksUrl: string }
  /** The directory's access to introspection. */
  readonly introspection: { url: string; clientId: string; clientSecret: string }
  token(request?: TokenRequest): Promise<string>
  /** Revokes an opaque token. */
  revoke(token: string): Promise<void>
  /** Replaces all signing keys. */
  rotateKeys(): Promise<void>
  /** Requests by path, such as `/jwks`. */
  readonly requests: Map<string, number>
  /** False: every request gets 503. */
  available: boolean
  close(): Promise<void>
}

const AUDIENCE = 'https://directory.example'
const SECRET = 'a client secret for the tests'
const HMAC_KEY = Buffer.alloc(32, 7)
const CERTIFICATE_HEADER = 'x-client-certificate'

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  let handle: RequestListener = () => undefined
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    self.requests.set(path, (self.requests.get(path) ?? 0) + 1)
    if (self.available) handle(request, response)
    else response.writeHead(503).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`

  const post = async (
    path: string,
    client: string,
    form: Record<string, string>,
    certificate = '',
  ): Promise<Response> => {
    const response = await fetch(issuer + path, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${client}:${encodeURIComponent(SECRET)}`)}`,
        [CERTIFICATE_HEADER]: encodeURIComponent(certificate),
      },
      body: new URLSearchParams(form),
    })
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`)
    return response
  }

  const self: OpenIdProvider = {
    issuer,
    trust: { issuer, audience: AUDIENCE, jwksUrl: `${issuer}/jwks` },
    introspection: { url: `${issuer}/token/introspection`, clientId: 'directory', clientSecret: SECRET },
    requests: new Map(),
    available: true,
    async token({ client = 'agent', scope = 'publish discover', certificate, ...resource } = {}) {
      // The provider reads the properties of the token from the resource that it is requested for.
      const parameters = Object.entries(resource).map(([name, value]): [string, string] => [name, String(value)])
      const form = {
        grant_type: 'client_credentials',
        scope,
        resource: `${AUDIENCE}/?${new URLSearchParams(parameters)}`,
      }
      const { access_token: token }: { access_token: string } = JSON.parse(
        await (await post('/token', client, form, certificate)).text(),
      )
      return token
    },
    async revoke(token) {
      await post('/token/revocation', 'agent', { token })
    },
    async rotateKeys() {
      handle = createProvider(issuer, await createKeys()).callback()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  await self.rotateKeys()
  return self
}

const createKeys = (): Promise<JWK[]> =>
  Promise.all(
    ['ES256', 'RS256', 'ES512'].map(async (alg) => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true })
      return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: crypto.randomUUID() }
    }),
  )

function createProvider(issuer: string, keys: readonly JWK[]): Provider {
  const client = {
    client_secret: SECRET,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    scope: 'publish discover invoke admin',
  }
  return new Provider(issuer, {
    jwks: { keys },
    ttl: {
      ClientCredentials: (_: unknown, token: { resourceServer?: { accessTokenTTL?: number } }) =>
        token.resourceServer?.accessTokenTTL ?? 60,
    },
    scopes: ['publish', 'discover', 'invoke', 'admin'],
    clients: [
      { client_id: 'agent', ...client },
      { client_id: 'bound-agent', ...client, tls_client_certificate_bound_access_tokens: true },
      { client_id: 'directory', ...client },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      introspection: {
        enabled: true,
        allowedPolicy: (_: unknown, by: { clientId: string }) => by.clientId === 'directory',
      },
      mTLS: {
        enabled: true,
        certificateBoundAccessTokens: true,
        getCertificate: ({ req }: { req: IncomingMessage }) =>
          decodeURIComponent(String(req.headers[CERTIFICATE_HEADER] ?? '')) || undefined,
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, resource: string) => describeResource(new URL(resource).searchParams),
      },
    },
  })
}

function describeResource(wanted: URLSearchParams): Record<string, unknown> {
  const alg = wanted.get('algorithm') ?? 'ES256'
  return {
    scope: 'publish discover invoke admin',
    audience: wanted.get('audience') ?? AUDIENCE,
    accessTokenFormat: wanted.get('format') ?? 'jwt',
    accessTokenTTL: Number(wanted.get('lifetime') ?? 3600),
    jwt: { sign: alg === 'HS256' ? { alg, key: HMAC_KEY } : { alg } },
  }
}
