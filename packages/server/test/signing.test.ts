import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createServer } from '../src/app.js'
import { createSeal } from '../src/services/identity/seal.js'
import { createSigning } from '../src/services/identity/signing.js'
import { openSqliteStore } from '../src/store/sqlite/open-sqlite-store.js'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { createTestClock, type TestClock } from './support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { expectError } from './support/errors.js'
import { type SignedMessage, verifyMessage } from './support/http-signature.js'

let clock: TestClock
let directory: TestDirectory
let agent: TestAgent

beforeAll(async () => {
  clock = createTestClock()
  agent = await startAgent()
  directory = await startDirectory({}, clock)
})
afterAll(async () => {
  await directory.close()
  await agent.close()
})
beforeEach(async () => {
  await directory.clear()
  await directory.post('/agents', { as: 'tokA', body: agent.document() })
})

const ACCEPT = { 'accept-signature': 'sig1=("@status" "content-digest");created;keyid="any"' }
const keys = async () => (await directory.get('/.well-known/jwks.json')).json.keys

const invoke = (path = '/agents/x/invoke', headers: Record<string, string> = ACCEPT) =>
  directory.post(path, { as: 'tokC', body: { text: 'hello' }, headers })

const messageOf = ({ status, headers, text }: TestResponse, method: string, path: string): SignedMessage => ({
  status,
  headers: Object.fromEntries(headers),
  body: text,
  request: { method, url: directory.url + path },
})

describe('signed responses', () => {
  it('AIDIP-9-08 verify with the published key, but not after a change', async () => {
    const answer = await invoke('/agents/x/invoke?sessionId=s1')
    expect(answer.status, answer.text).toBe(200)
    const message = messageOf(answer, 'POST', '/agents/x/invoke?sessionId=s1')
    const published = await keys()
    const { covered, parameters } = verifyMessage(message, published)
    expect(covered).toEqual([
      '"@status"',
      '"content-type"',
      '"content-digest"',
      '"x-request-id"',
      '"@method";req',
      '"@path";req',
      '"@query";req',
    ])
    expect(parameters).toMatchObject({ alg: 'ed25519', created: expect.any(Number) })
    expect(() => verifyMessage({ ...message, body: '{"text":"goodbye"}' }, [])).toThrow('digest')
    for (const altered of [
      { ...message, status: 201 },
      { ...message, headers: { ...message.headers, 'content-type': 'text/html' } },
      { ...message, request: { ...message.request, url: `${directory.url}/agents/y/invoke?sessionId=s1` } },
    ]) {
      expect(() => verifyMessage(altered, published), JSON.stringify(altered)).toThrow('does not verify')
    }
  })

  it('AIDIP00-7-06 are sent for revision 00 too', async () => {
    const answer = await invoke('/v0/agents/x/invoke')
    expect(answer.status, answer.text).toBe(200)
    const message = messageOf(answer, 'POST', '/v0/agents/x/invoke')
    const published = await keys()
    expect(verifyMessage(message, published).covered).toContain('"content-digest"')
    expect(() => verifyMessage({ ...message, body: '{"text":"goodbye"}' }, published)).toThrow('digest')
    expect(() => verifyMessage({ ...message, status: 201 }, published)).toThrow('does not verify')
  })

  it('are sent for lists, documents and errors', async () => {
    for (const path of ['/agents', '/agents/x', '/agents/unknown', '/agents?top=0', '/.well-known/agent.json']) {
      const answer = await directory.get(path, { headers: ACCEPT })
      verifyMessage(messageOf(answer, 'GET', path), await keys())
    }
  })

  it('have the requested label, nonce and tag', async () => {
    const requested = { 'accept-signature': 'mine=("@status");nonce="n-123";tag="app"' }
    const answer = await invoke('/agents/x/invoke', requested)
    const { label, parameters } = verifyMessage(messageOf(answer, 'POST', '/agents/x/invoke'), await keys())
    expect({ label, parameters }).toMatchObject({ label: 'mine', parameters: { nonce: 'n-123', tag: 'app' } })
  })

  it.each([
    ['nothing is requested', {}],
    ['the header is malformed', { 'accept-signature': '((((' }],
    ['another algorithm is requested', { 'accept-signature': 'sig1=("@status");alg="rsa-pss-sha512"' }],
    ['the label is too long', { 'accept-signature': `${'a'.repeat(300)}=("@status")` }],
    ['the digest has weight 0', { 'want-content-digest': 'sha-256=0' }],
    ['another digest is requested', { 'want-content-digest': 'unixsum=3' }],
  ])('are not sent if %s', async (_why, headers) => {
    const answer = await invoke('/agents/x/invoke', headers)
    expect(answer.status).toBe(200)
    for (const name of ['signature', 'signature-input', 'content-digest']) expect(answer.headers.has(name)).toBe(false)
  })

  it('have only a digest if only that is requested', async () => {
    const answer = await invoke('/agents/x/invoke', { 'want-content-digest': 'sha-512=3, sha-256=10' })
    expect(answer.headers.get('content-digest')).toMatch(/^sha-256=:[A-Za-z0-9+/]{43}=:$/)
    expect(answer.headers.has('signature')).toBe(false)
  })

  it('leave a response without a body unchanged', async () => {
    const { headers } = await directory.get('/agents/x')
    const same = { ...ACCEPT, 'if-none-match': headers.get('etag') ?? '' }
    expect(await directory.get('/agents/x', { headers: same })).toMatchObject({ status: 304, text: '' })
  })

  it('are sent for all responses of the gateway, and no others, if the operator configures it', async () => {
    const signing = await startDirectory({ gateway: { sign: true } })
    try {
      await signing.post('/agents', { as: 'tokA', body: agent.document() })
      const signed = await signing.post('/agents/x/invoke', { as: 'tokC', body: { text: 'hello' } })
      const message = messageOf(signed, 'POST', '/agents/x/invoke')
      verifyMessage(message, (await signing.get('/.well-known/jwks.json')).json.keys)
      const refused = await signing.post('/agents/x/invoke', { as: 'tokC', body: { text: 5 } })
      expect([refused.status, refused.headers.has('signature')]).toEqual([400, true])
      expect((await signing.get('/agents/x')).headers.has('signature')).toBe(false)
    } finally {
      await signing.close()
    }
  })
})

