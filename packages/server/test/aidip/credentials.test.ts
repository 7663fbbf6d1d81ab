import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { type Authority, createAuthority, type Identity, sendTls } from '../support/tls.js'

const ISSUER = 'https://id.example.net'
const AUDIENCE = 'https://directory.example.net'

const clock = createTestClock()
let directory: TestDirectory
let jwks: Server
let sign: (claims: JWTPayload, key?: CryptoKey) => Promise<string>
let stranger: CryptoKey

beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  stranger = (await generateKeyPair('ES256')).privateKey
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] })
  jwks = createServer((_request, response) => response.setHeader('content-type', 'application/json').end(keys))
  await new Promise<void>((resolve) => jwks.listen(0, '127.0.0.1', resolve))
  const jwksUrl = `http://127.0.0.1:${(jwks.address() as AddressInfo).port}/jwks.json`
  directory = await startDirectory({ issuers: [{ issuer: ISSUER, audience: AUDIENCE, jwksUrl }] }, clock)
  sign = (claims, key = privateKey) =>
    new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'tokA', exp: Math.floor(clock.now() / 1000) + 60, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(key)
})
afterAll(async () => {
  await directory.close()
  jwks.close()
})
beforeEach(() => directory.clear())

const register = (headers: Record<string, string>) =>
  directory.post('/agents', { headers, body: aidipAgent({ id: 'x' }) })

describe('a caller without credentials', () => {
  it('AIDIP-9-03 may use public discovery and nothing else', async () => {
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'x' }) })
    for (const path of ['/agents', '/agents/public', '/agents/x']) expect((await directory.get(path)).status).toBe(200)
    expect((await directory.post('/agents/search', { body: {} })).status).toBe(200)
    const refused = [
      await directory.post('/agents', { body: aidipAgent() }),
      await directory.put('/agents/x', { body: aidipAgent() }),
      await directory.delete('/agents/x'),
      await directory.post('/agents/x/invoke', { body: { text: 'hello' } }),
      await directory.get('/admin/keys'),
    ]
    for (const { status, headers, json } of refused) {
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
      expect(json.error.code).toBe('Unauthorized')
    }
  })
})

describe('an API key', () => {
  it('AIDIP-9-03 is accepted in either header', async () => {
    const key = await directory.makeKey({ subject: 'someone', scopes: ['publish'] })
    expect((await register({ authorization: `Bearer ${key}` })).status).toBe(201)
    expect((await register({ 'x-api-key': key })).status).toBe(200)
  })

  it('AIDIP-9-03 is rejected if wrong, revoked or expired, even on public paths', async () => {
    const made = await directory.post('/admin/keys', { as: 'admin', body: { subject: 's', scopes: ['publish'] } })
    expect((await register({ 'x-api-key': made.json.key })).status).toBe(201)
    expect((await directory.delete(`/admin/keys/${made.json.id}`, { as: 'admin' })).status).toBe(204)
    const shortLived = await directory.makeKey({ subject: 's', scopes: ['publish'], expires_in: 60 })
    expect((await register({ 'x-api-key': shortLived })).status).toBe(200)
    clock.advance(61)
    for (const headers of [
      { 'x-api-key': made.json.key },
      { 'x-api-key': shortLived },
      { authorization: `Bearer ${made.json.key}x` },
      { authorization: 'Basic dG9rQTp4' },
      { authorization: 'Bearer' },
    ]) {
      expect((await register(headers)).status).toBe(401)
      expect((await directory.get('/agents', { headers })).status).toBe(401)
    }
  })
})

describe('an OAuth 2.0 bearer token', () => {
  it('AIDIP-9-03 determines subject and scopes', async () => {
    const publisher = await sign({ scope: 'publish discover' })
    expect((await register({ authorization: `Bearer ${publisher}` })).status).toBe(201)
    // A key of the same subject owns what the token registered.
    expect((await directory.put('/agents/x', { as: 'tokA', body: aidipAgent() })).status).toBe(200)
    const client = await sign({ sub: 'client', scope: 'discover' })
    expect((await register({ authorization: `Bearer ${client}` })).status).toBe(403)
  })

  it('AIDIP-9-03 with a wrong issuer, audience, key or time is rejected', async () => {
    const past = Math.floor(clock.now() / 1000) - 600
    const wrong = [
      await sign({ scope: 'publish', iss: 'https://evil.example' }),
      await sign({ scope: 'publish', aud: 'https://other.example' }),
      await sign({ scope: 'publish', exp: past }),
      await sign({ scope: 'publish', nbf: past + 6000 }),
      await sign({ scope: 'publish', sub: '' }),
      await sign({ scope: 'publish' }, stranger),
      `${(await sign({ scope: 'publish' })).split('.').slice(0, 2).join('.')}.`,
    ]
    for (const token of wrong) {
      const { status, headers } = await register({ authorization: `Bearer ${token}` })
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toContain('invalid_token')
    }
    expect((await directory.get('/agents/x', { as: 'admin' })).status).toBe(404)
  })
})

describe('a client certificate', () => {
  let folder: string
  let authority: Authority
  let secure: TestDirectory
  let url: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-tls-'))
    authority = createAuthority(folder, 'authority')
    const { cert, key } = authority.issue('/CN=localhost', 'IP:127.0.0.1', 'DNS:localhost')
    secure = await startDirectory({ tls: { cert, key, clientCa: authority.cert, clientRequired: false } })
    url = secure.url
  })
  afterAll(async () => {
    await secure.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const post = (identity?: Identity) =>
    sendTls(url, {
      method: 'POST',
      path: '/agents',
      ca: authority.cert,
      body: aidipAgent({ id: 'x' }),
      ...(identity && { identity }),
    })

  it('AIDIP-9-03 determines the subject; without one, or with one from another CA, the caller is anonymous', async () => {
    expect((await post()).status).toBe(401)
    const stranger = createAuthority(folder, 'other').issue('/CN=mallory')
    expect((await post(stranger)).status).toBe(401)
    expect((await post(authority.issue('/CN=fleet', 'URI:urn:fleet:7'))).status).toBe(201)
    expect((await post(authority.issue('/CN=fleet', 'URI:urn:fleet:8'))).status).toBe(409)
    const listed = await sendTls(url, { path: '/agents', ca: authority.cert })
    expect(listed.json).toHaveLength(1)
  })
})
