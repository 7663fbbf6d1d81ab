import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invokeAgent } from '@switchboard/client'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Authority, createAuthority, sendTls } from '../../server/test/support/tls.js'
import type { AuditEntry } from '../src/index.js'
import { closeAll, echo, makeAgent, post, startAgent } from './support/agents.js'

afterEach(closeAll)

const ISSUER = 'https://issuer.example'

/** An issuer of tokens, with its key set on a server. */
async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const keys: JWK[] = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }]
  const server = createServer((_, response) => void response.end(JSON.stringify({ keys })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sign = (claims: { sub?: string; scope?: string; aud?: string; exp?: string } = {}): Promise<string> =>
    new SignJWT({ scope: claims.scope ?? '' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(ISSUER)
      .setSubject(claims.sub ?? 'ann')
      .setAudience(claims.aud ?? 'tester')
      .setIssuedAt()
      .setExpirationTime(claims.exp ?? '5m')
      .sign(privateKey)
  return { jwksUrl: `http://127.0.0.1:${port}/jwks.json`, sign, close: () => void server.close() }
}

const who = {
  name: 'who',
  handler: (_: object, { caller }: { caller: { subject: string | undefined; scheme: string } }) => ({
    subject: caller.subject ?? null,
    scheme: caller.scheme,
  }),
}

describe('a caller', () => {
  it('AURI-10-01 AURI-10-04 sends a key as X-API-Key or bearer token, and never in the query', async () => {
    const sha256 = createHash('sha256').update('secret of ben').digest('hex')
    const apiKeys = [
      { subject: 'ann', key: 'secret of ann' },
      { subject: 'ben', sha256 },
    ]
    const { url } = await startAgent({ capabilities: [who], authentication: { apiKeys } })
    const request = (headers: Record<string, string>, query = '') => post(`${url}/who${query}`, {}, headers)
    expect((await request({ 'x-api-key': 'secret of ann' })).json).toEqual({ subject: 'ann', scheme: 'api_key' })
    expect((await request({ authorization: 'Bearer secret of ben' })).status).toBe(401)
    expect((await request({ 'x-api-key': 'secret of ben' })).json.subject).toBe('ben')
    expect((await request({}, '?api_key=secret%20of%20ann&x-api-key=secret%20of%20ann')).status).toBe(401)
    const refused = await request({ 'x-api-key': 'wrong' })
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="agent", error="invalid_token"',
    ])
  })

  it('AURI-10-01 AURI-10-03 sends a token of a known issuer; expired, altered and foreign ones are rejected', async () => {
    const issuer = await startIssuer()
    const { jwksUrl } = issuer
    const issuers = [{ issuer: ISSUER, audience: 'tester', jwksUrl }]
    const { url } = await startAgent({ capabilities: [who], authentication: { issuers } })
    const request = (token: string) => post(`${url}/who`, {}, { authorization: `Bearer ${token}` })
    const good = await issuer.sign()
    expect((await request(good)).json).toEqual({ subject: 'ann', scheme: 'oauth2_bearer' })
    const [head, , signature] = good.split('.')
    const claims = Buffer.from(JSON.stringify({ iss: ISSUER, sub: 'eve', aud: 'tester', exp: 9e9 })).toString(
      'base64url',
    )
    const bad = [
      await issuer.sign({ exp: '-5m' }),
      await issuer.sign({ aud: 'somebody else' }),
      `${head}.${claims}.${signature}`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`,
      'nonsense',
    ]
    for (const token of bad) expect((await request(token)).status).toBe(401)
    issuer.close()
  })

  it('AURI-10-05 PROF-14-12 may call only what its scopes allow', async () => {
    const issuer = await startIssuer()
    const issuers = [{ issuer: ISSUER, audience: 'tester', jwksUrl: issuer.jwksUrl }]
    const capabilities = ['a', 'b'].map((name) => ({ ...who, name, scopes: [name] }))
    const { url } = await startAgent({ capabilities, authentication: { issuers } })
    const authorization = `Bearer ${await issuer.sign({ scope: 'a x' })}`
    expect((await post(`${url}/a`, {}, { authorization })).status).toBe(200)
    expect((await post(`${url}/b`, {}, { authorization })).status).toBe(403)
    expect((await post(`${url}/a`, {})).status).toBe(401)
    issuer.close()
  })

  it('may be anonymous if the agent allows it', async () => {
    const apiKeys = [{ subject: 'ann', key: 'secret', scopes: ['write'] }]
    const { url } = await startAgent({
      capabilities: [who, { ...who, name: 'write', scopes: ['write'] }],
      authentication: { apiKeys, anonymous: true },
    })
    expect((await post(`${url}/who`, {})).json).toEqual({ subject: null, scheme: 'none' })
    expect((await post(`${url}/who`, {}, { 'x-api-key': 'wrong' })).status).toBe(401)
    expect((await post(`${url}/write`, {})).status).toBe(403)
    expect((await post(`${url}/write`, {}, { 'x-api-key': 'secret' })).status).toBe(200)
  })

  it('AURI-10-12 is rejected as soon as consent is revoked, and every call is audited without its payload', async () => {
    const consents = new Set(['ann'])
    const trail: AuditEntry[] = []
    const { url } = await startAgent({
      authentication: { apiKeys: [{ subject: 'ann', key: 'secret' }] },
      allow: ({ caller }) => consents.has(caller.subject ?? ''),
      audit: (entry) => trail.push(entry),
    })
    const request = () => post(`${url}/echo`, { text: 'private' }, { 'x-api-key': 'secret', 'x-request-id': 'r1' })
    expect((await request()).status).toBe(200)
    consents.delete('ann')
    const refused = await request()
    expect([refused.status, refused.json.error.code]).toEqual([403, 'PermissionDenied'])
    expect(trail).toEqual([
      expect.objectContaining({ requestId: 'r1', capability: 'echo', subject: 'ann', outcome: 'ok' }),
      expect.objectContaining({ requestId: 'r1', capability: 'echo', subject: 'ann', outcome: 'permission_denied' }),
    ])
    expect(JSON.stringify(trail)).not.toContain('private')
  })
})

describe('the client', () => {
  it('AURI-8.3.1-03 obtains the credential that the descriptor requires, before the call', async () => {
    const apiKeys = [{ subject: 'ann', key: 'secret' }]
    const { host } = await startAgent({ capabilities: [who], authentication: { apiKeys } })
    const asked: (readonly string[])[] = []
    const reply = await invokeAgent(
      `agent://${host}/who`,
      {},
      {
        httpLoopback: true,
        credentials: async ({ schemes }) => {
          asked.push(schemes)
          return { type: 'api_key', key: 'secret' }
        },
      },
    )
    expect(reply.output).toEqual({ subject: 'ann', scheme: 'api_key' })
    expect(asked).toEqual([['api_key']])
    await expect(invokeAgent(`agent://${host}/who`, {}, { httpLoopback: true })).rejects.toMatchObject({
      code: 'unauthorized',
    })
  })
})

describe('over TLS', () => {
  let folder: string
  let authority: Authority
  let stranger: Authority
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-agent-tls-'))
    authority = createAuthority(folder, 'authority')
    stranger = createAuthority(folder, 'stranger')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const start = async (clientRequired: boolean): Promise<string> => {
    const agent = makeAgent({
      capabilities: [who, { ...echo, scopes: ['talk'] }],
      authentication: { clientCertificates: { scopesOf: (subject) => (subject.includes('friend') ? ['talk'] : []) } },
    })
    const { cert, key } = authority.issue('/CN=localhost', 'DNS:localhost')
    const { url = '' } = await agent.listen({
      host: 'localhost',
      tls: { cert, key, clientCa: authority.cert, clientRequired },
    })
    return url
  }
  const request = (url: string, path: string, identity?: { cert: string; key: string }) =>
    sendTls(url, { method: 'POST', path, ca: authority.cert, body: { text: 'a' }, ...(identity && { identity }) })

  it('AURI-10-02 a client certificate identifies the caller', async () => {
    const url = await start(false)
    expect(url).toMatch(/^https:/)
    const friend = authority.issue('/CN=whoever', 'URI:https://friend.example')
    const other = authority.issue('/CN=other')
    expect((await request(url, '/who', friend)).json).toEqual({ subject: 'https://friend.example', scheme: 'mtls' })
    expect((await request(url, '/echo', friend)).status).toBe(200)
    expect((await request(url, '/who', other)).json.subject).toBe('other')
    expect((await request(url, '/echo', other)).status).toBe(403)
    expect((await request(url, '/who')).status).toBe(401)
    expect((await request(url, '/who', stranger.issue('/CN=friend'))).status).toBe(401)
  })

  it('AURI-10-02 a caller without a required certificate cannot connect', async () => {
    const url = await start(true)
    expect((await request(url, '/who', authority.issue('/CN=other'))).status).toBe(200)
    await expect(request(url, '/who')).rejects.toThrow()
    await expect(request(url, '/who', stranger.issue('/CN=friend'))).rejects.toThrow()
  })
})
