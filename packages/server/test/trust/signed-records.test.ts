import { canonicalJson, type JsonObject, signDocument } from '@switchboard/protocol'
import { FlattenedSign, importJWK } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { createSigner, type PublisherHost, startPublisherHost, type TestSigner } from './publisher-host.js'

let directory: TestDirectory
let host: PublisherHost
let signer: TestSigner

beforeAll(async () => {
  directory = await startDirectory()
  signer = await createSigner()
})
afterAll(() => directory.close())
// A new host for each test, because the directory caches keys.
beforeEach(async () => {
  host = await startPublisherHost()
})
afterEach(async () => {
  await directory.clear()
  await host.close()
})

const register = (body: JsonObject, to: TestDirectory = directory): Promise<TestResponse> =>
  to.post('/agents', { as: 'tokA', body })
const path = (id: string): string => `/agents/${encodeURIComponent(id)}`
const signatureOf = async (id: string): Promise<JsonObject> =>
  (await directory.get(path(id))).json.verification.signature
const warningsOf = ({ headers }: TestResponse): string => headers.get('x-switchboard-warnings') ?? ''
const altered = (document: JsonObject): JsonObject => ({ ...document, description: 'Something else than was signed.' })

describe('a signature is verified again', () => {
  it('once per interval: a key that its signer has revoked, or replaced, no longer counts', async () => {
    const clock = createTestClock()
    const checking = await startDirectory({ signatures: { intervalSeconds: 600 } }, clock)
    try {
      const id = `${host.url}/rechecked`
      const keys = { keys: [{ ...signer.publicJwk, kid: 'k1' }] }
      const finding = async (): Promise<JsonObject> => (await checking.get(path(id))).json.verification.signature
      const recheck = async (expected: JsonObject): Promise<JsonObject> => {
        clock.advance(700)
        await expect.poll(finding, { timeout: 20_000 }).toMatchObject(expected)
        return finding()
      }
      host.pages['/.well-known/jwks.json'] = keys
      await register(await signDocument(aidipAgent({ id }), signer.key('k1')), checking)
      const first = await finding()
      expect(first).toMatchObject({ state: 'valid', key: 'k1' })

      const requests = host.requests.length
      host.status = 503
      clock.advance(700)
      await expect.poll(() => host.requests.length, { timeout: 20_000 }).toBeGreaterThan(requests)
      // Keys that cannot be read at the moment do not undo a result.
      expect(await finding()).toEqual(first)

      host.status = undefined
      host.pages['/.well-known/jwks.json'] = { keys: [{ ...(await createSigner()).publicJwk, kid: 'k1' }] }
      const revoked = await recheck({ state: 'invalid', reason: expect.any(String) })
      expect(String(revoked.checked_at) > String(first.checked_at)).toBe(true)
      await checking.restart({ signatures: { intervalSeconds: 600 } })
      expect(await finding()).toEqual(revoked)

      // A later document has a result of its own.
      host.pages['/.well-known/jwks.json'] = keys
      clock.advance(700)
      await register(await signDocument(aidipAgent({ id, version: '9.0.0' }), signer.key('k1')), checking)
      expect(await finding()).toMatchObject({ state: 'valid' })
    } finally {
      await checking.close()
    }
  })
})

