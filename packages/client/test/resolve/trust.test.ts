import type { JsonObject, SigningKey, VerificationKey } from '@switchboard/protocol'
import { didKeyOf, keyOfDidKey, signDocument } from '@switchboard/protocol'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createResolver, type ResolvedAgent, type ResolveOptions, resolveAgent } from '../../src/index.js'
import { sendJson, startWeb, type Web } from './support/web.js'

const DID = 'did:web:example.com:agent:researcher'
const DID_URI = 'agent://did:web:example.com:agent:researcher/get-article?doi=10.1000/182'
const DID_DOCUMENT = 'https://example.com/agent/researcher/did.json'
const CARD = 'https://example.net/researcher.json'
const HOST_CARD = 'https://example.com/.well-known/agent.json'

const card: JsonObject = { name: 'researcher', version: '1.0.0', capabilities: [{ name: 'get-article' }] }

interface Pair {
  signing: SigningKey
  published: VerificationKey
}

async function newPair(id: string): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true })
  return { signing: { id, jwk: await exportJWK(privateKey) }, published: { id, jwk: await exportJWK(publicKey) } }
}

/** The public key as documents publish it. */
const jwkOf = ({ published }: Pair): JsonObject => ({ kty: 'OKP', crv: 'Ed25519', x: String(published.jwk.x) })

const didDocument = (pair: Pair, service: JsonObject[]): JsonObject => ({
  id: DID,
  verificationMethod: [{ id: '#key-1', type: 'JsonWebKey2020', controller: DID, publicKeyJwk: jwkOf(pair) }],
  assertionMethod: ['#key-1'],
  service,
})

const AT_CARD: JsonObject = { id: '#card', type: 'AgentDescriptor', serviceEndpoint: CARD }

let web: Web
let pair: Pair
let stranger: Pair

beforeAll(async () => {
  web = await startWeb()
  pair = await newPair(`${DID}#key-1`)
  stranger = await newPair(`${DID}#key-1`)
})
beforeEach(() => {
  web.pages = {}
  web.requestedUrls.length = 0
})
afterAll(() => web.close())

const resolve = (uri: string, options: ResolveOptions = {}): Promise<ResolvedAgent> =>
  resolveAgent(uri, { fetch: (input, init) => web.fetch(input, init), ...options })

