import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config/read-config.js'
import type { TestResponse } from './support/directory.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'
import { startIssuer, type TestIssuer } from './support/issuer.js'
import { temporaryFolder } from './support/process.js'
import { sendBytes } from './support/raw.js'
import { type Authority, createAuthority, type Identity, sendTls, type TlsRequest } from './support/tls.js'

const folder = temporaryFolder()
let authority: Authority
let otherAuthority: Authority
let server: Identity
let issuer: TestIssuer

beforeAll(async () => {
  authority = createAuthority(folder.path, 'authority')
  otherAuthority = createAuthority(folder.path, 'stranger')
  server = authority.issue('/CN=directory', 'IP:127.0.0.1')
  issuer = await startIssuer()
})
afterAll(async () => {
  await issuer.close()
  folder.remove()
})

/** Starts a directory with HTTPS; `send` sends it requests. */
async function startTls(clientRequired = false): Promise<{
  directory: TestDirectory
  send(request: Omit<TlsRequest, 'ca'>): Promise<TestResponse>
}> {
  const directory = await startDirectory({
    tls: { ...server, clientCa: authority.cert, clientRequired },
    issuers: [issuer.trust],
  })
  return { directory, send: (request) => sendTls(directory.url, { ca: authority.cert, ...request }) }
}

/** A registration through the Agent Directory. */
const registration = (agent: string): Pick<TlsRequest, 'method' | 'path' | 'body'> => ({
  method: 'POST',
  path: `/ad/r?agent=${agent}`,
  body: fixture('FX-SUM'),
})

