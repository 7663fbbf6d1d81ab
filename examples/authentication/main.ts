// Three ways to prove who calls: an OAuth 2.0 access token, a JWT that the caller signs itself, and a client certificate
// (mTLS). The agent decides by the scopes of the caller.
import assert from 'node:assert/strict'
import { capability, createAgent } from '@switchboard/agent'
import { type Credentials, invokeAgent } from '@switchboard/client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createAuthority, createFetch } from '../certificates.ts'
import { startAuthorizationServer } from './authorization-server.ts'

const oauth = await startAuthorizationServer('vault', { 'reader:s3cret': 'read', 'writer:s3cret': 'read write' })
const partner = await generateKeyPair('ES256')
const authority = await createAuthority()

const agent = createAgent({
  name: 'vault',
  version: '1.0.0',
  description: 'Keeps secrets.',
  authentication: {
    issuers: [
      { issuer: oauth.url, audience: 'vault', jwksUrl: oauth.jwksUrl },
      { issuer: 'https://partner.example', audience: 'vault', keys: [await exportJWK(partner.publicKey)] },
    ],
    clientCertificates: { scopesOf: (subject) => (subject.includes('backup-job') ? ['read'] : []) },
  },
  capabilities: ['read', 'write'].map((name) =>
    capability({ name, scopes: [name], handler: (_, { caller: { subject = '', scheme } }) => ({ subject, scheme }) }),
  ),
  allowPrivate: true, // the authorization server is on this computer
})
const tls = { ...(await authority.issue('localhost')), clientCa: authority.cert }
const { url = '' } = await agent.listen({ host: 'localhost', tls })

const withoutCertificate = createFetch(authority)
const withCertificate = createFetch(authority, await authority.issue('backup-job'))

/** Calls a capability of the vault. */
async function call(capability: string, credentials?: Credentials, fetch = withoutCertificate.fetch) {
  const uri = `agent://${new URL(url).host}/${capability}`
  const { output } = await invokeAgent(uri, {}, { fetch, allowPrivate: true, ...(credentials && { credentials }) })
  console.log(`${capability}: ${JSON.stringify(output)}`)
  return Object(output)
}

/** Gets an access token when an agent needs one. */
const byOAuth =
  (login: string): Credentials =>
  async ({ schemes }) => {
    assert.ok(schemes.includes('oauth2_bearer')) // what the descriptor of the agent says
    const headers = { authorization: `Basic ${Buffer.from(login).toString('base64')}` }
    const body = new URLSearchParams({ grant_type: 'client_credentials' })
    const response = await fetch(`${oauth.url}/token`, { method: 'POST', headers, body })
    const { access_token: token } = JSON.parse(await response.text())
    return typeof token === 'string' ? { type: 'bearer', token } : undefined
  }

/** Signs a token with a key that the agent knows. */
const signed = async (audience: string): Promise<Credentials> => {
  const token = new SignJWT({ scope: 'read' }).setProtectedHeader({ alg: 'ES256' }).setIssuer('https://partner.example')
  token.setSubject('nightly-report').setAudience(audience).setExpirationTime('1m')
  return { type: 'bearer', token: await token.sign(partner.privateKey) }
}

try {
  await assert.rejects(call('read'), { code: 'unauthorized' })

  assert.equal((await call('write', byOAuth('writer:s3cret'))).subject, `${oauth.url}#writer`)
  await assert.rejects(call('write', byOAuth('reader:s3cret')), { code: 'permission_denied' })
  await assert.rejects(call('read', byOAuth('reader:guess')), { code: 'unauthorized' })
  console.log('OAuth 2.0: the writer may write, the reader may not, and a guessed secret gets no token')

  assert.equal((await call('read', await signed('vault'))).subject, 'https://partner.example#nightly-report')
  await assert.rejects(call('read', await signed('another agent')), { code: 'unauthorized' })
  console.log('JWT: a token for another agent is rejected')

  const { scheme } = await call('read', undefined, withCertificate.fetch)
  assert.equal(scheme, 'mtls')
  await assert.rejects(call('write', undefined, withCertificate.fetch), { code: 'permission_denied' })
  console.log('mTLS: the certificate proves who calls; it may read only')
} finally {
  await agent.close()
  await Promise.all([withCertificate.close(), withoutCertificate.close(), oauth.close(), authority.close()])
}
