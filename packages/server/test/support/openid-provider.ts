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
  /** The directory's entry for people who sign in with their browser; its client must be allowed to receive them. */
  readonly signIn: { clientId: string; clientSecret: string; name: string }
  /** From now on, people can sign in with any name and password, and are sent back to this URL. */
  allowSignIn(redirectUri: string): Promise<void>
  /** Signs in at the authorization URL as a person would, with the forms; returns the URL of the response. */
  signInAs(login: string, url: string): Promise<string>
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
    signIn: { clientId: 'console', clientSecret: SECRET, name: 'The Company' },
    async allowSignIn(redirectUri) {
      handle = createProvider(issuer, await createKeys(), redirectUri).callback()
    },
    signInAs: (login, url) => signInAs(issuer, login, url),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  await self.rotateKeys()
  return self
}

/** Follows the redirects of the provider and fills in its forms, until it sends the browser elsewhere. */
async function signInAs(issuer: string, login: string, url: string): Promise<string> {
  const jar = new Map<string, string>()
  let next = url
  let form: Record<string, string> | undefined
  for (let step = 0; step < 20 && next.startsWith(issuer); step++) {
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    const page = await response.text()
    const location = response.headers.get('location')
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? []
    if (location === null && prompt === undefined) throw new Error(`${next} returned ${response.status}: ${page}`)
    form = prompt === undefined ? undefined : { prompt, login, password: 'any' }
    next = new URL(location ?? next, issuer).href
  }
  return next
}

const createKeys = (): Promise<JWK[]> =>
  Promise.all(
    ['ES256', 'RS256', 'ES512'].map(async (alg) => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true })
      return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: crypto.randomUUID() }
    }),
  )

function createProvider(issuer: string, keys: readonly JWK[], redirectUri?: string): Provider {
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
      // Tests set the directory's clock forward; that somebody is late makes a token expire.
      IdToken: ({ oidc }: { oidc: { account?: { accountId: string } } }) =>
        oidc.account?.accountId === 'late' ? 1 : 86_400,
      ClientCredentials: (_: unknown, token: { resourceServer?: { accessTokenTTL?: number } }) =>
        token.resourceServer?.accessTokenTTL ?? 60,
    },
    scopes: ['publish', 'discover', 'invoke', 'admin'],
    clients: [
      { client_id: 'agent', ...client },
      { client_id: 'bound-agent', ...client, tls_client_certificate_bound_access_tokens: true },
      { client_id: 'directory', ...client },
      ...(redirectUri === undefined
        ? []
        : [{ client_id: 'console', client_secret: SECRET, redirect_uris: [redirectUri], scope: 'openid discover' }]),
    ],
    claims: { openid: ['sub', 'groups'] },
    conformIdTokenClaims: false,
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, groups: sub === 'olivia' ? ['operators', 'staff'] : ['staff'] }),
    }),
    features: {
      devInteractions: { enabled: redirectUri !== undefined },
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