describe('a DID as authority', () => {
  it('AURI-5.1-04 resolves through its document to the descriptor', async () => {
    web.pages = { [DID_DOCUMENT]: didDocument(pair, [AT_CARD]), [CARD]: { ...card, endpoint: 'https://example.net/r' } }
    expect(await resolve(DID_URI)).toMatchObject({
      agent: 'researcher',
      capability: 'get-article',
      endpoint: 'https://example.net/r',
      params: { doi: '10.1000/182' },
    })
    expect(web.requestedUrls).toEqual([DID_DOCUMENT, CARD])
  })

  it.each([
    ['AgentDescriptor', 'https://example.net/x.json', 'https://example.net/x.json'],
    ['AgentService', 'https://example.net/r/', 'https://example.net/r/agent.json'],
    ['AgentService', { uri: 'https://example.net/r.json' }, 'https://example.net/r.json'],
    ['LinkedDomains', { origins: ['https://example.net'] }, 'https://example.net/.well-known/agent.json'],
    [['Other', 'AgentDescriptor'], ['https://example.net/x.json'], 'https://example.net/x.json'],
  ])('may name a service of type %j at %j', async (type, serviceEndpoint, url) => {
    web.pages = { [DID_DOCUMENT]: didDocument(pair, [{ id: '#s', type, serviceEndpoint }]), [url]: card }
    expect(await resolve(DID_URI)).toMatchObject({ agent: 'researcher' })
    expect(web.requestedUrls[1]).toBe(url)
  })

  it('fails without a document, a service or a descriptor; there is no fallback', async () => {
    await expect(resolve(DID_URI)).rejects.toMatchObject({ code: 'not_found' })
    web.pages = { [DID_DOCUMENT]: didDocument(pair, []) }
    await expect(resolve(DID_URI)).rejects.toMatchObject({ code: 'not_found' })
    web.pages = { [DID_DOCUMENT]: didDocument(pair, [AT_CARD]) }
    await expect(resolve(DID_URI)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is rejected if the document has another id', async () => {
    web.pages = { [DID_DOCUMENT]: { ...didDocument(pair, [AT_CARD]), id: 'did:web:example.com' }, [CARD]: card }
    await expect(resolve(DID_URI)).rejects.toMatchObject({ code: 'bad_document' })
    expect(web.requestedUrls).toEqual([DID_DOCUMENT])
  })

  it('may have a method that the caller provides', async () => {
    web.pages = { [CARD]: card }
    const didMethods = { test: async (did: string) => ({ id: did, service: [AT_CARD] }) }
    expect(await resolve('agent://did:test:abc/x', { didMethods })).toMatchObject({ agent: 'researcher' })
    await expect(resolve('agent://did:ion:abc/x', { didMethods })).rejects.toMatchObject({ code: 'unsupported_method' })
  })

  it.each(['did:web:192.0.2.1', 'did:web:example.com:..:x', 'did:web:example.com::x', 'did:web:a%2Fb'])(
    '%s is rejected without a request',
    async (did) => {
      const uri = `agent://${did.replaceAll('%', '%25').replaceAll(':', '%3A')}/x`
      await expect(resolve(uri)).rejects.toMatchObject({ code: 'invalid_uri' })
      expect(web.requestedUrls).toEqual([])
    },
  )
})

describe('a signed descriptor', () => {
  const publish = (document: JsonObject, keys = pair): void => {
    web.pages = { [DID_DOCUMENT]: didDocument(keys, [AT_CARD]), [CARD]: document }
  }

  it('AURI-10-09 is verified against the DID document', async () => {
    publish(await signDocument(card, pair.signing))
    const { signer } = await resolve(DID_URI, { requireSignature: 'did' })
    expect(signer).toEqual({ key: `${DID}#key-1`, authority: DID })
  })

  it('AURI-10-09 is rejected if it was altered, even if no signature is required', async () => {
    publish({ ...(await signDocument(card, pair.signing)), endpoint: 'https://evil.example.org/' })
    await expect(resolve(DID_URI)).rejects.toMatchObject({ code: 'bad_signature' })
  })

  it('AURI-10-09 is rejected if the key is not in the DID document', async () => {
    publish(await signDocument(card, { ...pair.signing, id: `${DID}#key-2` }))
    await expect(resolve(DID_URI)).rejects.toMatchObject({ code: 'bad_signature' })
    publish(await signDocument(card, stranger.signing))
    await expect(resolve(DID_URI)).rejects.toMatchObject({ code: 'bad_signature' })
  })

  it('AURI-5.2-01 can be required: unsigned descriptors and fallbacks are rejected', async () => {
    publish(card)
    expect((await resolve(DID_URI)).signer).toBeUndefined()
    for (const requireSignature of [true, 'did'] as const) {
      await expect(resolve(DID_URI, { requireSignature })).rejects.toMatchObject({ code: 'unsigned' })
    }
    await expect(resolve('agent://example.org/x', { requireSignature: true })).rejects.toMatchObject({
      code: 'unsigned',
    })
    const explicit = resolve('agent+https://example.org/x', { requireSignature: true })
    await expect(explicit).rejects.toMatchObject({ code: 'unsigned' })
  })

  it('PROF-14-01 of a host is verified with the key set of that host', async () => {
    const signed = await signDocument(card, { ...pair.signing, id: 'k1' })
    const jwks = { keys: [{ ...jwkOf(pair), kid: 'k1' }] }
    web.pages = { [HOST_CARD]: signed, 'https://example.com/.well-known/jwks.json': jwks }
    const options = { requireSignature: true }
    expect((await resolve('agent://example.com/', options)).signer).toEqual({
      key: 'k1',
      authority: 'https://example.com/.well-known/jwks.json',
    })
    web.pages[HOST_CARD] = { ...signed, name: 'another' }
    await expect(resolve('agent://example.com/', options)).rejects.toMatchObject({ code: 'bad_signature' })
    await expect(resolve('agent://example.com/')).rejects.toMatchObject({ code: 'bad_signature' })
    const demanding = resolve('agent://example.com/', { requireSignature: 'did' })
    await expect(demanding).rejects.toMatchObject({ code: 'unsigned' })
  })

  it('with an unpublished key is treated as unsigned', async () => {
    web.pages = { [HOST_CARD]: await signDocument(card, { ...pair.signing, id: 'k1' }) }
    const { signer, warnings } = await resolve('agent://example.com/')
    expect(signer).toBeUndefined()
    expect(warnings.join()).toContain('the signature was not checked')
    await expect(resolve('agent://example.com/', { requireSignature: true })).rejects.toMatchObject({
      code: 'unsigned',
    })
    web.pages['https://example.com/.well-known/jwks.json'] = { keys: [{ ...jwkOf(stranger), kid: 'login' }] }
    expect((await resolve('agent://example.com/')).warnings.join()).toContain('is not signed by a key of')
    const demanding = resolve('agent://example.com/', { requireSignature: true })
    await expect(demanding).rejects.toMatchObject({ code: 'bad_signature' })
  })

  it('may be signed with a did:key that the caller trusts', async () => {
    const did = didKeyOf(pair.published.jwk)
    const trusted = keyOfDidKey(did)
    web.pages = { [HOST_CARD]: await signDocument(card, { ...pair.signing, id: trusted.id ?? '' }) }
    const options = { requireSignature: true, trustedKeys: [trusted] }
    expect((await resolve('agent://example.com/', options)).signer).toEqual({
      key: trusted.id,
      authority: 'trustedKeys',
    })
    const other = { requireSignature: true, trustedKeys: [keyOfDidKey(didKeyOf(stranger.published.jwk))] }
    await expect(resolve('agent://example.com/', other)).rejects.toMatchObject({ code: 'unsigned' })
  })
})

describe('keys', () => {
  it('are found for DIDs, agents and web addresses', async () => {
    web.pages = {
      [DID_DOCUMENT]: didDocument(pair, []),
      'https://example.com/.well-known/jwks.json': { keys: [{ ...jwkOf(stranger), kid: 'k1' }] },
    }
    const resolver = createResolver({ fetch: web.fetch })
    const did = didKeyOf(pair.published.jwk)
    expect(await resolver.keysOf(DID)).toMatchObject([{ id: `${DID}#key-1` }])
    expect(await resolver.keysOf('agent://example.com/planner')).toMatchObject([{ id: 'k1' }])
    expect(await resolver.keysOf('https://example.com/anything')).toMatchObject([{ id: 'k1' }])
    expect(await resolver.keysOf(did)).toEqual([keyOfDidKey(did)])
    expect(await resolver.keysOf('https://example.net')).toEqual([])
    await expect(resolver.keysOf('somebody')).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(resolver.keysOf('did:key:zzz')).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

describe('network access', () => {
  it('AURI-5.2-01 needs a valid certificate', async () => {
    web.pages = { [HOST_CARD]: card }
    const distrusting = resolve('agent://example.com/', { fetch: web.distrustingFetch })
    await expect(distrusting).rejects.toMatchObject({ code: 'unreachable' })
    const misnamed = resolve('agent://other.test/')
    await expect(misnamed).rejects.toMatchObject({ code: 'unreachable' })
    expect(web.requestedUrls).toEqual([])
  })

  it.each([
    'agent://127.0.0.1/x',
    'agent://localhost/x',
    'agent://10.1.2.3/x',
    'agent://[::1]/x',
    'agent://[::ffff:10.0.0.1]/x',
    'agent://169.254.169.254/x',
    'agent://0.0.0.0/x',
    'agent+https://127.0.0.1/x',
    'agent+wss://192.168.0.1/x',
    'agent://did:web:localhost%3A8443/x',
  ])('to %s is blocked', async (uri) => {
    await expect(resolve(uri)).rejects.toMatchObject({ code: 'blocked_address' })
    expect(web.requestedUrls).toEqual([])
  })

  it('may be to this machine with TLS, if the caller allows it', async () => {
    web.pages = { 'https://127.0.0.1/.well-known/agent.json': card }
    expect(await resolve('agent://127.0.0.1/x', { allowPrivate: true })).toMatchObject({
      endpoint: 'https://127.0.0.1/',
      capability: 'x',
    })
    const metadata = resolve('agent://169.254.169.254/', { allowPrivate: true })
    await expect(metadata).rejects.toMatchObject({ code: 'blocked_address' })
  })

  it('may be to this machine over plain HTTP in development, and to no other', async () => {
    const base = `http://127.0.0.1:${web.plainPort}`
    web.pages = { [`${base}/.well-known/agent.json`]: { ...card, transport: ['https', 'wss'] } }
    const options = { fetch: (...args: Parameters<typeof fetch>) => fetch(...args), httpLoopback: true }
    const { endpoints } = await resolveAgent(`agent://127.0.0.1:${web.plainPort}/x`, options)
    expect(endpoints.map(({ url }) => url)).toEqual([`${base}/`, `ws://127.0.0.1:${web.plainPort}/`])
    web.pages = { [`${base}/.well-known/agent.json`]: { ...card, endpoint: 'http://example.com/' } }
    const elsewhere = resolveAgent(`agent://127.0.0.1:${web.plainPort}/x`, { ...options, fetch: fetch.bind(undefined) })
    await expect(elsewhere).rejects.toMatchObject({ code: 'insecure' })
  })

  it('follows a few redirects on the same origin', async () => {
    web.pages = {
      [HOST_CARD]: (response) => void response.writeHead(302, { location: '/elsewhere.json' }).end(),
      'https://example.com/elsewhere.json': { ...card, endpoint: 'run' },
    }
    expect(await resolve('agent://example.com/')).toMatchObject({ endpoint: 'https://example.com/run' })
    web.pages = { [HOST_CARD]: (response) => void response.writeHead(302, { location: HOST_CARD }).end() }
    await expect(resolve('agent://example.com/')).rejects.toMatchObject({ code: 'bad_redirect' })
    expect(web.requestedUrls.filter((url) => url === HOST_CARD)).toHaveLength(5)
  })

  it('follows redirects to another origin only if the caller allows it', async () => {
    const target = 'https://www.example.com/agent.json'
    web.pages = { [HOST_CARD]: (response) => void response.writeHead(301, { location: target }).end(), [target]: card }
    const { fallback, warnings } = await resolve('agent://example.com/')
    expect(fallback).toBe(true)
    expect(warnings.join()).toContain('redirects to another origin')
    expect(web.requestedUrls).not.toContain(target)
    const mayRedirect = (from: URL, to: URL): boolean => to.hostname === `www.${from.hostname}`
    expect(await resolve('agent://example.com/', { mayRedirect })).toMatchObject({ agent: 'researcher' })
  })

  it.each([
    ['https://example.com/there.json', { agent: 'researcher', fallback: false }],
    ['https://example.net/there.json', { fallback: true }],
  ])('checks the final URL if the redirect is opaque, as in browsers: %s', async (end, members) => {
    const followed: string[] = []
    const browser: typeof fetch = async (input, init) => {
      if (String(input) !== HOST_CARD) return new Response(null, { status: 404 })
      const response = new Response(init?.redirect === 'follow' ? JSON.stringify(card) : null)
      if (init?.redirect === 'follow') followed.push(String(input))
      const [name, value] = init?.redirect === 'follow' ? ['url', end] : ['type', 'opaqueredirect']
      return Object.defineProperty(response, name, { value })
    }
    expect(await resolve('agent://example.com/', { fetch: browser })).toMatchObject(members)
    expect(followed).toEqual([HOST_CARD])
  })

  it.each([
    ['http://example.com/x', 'insecure'],
    ['https://10.0.0.1/x', 'blocked_address'],
    ['file:///etc/passwd', 'bad_document'],
  ])('does not follow a redirect to %s, even if the caller allows all', async (location, code) => {
    web.pages = { [HOST_CARD]: (response) => void response.writeHead(307, { location }).end() }
    await expect(resolve('agent://example.com/', { mayRedirect: () => true })).rejects.toMatchObject({ code })
    expect(await resolve('agent://example.com/')).toMatchObject({ fallback: true })
  })

  it('stops at the size limit, with or without Content-Length', async () => {
    const chunk = 'x'.repeat(65_536)
    let sent = 0
    web.pages = {
      [HOST_CARD]: (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const more = (): void => {
          for (;;) {
            if (response.destroyed) return
            sent += chunk.length
            if (!response.write(chunk)) break
          }
          response.once('drain', more)
        }
        more()
      },
    }
    await expect(resolve('agent://example.com/')).rejects.toMatchObject({ code: 'too_large' })
    expect(sent).toBeLessThan(50_000_000)
    web.pages = { [HOST_CARD]: { ...card, description: 'x'.repeat(300_000) } }
    await expect(resolve('agent://example.com/')).rejects.toMatchObject({ code: 'too_large' })
    expect(await resolve('agent://example.com/', { maxDocumentBytes: 400_000 })).toMatchObject({ agent: 'researcher' })
  })

  it('has one timeout for all requests together', async () => {
    web.pages = { [HOST_CARD]: () => undefined }
    await expect(resolve('agent://example.com/', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'timeout' })
    web.pages = {
      [HOST_CARD]: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    }
    await expect(resolve('agent://example.com/', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'timeout' })
    const deaf = resolve('agent://example.com/', { timeoutMs: 50, fetch: () => new Promise(() => {}) })
    await expect(deaf).rejects.toMatchObject({ code: 'timeout' })
    const slow = resolve('agent://example.com/', { timeoutMs: 50, resolvers: [() => new Promise(() => {})] })
    await expect(slow).rejects.toMatchObject({ code: 'timeout' })
  })

  it('stops when the caller aborts', async () => {
    const controller = new AbortController()
    web.pages = { [HOST_CARD]: () => controller.abort(new Error('enough')) }
    const given = resolve('agent://example.com/', { signal: controller.signal })
    await expect(given).rejects.toMatchObject({ code: 'aborted' })
    web.requestedUrls.length = 0
    await expect(resolve('agent://example.com/', { signal: controller.signal })).rejects.toMatchObject({
      code: 'aborted',
    })
    expect(web.requestedUrls).toEqual([])
  })

  it('is limited to a number of requests, however long the path', async () => {
    const { warnings } = await resolve(`agent://example.com/${'a/'.repeat(2000)}`)
    expect(web.requestedUrls.length).toBeLessThan(20)
    expect(warnings.join()).toContain('not every folder was tried')
    await expect(resolve(`agent://example.com/${'a/'.repeat(500_000)}`)).rejects.toMatchObject({ code: 'invalid_uri' })
  })

  it.each([
    ['text that is not JSON', '<oops>', 'bad_document'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'bad_document'],
    ['a list', '[]', 'bad_document'],
    ['a duplicate member', '{"name":"a","name":"b","capabilities":[]}', 'bad_document'],
    ['a member __proto__', '{"__proto__":{"endpoint":"https://x.example.com"},"capabilities":[]}', 'bad_document'],
    ['deep nesting', `{"capabilities":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'bad_document'],
  ])('rejects %s: %s', async (_what, body, code) => {
    web.pages = {
      [HOST_CARD]: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    }
    const error = await resolve('agent://example.com/').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, url: HOST_CARD })
  })

  it('does not use the body of a 401 as a descriptor', async () => {
    web.pages = { [HOST_CARD]: (response) => sendJson(response, 401, card) }
    const { fallback, warnings } = await resolve('agent://example.com/')
    expect([fallback, warnings]).toEqual([true, [`${HOST_CARD} responded with 401`]])
  })
})
