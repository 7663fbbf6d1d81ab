import type { JsonObject, JsonValue } from '@switchboard/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClientError } from '../errors.js'
import { createResolver, resolveAgent } from './create-resolver.js'
import type { ResolveOptions } from './options.js'
import type { ResolvedAgent } from './resolved-agent.js'

const HOST = 'https://example.com'

/** Valid and invalid values for members of documents. */
const leaf = fc.oneof(
  fc.string(),
  fc.double(),
  fc.constantFrom<JsonValue>(
    ...[null, true, '', '/', '/v3/', '1.0.0', '^1', 'https', 'wss', 'local', 'unix', 'agent://example.com/'],
    ...['agent+https://example.com/a', 'agent+local://x', 'https://example.com/a', 'https://10.0.0.1/', 'http://x/'],
    ...['//evil.example', 'https://u:p@example.com', 'javascript:0', 'did:web:example.com', 'x'.repeat(5000)],
  ),
)

const MEMBERS = `name version url endpoint transport supportedVersions capabilities skills security signature signatures
  bindings base agents planner jws protected input output properties type id service serviceEndpoint assertionMethod
  verificationMethod publicKeyJwk publicKeyMultibase kty crv x uri origins protocol priority supportedInterfaces
  protocolBinding 1.0.0 https wss constructor toString hasOwnProperty`.split(/\s+/)

const document: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...MEMBERS), fc.string()), tie('value'), { maxKeys: 8 }),
  ),
})).value

/** A descriptor, index or DID document with some members replaced. */
const almost = (good: JsonObject): fc.Arbitrary<JsonValue> =>
  fc
    .tuple(fc.subarray(Object.keys(good)), fc.array(document, { minLength: 12, maxLength: 12 }))
    .map(([names, values]) => ({ ...good, ...Object.fromEntries(names.map((name, i) => [name, values[i] ?? null])) }))

const descriptor: JsonObject = {
  name: 'a',
  version: '1.0.0',
  url: 'agent://example.com/',
  endpoint: '/a',
  transport: { wss: 'wss://example.com/' },
  supportedVersions: { '0.9.0': '/old/' },
  capabilities: [{ name: 'x', input: { version: 'string' } }],
  skills: [],
  security: { https: ['oauth2'] },
  signature: { jws: 'e30..AA' },
}
const index: JsonObject = { agents: { planner: '/planner/agent.json', x: { name: 'x', url: '/x/' } } }
const did: JsonObject = {
  id: 'did:web:example.com',
  verificationMethod: [{ id: '#k', publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x: 'AA' } }],
  assertionMethod: ['#k'],
  service: [{ type: 'AgentDescriptor', serviceEndpoint: 'https://example.com/d.json' }],
}

/** Resolves with a fetch that returns this text for every URL of a kind; returns the result or the error. */
async function outcomeOf(uri: string, pages: (url: string) => string | undefined, options: ResolveOptions = {}) {
  let requests = 0
  const fetch: typeof globalThis.fetch = async (input) => {
    requests++
    const text = pages(String(input))
    return new Response(text ?? '{}', { status: text === undefined ? 404 : 200 })
  }
  const outcome = await resolveAgent(uri, { fetch, ...options }).catch((error: unknown) => {
    if (error instanceof ClientError) return error
    throw error
  })
  return { outcome, requests }
}

/** The result must be an agent with allowed addresses, or a ClientError with a code. */
function expectSound(outcome: ResolvedAgent | ClientError): void {
  if (outcome instanceof ClientError) {
    expect(outcome.code).toMatch(/^[a-z_]+$/)
    return
  }
  expect(outcome.endpoints.length).toBeGreaterThan(0)
  expect(outcome.warnings.length).toBeLessThanOrEqual(50)
  for (const { transport, url } of outcome.endpoints) {
    expect(transport).not.toBe('local')
    if (/^(https?|wss?):/.test(url)) expect(url).toMatch(/^(https|wss):\/\/(?!10\.|[^/]*@)/)
  }
}