describe('a document signed with a did:key', () => {
  it('PROF-14-01 is shown as valid in every view, with its signer', async () => {
    const answer = await register(await signDocument(aidipAgent({ id: 'signed' }), signer.key()))
    expect(answer.status, answer.text).toBe(201)
    const finding = { state: 'valid', by: signer.did, algorithm: 'EdDSA', matches_id: false }
    expect(answer.json.verification).toMatchObject({ state: 'self-asserted', signature: finding })
    expect(warningsOf(answer)).not.toContain('signature')
    for (const view of [
      '/agents/signed',
      '/v0/agents/signed',
      '/discover/agents/signed',
      '/agents/signed/agent.json',
    ]) {
      const { json } = await directory.get(view)
      expect(json.verification.signature, view).toMatchObject({ ...finding, checked_at: expect.any(String) })
    }
  })

  it('matches the id if the id is that DID', async () => {
    await register(await signDocument(aidipAgent({ id: signer.did }), signer.key()))
    expect(await signatureOf(signer.did)).toMatchObject({ state: 'valid', matches_id: true })
  })

  it('is found by a filter on the result', async () => {
    await register(await signDocument(aidipAgent({ id: 'signed' }), signer.key()))
    await register(aidipAgent({ id: 'unsigned' }))
    const filters = { verification: { signature: { state: 'valid' } } }
    const { json } = await directory.post('/agents/search', { body: { filters } })
    expect(json.map(({ id }: { id: string }) => id)).toEqual(['signed'])
  })

  it('keeps its result when the operator marks the agent, and after a restart', async () => {
    await register(await signDocument(aidipAgent({ id: 'signed' }), signer.key()))
    await directory.patch('/admin/agents/signed', { as: 'admin', body: { quality_score: 4 } })
    await directory.restart()
    const { json } = await directory.get('/agents/signed')
    expect(json.verification).toMatchObject({ quality_score: 4, signature: { state: 'valid' } })
  })

  it('loses its result with an update that is not signed', async () => {
    await register(await signDocument(aidipAgent({ id: 'signed' }), signer.key()))
    await register(aidipAgent({ id: 'signed' }))
    expect(await signatureOf('signed')).toBeUndefined()
  })

  it('does not reveal a signature that is private', async () => {
    const document = aidipAgent({ id: 'signed', private: ['signature'] })
    await register(await signDocument(document, signer.key()))
    expect((await directory.get('/agents/signed')).text).not.toContain(signer.did)
    const filters = { verification: { signature: { state: 'valid' } } }
    expect((await directory.post('/agents/search', { body: { filters } })).json).toEqual([])
    const own = await directory.get('/agents/signed', { as: 'tokA' })
    expect(own.json.verification.signature).toMatchObject({ state: 'valid' })
  })
})

describe('a document signed with a key of a domain', () => {
  it('PROF-14-01 is verified with the DID document of a did:web', async () => {
    const did = `did:web:${host.authority.replace(':', '%3A')}`
    host.pages['/.well-known/did.json'] = {
      id: did,
      verificationMethod: [{ id: '#k', type: 'JsonWebKey2020', publicKeyJwk: { ...signer.publicJwk } }],
    }
    await register(await signDocument(aidipAgent({ id: did }), signer.key(`${did}#k`)))
    expect(await signatureOf(did)).toMatchObject({ state: 'valid', by: did, key: `${did}#k`, matches_id: true })
  })

  it('PROF-14-01 is verified with the key set at the domain of its id', async () => {
    const id = `agent://${host.authority}/translator`
    host.pages['/.well-known/jwks.json'] = { keys: [{ ...signer.publicJwk, kid: 'k1' }] }
    await register(await signDocument(aidipAgent({ id }), signer.key('k1')))
    const by = `${host.url}/.well-known/jwks.json`
    expect(await signatureOf(id)).toMatchObject({ state: 'valid', by, key: 'k1', matches_id: true })
  })

  it('is verified with the key set that an A2A card names, if that is on the domain of its id', async () => {
    host.pages['/keys.json'] = { keys: [{ ...signer.publicJwk, kid: 'k1' }] }
    const id = `${host.url}/card`
    await register(await signCard(aidipAgent({ id }), { kid: 'k1', jku: `${host.url}/keys.json` }))
    expect(await signatureOf(id)).toMatchObject({ state: 'valid', by: `${host.url}/keys.json`, matches_id: true })
  })

  it('does not use a key set that the signature names on another domain', async () => {
    host.pages['/keys.json'] = { keys: [{ ...signer.publicJwk, kid: 'k1' }] }
    await register(await signCard(aidipAgent({ id: 'victim' }), { kid: 'k1', jku: `${host.url}/keys.json` }))
    expect(await signatureOf('victim')).toMatchObject({ state: 'unverifiable' })
    expect(host.requests).toEqual([])
  })

  const signCard = async (card: JsonObject, header: JsonObject): Promise<JsonObject> => {
    const jws = await new FlattenedSign(new TextEncoder().encode(canonicalJson(card)))
      .setProtectedHeader({ alg: 'EdDSA', ...header })
      .sign(await importJWK(signer.key().jwk, 'EdDSA'))
    return { ...card, signatures: [{ protected: jws.protected ?? '', signature: jws.signature }] }
  }
})

