import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { startIssuer, type TestIssuer } from '../support/issuer.js'

let issuer: TestIssuer
let directory: TestDirectory
beforeAll(async () => {
  issuer = await startIssuer()
  directory = await startDirectory({ issuers: [issuer.trust] })
})
afterAll(async () => {
  await directory.close()
  await issuer.close()
})

describe('the metadata of the protected resource (RFC 9728)', () => {
  it('says where to get tokens, and for which scopes', async () => {
    const { status, json, headers } = await directory.get('/.well-known/oauth-protected-resource', {
      headers: { origin: 'https://page.example' },
    })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(json).toEqual({
      resource: directory.url,
      authorization_servers: ['https://issuer.example'],
      jwks_uri: `${directory.url}/.well-known/jwks.json`,
      scopes_supported: ['publish', 'discover', 'invoke', 'ct', 'admin'],
      bearer_methods_supported: ['header'],
      resource_name: 'Switchboard',
      resource_documentation: `${directory.url}/docs`,
      tls_client_certificate_bound_access_tokens: false,
    })
  })
})

describe('the challenge of a 401', () => {
  const challenge = async (options: Parameters<TestDirectory['post']>[1], path = '/agents'): Promise<string | null> => {
    const { status, headers } = await directory.post(path, options)
    expect(status).toBe(401)
    return headers.get('www-authenticate')
  }
  const metadata = () => `resource_metadata="${directory.url}/.well-known/oauth-protected-resource"`

  it('AD-8.2-01 points to the metadata, and reports no error if there was no credential', async () => {
    const expected = `Bearer realm="switchboard", ${metadata()}`
    expect(await challenge({ body: aidipAgent() })).toBe(expected)
    expect(await challenge({ body: fixture('FX-SUM') }, '/ad/r?agent=a')).toBe(expected)
    expect(await challenge({ headers: { authorization: 'Basic eDp5' } })).toBe(expected)
  })

  it('AD-8.2-02 says what is wrong with the credential', async () => {
    const says = (description: string) =>
      `Bearer realm="switchboard", error="invalid_token", error_description="${description}", ${metadata()}`
    const expired = await issuer.token({}, Math.floor(Date.now() / 1000) - 1)
    expect(await challenge({ key: expired })).toBe(says('the token has expired'))
    const unknown = says('the API key is invalid, expired or revoked')
    expect(await challenge({ key: 'sb_unknown' })).toBe(unknown)
    expect(await challenge({ headers: { 'x-api-key': 'sb_unknown' } })).toBe(unknown)
  })

  it('contains no characters that end the description', async () => {
    await directory.restart({ behindProxy: true })
    const headers = { 'x-forwarded-proto': 'https' }
    const answer = await challenge({ as: 'admin', headers, body: fixture('FX-SUM') }, '/ad/r?agent=a')
    expect(answer).toMatch(
      /^Bearer realm="[^"]*", error="[^"]*", error_description="[^"\\]+", resource_metadata="[^"]*"$/,
    )
    await directory.restart()
  })
})