describe('TLS', () => {
  let tls: Awaited<ReturnType<typeof startTls>>
  beforeAll(async () => {
    tls = await startTls()
  })
  afterAll(() => tls.directory.close())

  const protocolOf = (maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(tls.directory.url)
      const versions = { minVersion: maxVersion === 'TLSv1.1' ? ('TLSv1' as const) : maxVersion, maxVersion }
      // SECLEVEL=0, so that the client does not reject the old version itself.
      const ciphers = maxVersion === 'TLSv1.1' ? { ciphers: 'DEFAULT:@SECLEVEL=0' } : {}
      const socket = connect(
        { host: hostname, port: Number(port), ca: authority.cert, ...versions, ...ciphers },
        () => {
          resolve(socket.getProtocol())
          socket.destroy()
        },
      )
      socket.on('error', reject)
    })

  it('AIDIP-9-01 AIDIP00-7-01 supports TLS 1.3 and 1.2, and nothing older', async () => {
    expect(await protocolOf('TLSv1.3')).toBe('TLSv1.3')
    expect(await protocolOf('TLSv1.2')).toBe('TLSv1.2')
    await expect(protocolOf('TLSv1.1')).rejects.toThrow(/protocol version|unsupported protocol|alert/i)
  })

  it('AIDIP-9-01 AIDIP00-7-01 rejects plain HTTP', async () => {
    expect(tls.directory.url).toMatch(/^https:/)
    const request = Buffer.from('GET /agents HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    // A TLS alert or a reset, never an HTTP response.
    const status = await sendBytes(tls.directory.url, request).then(
      (answer) => answer.status,
      () => Number.NaN,
    )
    expect(status).toBeNaN()
  })

  it('PROF-14-10 AD-8.1-01 serves every draft over HTTPS', async () => {
    for (const path of [
      '/agents',
      '/discover',
      '/ad/l',
      '/.well-known/ad',
      '/.well-known/agents.json',
      '/health/ready',
    ]) {
      expect((await tls.send({ path })).status, path).toBe(200)
    }
    expect((await tls.send({ path: '/.well-known/agent.json' })).json.url).toMatch(/^https:/)
  })

  it('AD-8.2-02 a client certificate can register: 201', async () => {
    const identity = authority.issue('/CN=robot')
    const answer = await tls.send({ ...registration('of-certificate'), identity })
    expect(answer.status).toBe(201)
    expectError(await tls.send(registration('of-nobody')), { status: 401 })
  })

  it('AD-8.2-04 the owner is the certificate’s SAN URI, or its DNS name, or its CN', async () => {
    const cases: [identity: Identity, subject: string, others: string[]][] = [
      [
        authority.issue('/CN=n1', 'DNS:d1.example', 'URI:wimse://td.example/a1', 'DNS:d2.example'),
        'wimse://td.example/a1',
        ['d1.example', 'n1'],
      ],
      [
        authority.issue('/CN=n2', 'IP:10.0.0.1', 'DNS:d3.example', 'email:x@y.example'),
        'd3.example',
        ['n2', 'x@y.example', '10.0.0.1'],
      ],
      [authority.issue('/CN=n3'), 'n3', ['/CN=n3']],
      [authority.issue('/CN=n4', 'URI:https://a.example/x,y'), 'https://a.example/x,y', ['n4']],
    ]
    for (const [i, [identity, subject, others]] of cases.entries()) {
      const agent = `owned-${i}`
      expect((await tls.send({ ...registration(agent), identity })).status).toBe(201)
      for (const sub of others) {
        const headers = { authorization: `Bearer ${await issuer.token({ sub })}` }
        expectError(await tls.send({ method: 'DELETE', path: `/agents/${agent}`, headers }), { status: 403 }, sub)
      }
      const headers = { authorization: `Bearer ${await issuer.token({ sub: subject })}` }
      expect((await tls.send({ method: 'DELETE', path: `/agents/${agent}`, headers })).status, subject).toBe(204)
    }
  })

  it('ignores the name in a certificate of an unknown CA', async () => {
    const identity = otherAuthority.issue('/CN=robot', 'URI:wimse://td.example/a1')
    expect((await tls.send({ path: '/agents', identity })).status).toBe(200)
    expectError(await tls.send({ ...registration('forged'), identity }), { status: 401 })
    expectError(await tls.send({ path: '/admin/keys', identity }), { status: 401 })
  })

  it('gives certificates the configured scopes, which do not include admin', async () => {
    const identity = authority.issue('/CN=admin')
    expectError(await tls.send({ path: '/admin/keys', identity }), { status: 403 })
  })

  it('AIDIP-9-03 accepts all three kinds of credentials', async () => {
    const identity = authority.issue('/CN=kinds')
    const token = { authorization: `Bearer ${await issuer.token()}` }
    const post = (id: string) => ({ method: 'POST', path: '/agents', body: aidipAgent({ id }) })
    expect((await tls.send({ ...post('k1'), identity })).status).toBe(201)
    expect((await tls.send({ ...post('k2'), headers: token })).status).toBe(201)
    expect((await tls.send({ ...post('k3'), headers: { 'x-api-key': tls.directory.adminKey } })).status).toBe(201)
  })

  it('AD-8.2-03 API keys cannot register in the Agent Directory in production; tokens and certificates can', async () => {
    const headers = { 'x-api-key': tls.directory.adminKey }
    const refused = await tls.send({ ...registration('by-key'), headers })
    expectError(refused, { status: 401, code: 'unauthorized', says: /token|certificate/ })
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /)
    const bearer = { authorization: `Bearer ${tls.directory.adminKey}` }
    expectError(await tls.send({ ...registration('by-key'), headers: bearer }), { status: 401 })
    const token = { authorization: `Bearer ${await issuer.token()}` }
    const created = await tls.send({ ...registration('by-token'), headers: token })
    expect(created.status).toBe(201)
    const path = created.headers.get('location') ?? ''
    expectError(await tls.send({ method: 'POST', path, headers }), { status: 401 })
    expect((await tls.send({ method: 'POST', path, headers: token })).status).toBe(204)
    expect((await tls.send({ ...registration('by-certificate'), identity: authority.issue('/CN=c') })).status).toBe(201)
    // C-71: the other drafts still accept keys.
    const agent = { method: 'POST', path: '/agents', body: aidipAgent({ id: 'by-key' }), headers }
    expect((await tls.send(agent)).status).toBe(201)
    const metadata = { method: 'POST', path: '/discover/agents', body: fixture('FX-D0', { id: 'by-key-2' }), headers }
    expect((await tls.send(metadata)).status).toBe(201)
  })

  const PLAIN = [
    'http://127.0.0.1:9000/a',
    'http://localhost/a',
    'ws://127.0.0.1/a',
    'http://agents.example/a',
    'HTTP://agents.example/a',
  ]

  it.each(PLAIN)('AIDIP-9-02 C-73 rejects the endpoint %s in production', async (endpoint) => {
    const headers = { authorization: `Bearer ${await issuer.token()}` }
    const post = (path: string, body: TlsRequest['body']) =>
      tls.send({ method: 'POST', path, body: body ?? {}, headers })
    expectError(await post('/agents', aidipAgent({ endpoint })), { status: 400, member: '/endpoint' })
    const bindings = [
      { protocol: 'https', endpoint: 'https://ok.example' },
      { protocol: 'x', endpoint },
    ]
    expectError(await post('/discover/agents', fixture('FX-D0', { bindings })), {
      status: 400,
      member: '/bindings/1/endpoint',
    })
    expectError(await post('/ad/r?agent=plain', fixture('FX-SUM', { base: endpoint })), {
      status: 400,
      member: '/base',
    })
    const operations = [{ name: 'op', inputs: {}, outputs: {}, endpoint }]
    expectError(await post('/agents', aidipAgent({ operations })), { status: 400, member: '/operations/0/endpoint' })
  })
})

