import { createHmac, createSign, KeyObject } from 'node:crypto'
import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'
import { startIssuer, type TestIssuer } from './support/issuer.js'

let issuer: TestIssuer
let directory: TestDirectory
beforeAll(async () => {
  issuer = await startIssuer()
  directory = await startDirectory({ issuers: [issuer.trust] })
})
beforeEach(() => directory.clear())
afterAll(async () => {
  await directory.close()
  await issuer.close()
})

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const inAnHour = (): number => Math.floor(Date.now() / 1000) + 3600
const claims = () => ({
  ...issuer.trust,
  iss: issuer.trust.issuer,
  aud: issuer.trust.audience,
  sub: 'alice',
  scope: 'publish',
  exp: inAnHour(),
})

describe('JWTs', () => {
  it('AD-8.2-02 a valid bearer token can register: 201', async () => {
    const key = await issuer.token()
    expect((await directory.post('/ad/r?agent=a', { key, body: fixture('FX-SUM') })).status).toBe(201)
    expect((await directory.post('/agents', { key, body: aidipAgent({ id: 'b' }) })).status).toBe(201)
    expect((await directory.post('/discover/agents', { key, body: fixture('FX-D0', { id: 'c' }) })).status).toBe(201)
  })

  it('AD-8.2-04 the owner is the token’s subject', async () => {
    await directory.post('/agents', { key: await issuer.token({ sub: 'alice' }), body: aidipAgent({ id: 'a' }) })
    const bob = await issuer.token({ sub: 'bob' })
    expectError(await directory.delete('/agents/a', { key: bob }), { status: 403 })
    const sameSubject = await directory.makeKey({ subject: 'alice', scopes: ['publish'] })
    expect((await directory.delete('/agents/a', { key: sameSubject })).status).toBe(204)
  })

  it('AD-8.2-05 a workload identity is accepted, and its whole URI is the owner', async () => {
    const key = await issuer.token({ sub: 'wimse://td.example/agent' })
    await directory.post('/ad/r?agent=a', { key, body: fixture('FX-SUM') })
    for (const sub of ['wimse://td.example/agent2', 'wimse://td.example', 'wimse://other.example/agent', 'agent']) {
      expectError(await directory.delete('/agents/a', { key: await issuer.token({ sub }) }), { status: 403 }, sub)
    }
    expect(
      (await directory.delete('/agents/a', { key: await issuer.token({ sub: 'wimse://td.example/agent' }) })).status,
    ).toBe(204)
  })

  it('AD-8.2-02 an expired token gets 401 invalid_token', async () => {
    const key = await issuer.token({}, Math.floor(Date.now() / 1000) - 1)
    const answer = await directory.post('/ad/r?agent=a', { key, body: fixture('FX-SUM') })
    expectError(answer, { status: 401, code: 'unauthorized', says: /expired/ })
    expect(answer.headers.get('www-authenticate')).toMatch(/error="invalid_token"/)
  })

  it('grants the scopes of the scope claim and no others', async () => {
    const reader = await issuer.token({ scope: 'discover' })
    expectError(await directory.post('/agents', { key: reader, body: aidipAgent() }), { status: 403 })
    const none = await issuer.token({ scope: undefined })
    expectError(await directory.post('/agents', { key: none, body: aidipAgent() }), { status: 403 })
    const publisher = await issuer.token({ scope: 'publish' })
    expectError(await directory.get('/admin/keys', { key: publisher }), { status: 403 })
    const similarScopes = await issuer.token({ scope: 'administrator publishing' })
    expectError(await directory.get('/admin/keys', { key: similarScopes }), { status: 403 })
    expect((await directory.get('/admin/keys', { key: await issuer.token({ scope: 'openid admin' }) })).status).toBe(
      200,
    )
    const list = await issuer.token({ scope: undefined, scp: ['publish'] })
    expect((await directory.post('/agents', { key: list, body: aidipAgent() })).status).toBe(201)
  })

  it('C-43 limits a commissioning tool to the names of its claim', async () => {
    const key = await issuer.token({ sub: 'tool', scope: 'ct', names: ['plant-*'] })
    expect((await directory.post('/ad/r?agent=plant-1', { key, body: fixture('FX-SUM') })).status).toBe(201)
    expectError(await directory.post('/ad/r?agent=other', { key, body: fixture('FX-SUM') }), { status: 403 })
  })

  const FORGED: Record<string, () => Promise<string>> = {
    'for another audience': () => issuer.token({ aud: 'elsewhere' }),
    'without an audience': () => issuer.token({ aud: undefined }),
    'of an unknown issuer': () => issuer.token({ iss: 'https://evil.example' }),
    'of an issuer with the same prefix': () => issuer.token({ iss: `${issuer.trust.issuer}.evil.example` }),
    'whose issuer is not a string': async () =>
      `${encode({ alg: 'RS256' })}.${encode({ ...claims(), iss: { a: 1 } })}.x`,
    'whose issuer is __proto__': async () =>
      `${encode({ alg: 'RS256' })}.${encode({ ...claims(), iss: '__proto__' })}.x`,
    'without an expiry': () =>
      new SignJWT((({ exp: _exp, ...rest }) => rest)(claims()))
        .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
        .sign(issuer.privateKey),
    'without a subject': () => issuer.token({ sub: undefined }),
    'with an empty subject': () => issuer.token({ sub: '' }),
    'with a control character in its subject': () => issuer.token({ sub: 'a\u0000b' }),
    'that is not valid yet': () => issuer.token({ nbf: inAnHour() }),
    'signed with another key': async () => {
      const { privateKey } = await generateKeyPair('RS256')
      return new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: 'key-1' }).sign(privateKey)
    },
    'signed with an unpublished key': async () => {
      const { privateKey } = await generateKeyPair('RS256')
      return new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: 'key-9' }).sign(privateKey)
    },
    'with alg none': async () => `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims())}.`,
    'with alg none and a signature': async () => `${encode({ alg: 'none' })}.${encode(claims())}.AAAA`,
    'with alg HS256 and the public key as the secret': async () => {
      const signed = `${encode({ alg: 'HS256', kid: 'key-1', typ: 'JWT' })}.${encode(claims())}`
      return `${signed}.${createHmac('sha256', issuer.publicKey).update(signed).digest('base64url')}`
    },
    'with its own key in the header': async () => {
      const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
      const { exportJWK } = await import('jose')
      const header = { alg: 'RS256', jwk: await exportJWK(publicKey) }
      return new SignJWT(claims()).setProtectedHeader(header).sign(privateKey)
    },
    'with claims changed after signing': async () => {
      const [header, , signature] = (await issuer.token()).split('.')
      return `${header}.${encode({ ...claims(), sub: 'admin', scope: 'admin' })}.${signature}`
    },
    'whose parts are not JSON': async () => 'eyJ.AAAA.AAAA',
    'that requires unknown extensions': () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: 'RS256', kid: 'key-1', crit: ['exp'], exp: 1 })
        .sign(issuer.privateKey, { crit: { exp: true } }),
  }

  it.each(Object.entries(FORGED))('AD-8.2-02 rejects a token %s: 401 invalid_token', async (_what, forge) => {
    const key = await forge()
    const answer = await directory.post('/agents', { key, body: aidipAgent({ id: 'never' }) })
    expectError(answer, { status: 401, code: 'unauthorized' })
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="switchboard", error="invalid_token"/)
    expect(answer.text).not.toContain(key)
    expect((await directory.get('/agents/never')).status).toBe(404)
    expectError(await directory.get('/agents', { key }), { status: 401 })
  })

  it('AD-8.2-02 rejects every malformed token with 401, whatever is wrong with it', async () => {
    const values = [undefined, null, true, -1, 1e300, '', 'x', '\u0000', [], [null], {}, { a: 1 }]
    const sign = async (header: object, payload: object): Promise<string> => {
      const input = `${encode(header)}.${encode(payload)}`
      return `${input}.${createSign('sha256').update(input).sign(KeyObject.from(issuer.privateKey), 'base64url')}`
    }
    const good = { alg: 'RS256', kid: 'key-1', typ: 'JWT' }
    expect((await directory.get('/agents', { key: await sign(good, claims()) })).status).toBe(200)
    const tokens = [
      ...['alg', 'kid', 'crit', 'b64'].flatMap((name) =>
        values.map((value) => sign({ ...good, [name]: value }, claims())),
      ),
      ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'scope', 'names', 'cnf'].flatMap((name) =>
        values.map((value) => sign(good, { ...claims(), [name]: value })),
      ),
      ...values.map(async (value) => `${encode(value ?? null)}.${encode(claims())}.AAAA`),
      ...values.map(async (value) => `${encode(good)}.${encode(value ?? null)}.AAAA`),
      ...['eyJ.e.', 'eyJhbGciOiJSUzI1NiJ9.e30.', 'eyJhbGciOiJSUzI1NiJ9.____.____', `eyJ${'A'.repeat(8000)}.AA.AA`],
    ]
    const statuses = new Map<number, number>()
    for (const token of tokens) {
      const { status } = await directory.get('/agents', { key: await token })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    // Some of the claims are optional, and some texts are valid.
    expect([...statuses.keys()].sort()).toEqual([200, 401])
    expect(statuses.get(401)).toBeGreaterThan(100)
  })

  it('does not accept a token as an API key', async () => {
    const token = await issuer.token()
    expectError(await directory.get('/agents', { headers: { 'x-api-key': token } }), { status: 401 })
  })

  it('returns 503, not 401, while the issuer’s keys are not available', async () => {
    const broken = await startIssuer('https://broken.example')
    broken.available = false
    await directory.restart({ issuers: [issuer.trust, broken.trust] })
    const key = await broken.token()
    const answer = await directory.post('/agents', { key, body: aidipAgent() })
    expectError(answer, { status: 503, code: 'unavailable' })
    expect(answer.headers.get('retry-after')).toBe(String(answer.json.retry_after))
    broken.available = true
    expect((await directory.post('/agents', { key, body: aidipAgent() })).status).toBe(201)
    await broken.close()
    expect((await directory.get('/agents', { key: await issuer.token() })).status).toBe(200)
    await directory.restart()
  })
})

describe('a directory that trusts no issuer', () => {
  it('rejects every token', async () => {
    await directory.restart({ issuers: [] })
    expectError(await directory.get('/agents', { key: await issuer.token() }), { status: 401, says: /issuer/ })
    await directory.restart()
  })
})