describe('hostile documents', () => {
  it('cause nothing worse than a ClientError: descriptors', async () => {
    const text = fc.oneof(almost(descriptor), document).map((value) => JSON.stringify(value))
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom('', 'x', '0.9.0/x?version=0.9.0', '?version=%5E1'), async (page, path) => {
        const pages = (url: string) => (url.endsWith('/agent.json') ? page : undefined)
        const { outcome, requests } = await outcomeOf(`agent://example.com/${path}`, pages)
        expectSound(outcome)
        expect(requests).toBeLessThanOrEqual(10)
      }),
      { numRuns: 200 },
    )
  })

  it('cause nothing worse than a ClientError: agents.json', async () => {
    const text = fc.oneof(almost(index), document).map((value) => JSON.stringify(value))
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom('planner', 'x', 'toString', 'constructor/y'), async (page, path) => {
        const pages = (url: string) => (url.endsWith('/agents.json') ? page : JSON.stringify(descriptor))
        expectSound((await outcomeOf(`agent://example.com/${path}`, pages)).outcome)
      }),
      { numRuns: 150 },
    )
  })

  it('cause nothing worse than a ClientError: DID documents and key sets', async () => {
    const text = fc.oneof(almost(did), document).map((value) => JSON.stringify(value))
    await fc.assert(
      fc.asyncProperty(text, async (page) => {
        const pages = (url: string) => (url.endsWith('/d.json') ? JSON.stringify(descriptor) : page)
        const { outcome, requests } = await outcomeOf('agent://did:web:example.com/x', pages)
        expectSound(outcome)
        expect(requests).toBeLessThanOrEqual(20)
        const resolver = createResolver({ fetch: async () => new Response(page) })
        const keys = await resolver.keysOf(HOST).catch((error: unknown) => error)
        if (!(keys instanceof ClientError)) expect(keys).toBeInstanceOf(Array)
      }),
      { numRuns: 150 },
    )
  })

  it('cause nothing worse than a ClientError: arbitrary bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), async (page) => {
        expectSound((await outcomeOf('agent://example.com/x', () => page)).outcome)
        expectSound((await outcomeOf('agent://did:web:example.com/x', () => page)).outcome)
      }),
    )
  })

  it.each([
    [
      'ten thousand endpoints',
      { ...descriptor, bindings: many(10_000, (i) => ({ protocol: `p${i}`, endpoint: 'x:y' })) },
    ],
    ['ten thousand transports', { ...descriptor, transport: many(10_000, (i) => `t${i}`) }],
    [
      'ten thousand versions',
      { ...descriptor, supportedVersions: Object.fromEntries(many(10_000, (i) => [`${i}.0.0`, '/'])) },
    ],
    ['a thousand capabilities of one name', { ...descriptor, capabilities: many(1000, () => ({ name: 'x' })) }],
    ['a thousand signatures', { ...descriptor, signatures: many(1000, () => ({ protected: 'e30', signature: 'AA' })) }],
  ])('cause a limited number of warnings and requests: %s', async (_what, page) => {
    const pages = (url: string) => (url === `${HOST}/agent.json` ? JSON.stringify(page) : undefined)
    const { outcome, requests } = await outcomeOf('agent://example.com/x?version=%5E9', pages, {
      maxDocumentBytes: 2_000_000,
    })
    expectSound(outcome)
    expect(requests).toBeGreaterThan(2)
    expect(requests).toBeLessThan(10)
  })

  it('that link to each other do not loop', async () => {
    const pages = (url: string) =>
      url.endsWith('did.json')
        ? JSON.stringify({
            id: 'did:web:example.com',
            service: many(1000, (i) => ({ type: 'AgentDescriptor', serviceEndpoint: `${HOST}/${i}` })),
          })
        : undefined
    const { outcome, requests } = await outcomeOf('agent://did:web:example.com/x', pages)
    expect(outcome).toMatchObject({ code: 'not_found' })
    expect(requests).toBeLessThan(12)
  })
})

function many<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