describe('required mutual TLS', () => {
  it('rejects connections without a certificate or with one of an unknown CA', async () => {
    const { directory, send } = await startTls(true)
    try {
      await expect(send({ path: '/agents' })).rejects.toThrow()
      await expect(send({ path: '/agents', identity: otherAuthority.issue('/CN=x') })).rejects.toThrow()
      expect((await send({ path: '/agents', identity: authority.issue('/CN=x') })).status).toBe(200)
    } finally {
      await directory.close()
    }
  })
})

describe('behind a proxy', () => {
  let directory: TestDirectory
  beforeAll(async () => {
    directory = await startDirectory({
      behindProxy: true,
      rateLimits: { search: 3, register: 1e6, lookup: 1e6, invoke: 1e6 },
    })
  })
  afterAll(() => directory.close())

  it('AIDIP-9-01 AIDIP00-7-01 rejects requests that did not reach the proxy over HTTPS', async () => {
    const paths = [
      '/agents',
      '/agents/x',
      '/discover',
      '/ad/l',
      '/.well-known/ad',
      '/.well-known/agents.json',
      '/openapi.json',
      '/admin/keys',
    ]
    for (const path of paths) {
      for (const headers of [{}, { 'x-forwarded-proto': 'http' }, { 'x-forwarded-proto': 'http, https' }]) {
        expectError(await directory.get(path, { headers: { ...headers } }), { status: 403, says: /HTTPS/ }, path)
      }
      const answer = await directory.get(path, { headers: { 'x-forwarded-proto': 'https' } })
      expect(answer.status, path).not.toBe(403)
    }
    expectError(await directory.post('/agents', { as: 'admin', body: aidipAgent() }), { status: 403 })
    // Process supervisors send requests directly.
    expect((await directory.get('/health/ready')).status).toBe(200)
  })

  it('AD-8.2-03 counts as production, even on loopback', async () => {
    const headers = { 'x-forwarded-proto': 'https' }
    const options = { as: 'admin' as const, headers }
    expectError(await directory.post('/ad/r?agent=a', { ...options, body: fixture('FX-SUM') }), { status: 401 })
    const endpoint = 'http://127.0.0.1:9000'
    expectError(await directory.post('/agents', { ...options, body: aidipAgent({ endpoint }) }), {
      status: 400,
      member: '/endpoint',
    })
  })

  it('AIDIP-9-11 limits by the address that the proxy saw, not one that the client sent', async () => {
    const search = async (forged: string): Promise<number> => {
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': `${forged}, 198.51.100.7` }
      return (await directory.post('/agents/search', { body: {}, headers })).status
    }
    const statuses = [
      await search('10.0.0.1'),
      await search('10.0.0.2'),
      await search('10.0.0.3'),
      await search('10.0.0.4'),
    ]
    expect(statuses).toEqual([200, 200, 200, 429])
  })
})

