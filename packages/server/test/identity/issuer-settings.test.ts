import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/read-config.js'
import type { Issuer } from '../../src/services/identity/issuers.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { startIssuer, type TestIssuer } from '../support/issuer.js'
import { temporaryFolder } from '../support/process.js'

let issuer: TestIssuer
let introspector: Server
let introspection: { url: string; clientId: string; clientSecret: string }
/** What the issuer responds to an introspection request. */
let respond: (token: string) => object = () => ({ active: true })
let directory: TestDirectory
beforeAll(async () => {
  issuer = await startIssuer()
  introspector = createServer(async (request, response) => {
    const token = new URLSearchParams(await text(request)).get('token') ?? ''
    response.end(JSON.stringify(respond(token)))
  })
  await new Promise<void>((resolve) => introspector.listen(0, '127.0.0.1', resolve))
  const address = introspector.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`
  introspection = { url, clientId: 'directory', clientSecret: 'secret' }
  directory = await startDirectory()
})
afterAll(async () => {
  await directory.close()
  introspector.close()
  await issuer.close()
})

const trusting = (settings: Partial<Issuer>): Promise<void> =>
  directory.restart({ issuers: [{ ...issuer.trust, ...settings }] })

describe('introspection of JWTs', () => {
  it('rejects a revoked JWT, whose signature is valid', async () => {
    await trusting({ introspection: { ...introspection, jwts: true } })
    const [valid, revoked] = [await issuer.token(), await issuer.token({ jti: 'x' })]
    respond = (token) => ({ active: token === valid })
    expect((await directory.get('/agents', { key: valid })).status).toBe(200)
    expectError(await directory.get('/agents', { key: revoked }), { status: 401, says: /revoked/ })
  })

  it('does not accept a JWT that is active but not valid', async () => {
    await trusting({ introspection: { ...introspection, jwts: true } })
    respond = () => ({ active: true })
    expectError(await directory.get('/agents', { key: await issuer.token({ aud: 'other' }) }), { status: 401 })
  })

  it('happens only if it is configured', async () => {
    await trusting({ introspection })
    respond = () => ({ active: false })
    expect((await directory.get('/agents', { key: await issuer.token() })).status).toBe(200)
  })

  it('replaces the verification if the issuer has no key set', async () => {
    const { jwksUrl: _, ...trust } = issuer.trust
    await directory.restart({ issuers: [{ ...trust, introspection }] })
    respond = () => ({ active: true, aud: 'switchboard', sub: 'ann', scope: 'discover' })
    const key = await issuer.token({ sub: 'bob', scope: 'admin' })
    expect((await directory.get('/agents', { key })).status).toBe(200)
    expectError(await directory.get('/admin/keys', { key }), { status: 403 })
  })
})

describe('introspected tokens', () => {
  const GOOD = { active: true, aud: ['other', 'switchboard'], sub: 'ann', scope: 'admin' }
  const CASES: [string, object, number][] = [
    ['that is fine', GOOD, 200],
    ['without a subject, of a client', { ...GOOD, sub: undefined, client_id: 'c' }, 200],
    ['of the issuer', { ...GOOD, iss: 'https://issuer.example' }, 200],
    ['of another issuer', { ...GOOD, iss: 'https://other.example' }, 401],
    ['for another audience', { ...GOOD, aud: 'other' }, 401],
    ['without an audience', { ...GOOD, aud: undefined }, 401],
    ['with a wrong audience', { ...GOOD, aud: { switchboard: true } }, 401],
    ['that has expired', { ...GOOD, exp: 1 }, 401],
    ['with a wrong expiry', { ...GOOD, exp: 'never' }, 401],
    ['that is not valid yet', { ...GOOD, nbf: 1e10 }, 401],
    ['with a wrong start', { ...GOOD, nbf: '0' }, 401],
    ['with a number as its subject', { ...GOOD, sub: 7 }, 401],
    ['without a subject and a client', { ...GOOD, sub: undefined }, 401],
    ['of another type', { ...GOOD, token_type: 'DPoP' }, 401],
    ['bound to a key', { ...GOOD, cnf: { jkt: 'x' } }, 401],
    ['with wrong scopes', { ...GOOD, scope: 7 }, 401],
  ]
  beforeAll(() => trusting({ introspection }))

  it.each(CASES)('a token %s', async (name, claims, status) => {
    respond = () => claims
    const key = `opaque-${name.replaceAll(' ', '-')}`
    expect((await directory.get('/admin/keys', { key })).status).toBe(status)
  })
})

describe('scopes from other claims', () => {
  it('are those that the operator gives to the roles of the issuer', async () => {
    await trusting({ scopes: [{ claim: 'realm_access.roles', values: { publisher: ['publish'], boss: ['admin'] } }] })
    const withRoles = (...roles: unknown[]) => issuer.token({ scope: 'admin', realm_access: { roles } })
    const register = async (key: string) => (await directory.post('/agents', { key, body: aidipAgent() })).status
    expect(await register(await withRoles('reader'))).toBe(403)
    expect(await register(await withRoles('publisher'))).toBe(201)
    expect((await directory.get('/admin/keys', { key: await withRoles('publisher') })).status).toBe(403)
    expect((await directory.get('/admin/keys', { key: await withRoles('boss') })).status).toBe(200)
    expect(await register(await withRoles(7))).toBe(401)
  })
})

describe('the config of an issuer', () => {
  const folder = temporaryFolder()
  afterAll(() => folder.remove())
  const file = (name: string, content: string): string => {
    const path = join(folder.path, name)
    writeFileSync(path, content)
    return path
  }
  const read = (secret: object, env: Record<string, string> = {}) => {
    const issuers = [
      {
        issuer: 'https://issuer.example',
        audience: ['a', 'b'],
        subjects: 'qualified',
        trustDomains: ['td.example'],
        scopes: [{ claim: ['a', 'b'], values: { x: ['publish'] } }, { claim: 'scope' }],
        introspection: { url: 'https://issuer.example/introspect', clientId: 'd', jwts: true, ...secret },
      },
    ]
    return readConfig({ config: file('config.json', JSON.stringify({ issuers })) }, env).issuers[0]?.introspection
  }

  it('takes the secret for sign-ins from there too, which a public client does not need', () => {
    const signIn = (secret: object, env: Record<string, string> = {}) => {
      const issuers = [{ issuer: 'https://issuer.example', audience: 'a', signIn: { clientId: 'd', ...secret } }]
      return readConfig({ config: file('config.json', JSON.stringify({ issuers })) }, env).issuers[0]?.signIn
    }
    expect(signIn({ clientSecretFile: file('secret', 'hidden\n') })).toEqual({ clientId: 'd', clientSecret: 'hidden' })
    expect(signIn({})).toEqual({ clientId: 'd' })
    expect(() => signIn({ clientSecret: 'inline' })).toThrow(/signIn\/clientSecret/)
    expect(() => signIn({ clientSecretVariable: 'NOT_SET' })).toThrow(/missing or empty/)
  })

  it('takes the client secret from a file or from the environment', () => {
    const expected = { url: 'https://issuer.example/introspect', clientId: 'd', jwts: true, clientSecret: 'hidden' }
    expect(read({ clientSecretFile: file('secret', 'hidden\n') })).toEqual(expected)
    expect(read({ clientSecretVariable: 'THE_SECRET' }, { THE_SECRET: 'hidden' })).toEqual(expected)
  })

  it.each([
    [{}, /either clientSecretFile or clientSecretVariable/],
    [{ clientSecretFile: 'x', clientSecretVariable: 'y' }, /either clientSecretFile or clientSecretVariable/],
    [{ clientSecretVariable: 'NOT_SET' }, /client secret in NOT_SET is missing or empty/],
    [{ clientSecretFile: '/no/such' }, /clientSecretFile \/no\/such cannot be read/],
    [{ clientSecret: 'inline' }, /introspection\/clientSecret/],
  ])('rejects %j', (secret, reason) => {
    expect(() => read(secret)).toThrow(reason)
  })
})
