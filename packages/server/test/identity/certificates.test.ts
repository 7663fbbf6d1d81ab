import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { startIssuer, type TestIssuer } from '../support/issuer.js'
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.js'
import { temporaryFolder } from '../support/process.js'
import { type Authority, createAuthority, type Identity, sendTls, type TlsRequest } from '../support/tls.js'

const folder = temporaryFolder()
const clientCrl = join(folder.path, 'revoked.pem')
let authority: Authority
let stranger: Authority
let provider: OpenIdProvider
let issuer: TestIssuer
let directory: TestDirectory

beforeAll(async () => {
  authority = createAuthority(folder.path, 'authority')
  stranger = createAuthority(folder.path, 'stranger')
  writeFileSync(clientCrl, authority.revoke())
  provider = await startOpenIdProvider()
  issuer = await startIssuer('https://workloads.example')
  const server = authority.issue('/CN=directory', 'IP:127.0.0.1')
  directory = await startDirectory({
    tls: { ...server, clientCa: authority.cert, clientCrl, clientRequired: false },
    issuers: [
      { ...provider.trust, introspection: provider.introspection },
      { ...issuer.trust, trustDomains: ['td.example'] },
    ],
  })
})
afterAll(async () => {
  await directory.close()
  await provider.close()
  await issuer.close()
  folder.remove()
})

const send = (request: Omit<TlsRequest, 'ca'>): Promise<TestResponse> =>
  sendTls(directory.url, { ca: authority.cert, ...request })
const register = (id: string, request: Omit<TlsRequest, 'ca' | 'path'>): Promise<TestResponse> =>
  send({ method: 'POST', path: '/agents', body: aidipAgent({ id }), ...request })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('client certificates', () => {
  it('AD-8.2-02 are accepted if the client CA has issued them', async () => {
    expect((await register('valid', { identity: authority.issue('/CN=valid') })).status).toBe(201)
  })

  it.each<[string, () => Identity]>([
    ['of another CA', () => stranger.issue('/CN=valid')],
    ['that have expired', () => authority.issueExpired('/CN=valid')],
  ])('AD-8.2-02 %s give no subject: 401', async (_which, issue) => {
    const identity = issue()
    expectError(await register('never', { identity }), { status: 401, says: /credentials/ })
    expectError(await send({ method: 'DELETE', path: '/agents/valid', identity }), { status: 401 })
  })

  it('give no subject once they are revoked, without a restart, and their connections are closed', async () => {
    const [good, bad] = [authority.issue('/CN=good'), authority.issue('/CN=bad')]
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      expect((await register('bad-1', { identity: bad, agent })).status).toBe(201)
      writeFileSync(clientCrl, authority.revoke(bad))
      const whether = async () => (await register('bad-2', { identity: bad, agent })).status
      await expect.poll(whether, { timeout: 10_000, interval: 200 }).toBe(401)
      expectError(await send({ method: 'DELETE', path: '/agents/bad-1', identity: bad }), { status: 401 })
      expect((await register('good', { identity: good })).status).toBe(201)
    } finally {
      agent.destroy()
    }
  })

  it('never stand for the administrator, or for the qualified subject of a token', async () => {
    const own = await directoryAgent('of-admin')
    expect(own.status).toBe(201)
    const identity = authority.issue('/CN=admin')
    expectError(await send({ method: 'DELETE', path: '/agents/of-admin', identity }), { status: 403 })

    const headers = bearer(await issuer.token({ sub: 'alice' }))
    expect((await register('of-token', { headers })).status).toBe(201)
    const forged = authority.issue('/CN=x', `URI:${issuer.trust.issuer}#alice`)
    expectError(await send({ method: 'DELETE', path: '/agents/of-token', identity: forged }), { status: 403 })
    expect((await send({ method: 'DELETE', path: '/agents/of-token', headers })).status).toBe(204)
  })

  const directoryAgent = (id: string) => register(id, { headers: bearer(directory.adminKey) })
})

describe('SPIFFE ids', () => {
  const id = 'spiffe://td.example/billing'

  it('AD-8.2-05 name the same workload in a certificate and in a token of the issuer of its trust domain', async () => {
    const identity = authority.issue('/CN=n', `URI:${id}`)
    expect((await register('workload', { identity })).status).toBe(201)
    const other = bearer(await issuer.token({ sub: 'spiffe://other.example/billing' }))
    expectError(await send({ method: 'DELETE', path: '/agents/workload', headers: other }), { status: 403 })
    const headers = bearer(await issuer.token({ sub: id }))
    expect((await send({ method: 'DELETE', path: '/agents/workload', headers })).status).toBe(204)
  })

  it('AD-8.2-05 are rejected if they are malformed', async () => {
    const identity = authority.issue('/CN=n', 'URI:spiffe://TD.example/billing')
    expectError(await register('never', { identity }), { status: 401 })
    const headers = bearer(await issuer.token({ sub: 'spiffe://td.example/../billing' }))
    expectError(await register('never', { headers }), { status: 401, says: /SPIFFE/ })
  })
})

describe.each(['jwt', 'opaque'] as const)(
  'tokens of an OpenID provider that are bound to a certificate: %s',
  (format) => {
    it('are accepted only together with that certificate', async () => {
      const [own, other] = [authority.issue('/CN=own'), authority.issue('/CN=other')]
      const token = await provider.token({ client: 'bound-agent', certificate: own.cert, format })
      const headers = bearer(token)
      const id = `bound-${format}`
      const refused = await register(id, { headers })
      expectError(refused, { status: 401, says: /bound to a client certificate/ })
      expect(refused.headers.get('www-authenticate')).toMatch(/error="invalid_token"/)
      expectError(await register(id, { headers, identity: other }), { status: 401, says: /bound/ })
      expect((await register(id, { headers, identity: own })).status).toBe(201)
      // The subject is the token's, not the certificate's.
      expectError(await send({ method: 'DELETE', path: `/agents/${id}`, identity: own }), { status: 403 })
      expect((await send({ method: 'DELETE', path: `/agents/${id}`, headers, identity: own })).status).toBe(204)
    })

    it('are rejected if the certificate is not trusted', async () => {
      const identity = stranger.issue('/CN=own')
      const token = await provider.token({ client: 'bound-agent', certificate: identity.cert, format })
      expectError(await register('never', { headers: bearer(token), identity }), { status: 401, says: /bound/ })
    })
  },
)

describe('a bound token', () => {
  it('names the certificate by its SHA-256', async () => {
    const identity = authority.issue('/CN=hash')
    const digest = new X509Certificate(identity.cert).fingerprint256.replaceAll(':', '')
    const cnf = { 'x5t#S256': Buffer.from(digest, 'hex').toString('base64url') }
    const headers = bearer(await issuer.token({ cnf }))
    expect((await send({ path: '/agents', headers, identity })).status).toBe(200)
    expectError(await send({ path: '/agents', headers }), { status: 401 })
  })
})