describe('signing keys', () => {
  it('are published without the private key', async () => {
    const [key] = await keys()
    expect(key).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      x: expect.stringMatching(/^[\w-]{43}$/),
      kid: expect.stringMatching(/^[\w-]{43}$/),
      use: 'sig',
      alg: 'EdDSA',
    })
  })

  it('survive a restart', async () => {
    const before = await keys()
    await directory.restart()
    expect(await keys()).toEqual(before)
  })

  it('are replaced by the operator; the old one stays published for a week', async () => {
    expectError(await directory.post('/admin/signing-keys', { as: 'tokA' }), { status: 403 })
    const old = await invoke()
    const made = await directory.post('/admin/signing-keys', { as: 'admin' })
    expect(made.status).toBe(201)
    const now = await invoke()
    const { parameters } = verifyMessage(messageOf(now, 'POST', '/agents/x/invoke'), await keys())
    expect(parameters.keyid).toBe(made.json.kid)
    verifyMessage(messageOf(old, 'POST', '/agents/x/invoke'), await keys())
    clock.advance(7 * 86_400 + 1)
    expect(await keys()).toEqual([made.json])
    await directory.post('/admin/signing-keys', { as: 'admin' })
    await directory.restart()
    expect(await keys()).toHaveLength(2)
    const { entries } = (await directory.get('/admin/audit?action=signing-key.create', { as: 'admin' })).json
    expect(entries.map(({ actor }: { actor: string }) => actor)).toEqual(['admin', 'admin', 'switchboard'])
  })

  it('are replaced automatically after 90 days', async () => {
    const before = await keys()
    clock.advance(91 * 86_400)
    await invoke()
    await expect.poll(async () => (await keys()).at(-1).kid).not.toBe(before.at(-1).kid)
  })
})

describe('the secret that encrypts the keys', () => {
  it('is a file that only its owner can read', async () => {
    const data = mkdtempSync(join(tmpdir(), 'switchboard-secret-'))
    const server = await createServer({ data, logLevel: 'silent' })
    await server.close()
    const file = join(data, 'secret.key')
    const mode = (): number => statSync(file).mode & 0o777
    expect(mode()).toBe(0o600)
    chmodSync(file, 0o644)
    await (await createServer({ data, logLevel: 'silent' })).close()
    expect(mode(), 'as after restoring a backup').toBe(0o600)
    writeFileSync(file, '')
    await expect(createServer({ data, logLevel: 'silent' })).rejects.toMatchObject({
      name: 'StoreError',
      message: expect.stringMatching(/^[^\n]*secret\.key contains no secret[^\n]*$/),
    })
    rmSync(data, { recursive: true })
  })

  it('is needed to sign: another secret creates a new key, and without a secret nothing is signed', async () => {
    const data = mkdtempSync(join(tmpdir(), 'switchboard-secret-'))
    const store = await openSqliteStore(data)
    const open = (secret?: string) =>
      createSigning({
        store,
        seal: secret === undefined ? undefined : createSeal(secret),
        now: Date.now,
        onError: (error) => expect.fail(String(error)),
      })
    const one = await open('the first secret of all')
    expect(one.publicKeys()).toHaveLength(1)
    expect((await open('the second secret of all')).publicKeys()).toHaveLength(2)
    const none = await open()
    expect([none.sign([]), none.publicKeys().length]).toEqual([undefined, 2])
    expect((await store.secrets.signingKeys())[0]?.secret).not.toContain('PRIVATE')
    await store.close()
    rmSync(data, { recursive: true })
  })
})