describe('a signature that is not valid', () => {
  it('PROF-14-01 is accepted with a warning, and shown as invalid with the reason', async () => {
    const answer = await register(altered(await signDocument(aidipAgent({ id: 'forged' }), signer.key())))
    expect(answer.status).toBe(201)
    expect(warningsOf(answer)).toContain('/signature is not valid')
    expect(await signatureOf('forged')).toMatchObject({
      state: 'invalid',
      by: signer.did,
      reason: 'the signature does not match the document',
    })
  })

  it('is rejected with policy.strictSignatures, while one that cannot be verified is accepted', async () => {
    const strict = await startDirectory({ policy: { ...DEFAULTS.policy, strictSignatures: true } })
    try {
      const forged = altered(await signDocument(aidipAgent({ id: 'forged' }), signer.key()))
      expectError(await register(forged, strict), { status: 400, member: '/signature', says: 'is not valid' })
      expect((await strict.get('/agents/forged')).status).toBe(404)
      const unknown = await signDocument(aidipAgent({ id: 'unknown' }), signer.key('k1'))
      expect((await register(unknown, strict)).status).toBe(201)
    } finally {
      await strict.close()
    }
  })

  it('cannot be verified while its keys cannot be read, and is valid once they can and the document is sent again', async () => {
    const id = `${host.url}/agent`
    const document = await signDocument(aidipAgent({ id }), signer.key('k1'))
    const answer = await register(document)
    expect(warningsOf(answer)).toContain('/signature cannot be verified: the keys of')
    expect(await signatureOf(id)).toMatchObject({ state: 'unverifiable' })

    host.pages['/.well-known/jwks.json'] = { keys: [{ ...signer.publicJwk, kid: 'k1' }] }
    await directory.restart()
    await register(document)
    expect(await signatureOf(id)).toMatchObject({ state: 'valid' })

    host.pages = {}
    await directory.restart()
    await register(document)
    expect(await signatureOf(id)).toMatchObject({ state: 'valid' })
  })

  it.each([
    [{ kid: 'key-1' }, 'unverifiable', 'not a JWS'],
    [{ jws: 'x..y' }, 'invalid', 'no readable header'],
  ])('%j is %s', async (signature, state, reason) => {
    await register(aidipAgent({ id: 'odd', signature }))
    expect(await signatureOf('odd')).toMatchObject({ state, reason: expect.stringContaining(reason) })
  })

  it('reads no more of a key set than 64 KiB', async () => {
    const id = `${host.url}/agent`
    host.pages['/.well-known/jwks.json'] = {
      keys: [{ ...signer.publicJwk, kid: 'k1' }],
      padding: ' '.repeat(64 * 1024),
    }
    await register(await signDocument(aidipAgent({ id }), signer.key('k1')))
    expect(await signatureOf(id)).toMatchObject({ state: 'unverifiable' })
  })

  it('does not lead to this machine in production', async () => {
    const id = `did:web:${host.authority.replace(':', '%3A')}`
    const production = await startDirectory({ behindProxy: true })
    const headers = { 'x-forwarded-proto': 'https', authorization: `Bearer ${production.adminKey}` }
    try {
      const body = await signDocument(aidipAgent({ id }), signer.key(`${id}#k`))
      const { json } = await production.post('/agents', { headers, body })
      expect(json.verification.signature.state).toBe('unverifiable')
      expect(host.requests).toEqual([])
    } finally {
      await production.close()
    }
  })
})