describe('in development', () => {
  let directory: TestDirectory
  beforeAll(async () => {
    directory = await startDirectory()
  })
  afterAll(() => directory.close())

  it('C-73 accepts plaintext endpoints on this machine only', async () => {
    for (const endpoint of [
      'http://127.0.0.1:9000/a',
      'http://localhost:9000',
      'http://[::1]:9000',
      'ws://127.0.0.1/a',
    ]) {
      expect((await directory.post('/agents', { as: 'tokA', body: aidipAgent({ endpoint }) })).status, endpoint).toBe(
        201,
      )
      const base = { as: 'tokA' as const, body: fixture('FX-SUM', { base: endpoint }) }
      expect((await directory.post(`/ad/r?agent=${encodeURIComponent(endpoint)}`, base)).status, endpoint).toBe(201)
    }
    const elsewhere = [
      'http://agents.example',
      'http://127.0.0.1.example',
      'http://localhost.example',
      'http://10.0.0.1',
      'ws://agents.example',
      'http://user@agents.example',
    ]
    for (const endpoint of elsewhere) {
      expectError(
        await directory.post('/agents', { as: 'tokA', body: aidipAgent({ endpoint }) }),
        { status: 400, member: '/endpoint' },
        endpoint,
      )
      const registered = await directory.post('/ad/r?agent=never', {
        as: 'tokA',
        body: fixture('FX-SUM', { base: endpoint }),
      })
      expectError(registered, { status: 400, member: '/base' }, endpoint)
    }
  })

  it('C-73 accepts other schemes on the policy’s list', async () => {
    for (const base of [
      'coap://robot.example',
      'agent://robot.example/x',
      'mqtts://broker.example',
      'urn:example:robot',
    ]) {
      expect(
        (await directory.post('/ad/r?agent=t', { as: 'tokA', body: fixture('FX-SUM', { base }) })).status,
        base,
      ).toBeLessThan(300)
    }
    for (const base of [
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/html,x',
      'ftp://a.example',
      'unix:/run/x',
    ]) {
      const answer = await directory.post('/ad/r?agent=never', { as: 'tokA', body: fixture('FX-SUM', { base }) })
      expectError(answer, { status: 400, member: '/base', says: /scheme/ }, base)
    }
  })

  it('AD-8.2-03 API keys can register in the Agent Directory', async () => {
    expect((await directory.post('/ad/r?agent=dev', { as: 'tokA', body: fixture('FX-SUM') })).status).toBe(201)
  })
})

describe('TLS settings', () => {
  it.each([
    [{ 'tls-cert': 'a' }, /must be set together/],
    [{ 'tls-key': 'a' }, /must be set together/],
    [{ 'tls-client-ca': 'a' }, /--tls-cert/],
    [{ 'tls-client-required': true }, /--tls-client-ca/],
    [{ 'tls-cert': '/no/such', 'tls-key': '/no/such' }, /--tls-cert \/no\/such cannot be read/],
  ])('rejects %o', (flags, reason) => {
    expect(() => readConfig(flags, {})).toThrow(reason)
  })

  it('rejects files that are not a matching certificate and key', () => {
    const file = (name: string, text: string): string => {
      const path = join(folder.path, name)
      writeFileSync(path, text)
      return path
    }
    const [cert, key] = [file('c.pem', server.cert), file('k.pem', server.key)]
    const junk = file('junk.pem', 'no certificate')
    const other = file('other.pem', authority.key)
    const flags = { 'tls-cert': cert, 'tls-key': key, 'tls-client-ca': file('ca.pem', authority.cert) }
    const clientCrl = file('crl.pem', authority.revoke())
    expect(readConfig({ ...flags, 'tls-client-crl': clientCrl }, {}).tls).toMatchObject({ clientCrl })
    expect(() => readConfig({ ...flags, 'tls-client-crl': junk }, {})).toThrow(/is not a list of revoked certificates/)
    expect(() => readConfig({ ...flags, 'tls-client-crl': '/no/such' }, {})).toThrow(/\/no\/such cannot be read/)
    expect(readConfig({ 'tls-cert': cert, 'tls-key': key }, {}).tls).toMatchObject({ clientRequired: false })
    for (const [a, b] of [
      [junk, key],
      [cert, junk],
      [cert, other],
    ]) {
      expect(() => readConfig({ 'tls-cert': a ?? '', 'tls-key': b ?? '' }, {})).toThrow(
        /not a valid certificate and key/,
      )
    }
  })
})
