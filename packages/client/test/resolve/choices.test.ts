import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { fixture } from '../../../protocol/test/fixtures.js'
import { parseDescriptor, type ResolvedAgent, type ResolveOptions, resolveAgent } from '../../src/index.js'

const HOST = 'https://planner.example.com'
const sample = fixture('FX-DESC')

/** Resolves on a host that serves this text or document as agent.json. */
function resolve(document: JsonValue, path = '/', options: ResolveOptions = {}): Promise<ResolvedAgent> {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  return resolveAgent(`agent://planner.example.com${path}`, {
    fetch: async (input) =>
      new Response(text, { status: String(input) === `${HOST}/.well-known/agent.json` ? 200 : 404 }),
    ...options,
  })
}

const withEndpoints = (members: JsonObject): JsonObject => ({
  name: 'a',
  version: '1.0.0',
  capabilities: [],
  ...members,
})

describe('a descriptor', () => {
  it('AURI-A-01 with an unquoted version is rejected with a hint, and accepted once it is quoted', async () => {
    const raw = JSON.stringify(sample).replace('"version":"3.1.4"', '"version":3.1.4')
    await expect(resolve(raw)).rejects.toMatchObject({
      code: 'bad_document',
      message: expect.stringMatching(/quote it/),
    })
    expect(() => parseDescriptor(raw, `${HOST}/agent.json`)).toThrow(/quote it/)
    expect(await resolve(sample)).toMatchObject({ version: '3.1.4', warnings: [] })
  })

  it('with a version that is a number keeps its text, with a warning', async () => {
    const text = '{"name":"a","version":1.10,"capabilities":[{"name":"c","version":2.50,"input":{"version":3.0}}]}'
    const { version, warnings, descriptor, record } = await resolve(text)
    expect(version).toBe('1.10')
    expect(warnings.join()).toContain('/version is a number')
    expect(record?.capabilities[0]).toMatchObject({ version: '2.50' })
    expect(descriptor?.capabilities).toEqual([{ name: 'c', version: '2.50', input: { version: 3 } }])
  })

  it.each([
    [{ name: 'a', url: 'https://planner.example.com/a' }, ['/version', '/capabilities']],
    [{ capabilities: [{ name: 'x' }] }, ['/name', '/version']],
    [{ name: 'a', version: 'banana', endpoint: '/a' }, ['/version', '/capabilities']],
  ])('AURI-7-19 that is only %j is accepted, with warnings about missing members', async (document, places) => {
    const { warnings, descriptor } = await resolve(document)
    expect(descriptor).toEqual(document)
    for (const place of places) expect(warnings.join('\n')).toContain(`${place} `)
  })

  it('AURI-A-02 is readable with all its members', async () => {
    const { descriptor, record, interactionModel } = await resolve(sample)
    expect(descriptor).toEqual(sample)
    expect(interactionModel).toBe('agent2agent')
    expect(record).toMatchObject({
      name: 'planner.example.com',
      publisher: 'Example AI Org',
      capabilities: [{ name: 'gen-iti', version: '2.1.5' }, { name: 'agent-skill-1' }],
      authentication: { schemes: ['OAuth2'] },
    })
  })

  it('AURI-1-02 passes the interaction model on unchanged', async () => {
    const { interactionModel } = await resolve({ ...sample, interactionModel: 'contract-net' })
    expect(interactionModel).toBe('contract-net')
  })

  it('AURI-11-01 keeps unknown members', async () => {
    const document = { ...sample, 'com.example:plan': { a: [1] }, mcp: { tools: ['x'] } }
    expect((await resolve(document)).descriptor).toEqual(document)
  })

  it('AURI-5-05 may be an A2A card of 0.3 or 1.0', async () => {
    const card = {
      name: 'Card',
      description: 'A card',
      version: '1.2.0',
      capabilities: { streaming: true },
      skills: [{ id: 'plan', name: 'Plan', description: 'Plans', tags: ['travel'] }],
    }
    const old = await resolve({ ...card, protocolVersion: '0.3.0', url: 'https://a2a.example.com/rpc' }, '/plan')
    expect(old).toMatchObject({
      capability: 'plan',
      capabilityDetails: { name: 'plan', description: 'Plans' },
      endpoints: [{ transport: 'https', protocol: 'a2a', url: 'https://a2a.example.com/rpc' }],
    })
    const interfaces = [{ url: 'https://a2a.example.com/v1', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }]
    const current = await resolve({ ...card, supportedInterfaces: interfaces })
    expect(current.endpoints).toEqual([
      { transport: 'https', protocol: 'a2a', url: 'https://a2a.example.com/v1', source: interfaces[0] },
    ])
  })

  it('AURI-5-05 may be JSON-LD, which is read like any other JSON', async () => {
    const document = { ...sample, '@context': ['https://schema.org', { x: 'y:z' }], '@type': 'Agent', '@graph': [] }
    const { descriptor, warnings, capabilityDetails } = await resolve(document, '/gen-iti')
    expect(descriptor).toEqual(document)
    expect(warnings).toEqual([])
    expect(capabilityDetails).toMatchObject({ name: 'gen-iti', version: '2.1.5' })
  })

  it.each([
    ['/url', { url: 5 }],
    ['/endpoint', { endpoint: ['https://x'] }],
    ['/transport', { transport: 7 }],
    ['/supportedVersions', { supportedVersions: ['1.0.0'] }],
    ['/supportedVersions/1.0.0', { supportedVersions: { '1.0.0': 5 } }],
  ])('is rejected if %s has the wrong type, because it decides where calls are sent', async (place, members) => {
    const error = await resolve({ ...sample, ...members }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'bad_document', message: expect.stringContaining(place) })
  })
})

describe('the endpoints', () => {
  const endpointsOf = async (members: JsonObject, options: ResolveOptions = {}) =>
    (await resolve(withEndpoints(members), '/', options)).endpoints.map(({ transport, url }) => [transport, url])

  it('AURI-6.1-07 are those of the descriptor’s transports, or HTTPS', async () => {
    expect(await endpointsOf({ transport: { wss: 'wss://live.example.com/a', https: '/a' } })).toEqual([
      ['wss', 'wss://live.example.com/a'],
      ['https', `${HOST}/a`],
    ])
    expect(await endpointsOf({ transport: 'wss' })).toEqual([['wss', 'wss://planner.example.com/']])
    expect(await endpointsOf({ transport: ['wss', 'https'], endpoint: '/a' })).toEqual([
      ['wss', 'wss://planner.example.com/a'],
      ['https', `${HOST}/a`],
    ])
    expect(await endpointsOf({})).toEqual([['https', `${HOST}/`]])
  })

  it('AURI-7-12 are sorted by the priority of bindings', async () => {
    const bindings = [
      { protocol: 'https', endpoint: 'https://b.example.com/', priority: 2 },
      { protocol: 'https', endpoint: 'https://a.example.com/', priority: 1 },
    ]
    expect(await endpointsOf({ bindings })).toEqual([
      ['https', 'https://a.example.com/'],
      ['https', 'https://b.example.com/'],
    ])
  })

  it('are read from agent URIs with a transport; a URI without one is the agent’s name', async () => {
    expect(await endpointsOf({ url: 'agent+wss://live.example.com/x' })).toEqual([['wss', 'wss://live.example.com/x']])
    expect(await endpointsOf({ url: 'agent://planner.example.com/' })).toEqual([['https', `${HOST}/`]])
  })

  it('have the security mechanisms of their transport in the descriptor', async () => {
    const security = { https: ['oauth2'], wss: { schemes: ['bearer'] }, unix: 'peer' }
    const transport = { https: '/a', wss: 'wss://planner.example.com/a', unix: '/run/a.sock' }
    const { endpoints } = await resolve(withEndpoints({ transport, security }))
    expect(endpoints.map(({ security: mechanisms }) => mechanisms)).toEqual([['oauth2'], ['bearer'], ['peer']])
  })

  it('that cannot be used are ignored with a warning', async () => {
    const transport = { grpc: 'grpc://a.example.com', local: 'echo', ftp: 'ftp://a.example.com/', https: '/a' }
    const { endpoints, warnings } = await resolve(withEndpoints({ transport }))
    expect(endpoints).toMatchObject([{ url: `${HOST}/a` }])
    expect(warnings.filter((warning) => /is ignored/.test(warning))).toHaveLength(3)
  })

  it.each([
    ['unsupported_transport', { endpoint: 'grpc://a.example.com' }],
    ['insecure', { endpoint: 'http://a.example.com/' }],
    ['blocked_address', { endpoint: 'https://169.254.169.254/latest' }],
    ['blocked_address', { endpoint: 'https://10.0.0.1/' }],
    ['blocked_address', { endpoint: 'https://localhost/' }],
    ['blocked_address', { endpoint: 'https://0x7f.1/' }],
    ['blocked_address', { transport: { local: 'echo' } }],
    ['blocked_address', { url: 'agent+local://echo' }],
    ['blocked_address', { url: 'agent+https://[::1]/' }],
    ['bad_document', { endpoint: 'https://user:pw@a.example.com/' }],
    ['invalid_uri', { url: 'agent+https://a b/' }],
  ])('fail with %s if none of them can be used: %j', async (code, members) => {
    await expect(resolve(withEndpoints(members))).rejects.toMatchObject({ code })
  })
})

describe('the version', () => {
  it.each([
    ['', {}, '3.1.4', `${HOST}/`],
    ['?version=3.0.0', {}, '3.0.0', `${HOST}/v3/`],
    ['', { version: '3.0.0' }, '3.0.0', `${HOST}/v3/`],
    ['3.0.0/gen-iti', {}, '3.0.0', `${HOST}/v3/`],
    ['?version=1.0.0', {}, '1.0', `${HOST}/version-1/`],
    ['', { version: '~2.1.0' }, '2.1.2', `${HOST}/olderversion/v2.1.2/`],
    ['?version=3.0.0', { version: '^3.0.0' }, '3.0.0', `${HOST}/v3/`],
  ])('AURI-7-20 requested with "%s" and %j is %s at %s', async (path, options, version, endpoint) => {
    expect(await resolve(sample, `/${path}`, options)).toMatchObject({ version, endpoint })
  })

  it('AURI-7-20 in a path segment is not part of the capability', async () => {
    expect(await resolve(sample, '/3.0.0/gen-iti')).toMatchObject({ capability: 'gen-iti', capabilityDetails: {} })
    expect(await resolve(sample, '/9.9.9/gen-iti')).toMatchObject({ capability: '9.9.9/gen-iti', version: '3.1.4' })
  })

  it.each(['^4.0.0', '9.9.9', '<1'])('AURI-7-07 does not match the required %s', async (version) => {
    await expect(resolve(sample, '/', { version })).rejects.toMatchObject({ code: 'version_mismatch' })
  })

  it.each([
    ['?version=3.0.0', '2.1.2'],
    ['3.0.0/x?version=2.1.2', undefined],
    ['?version=2.1.2', '^3.0.0'],
  ])('AURI-7-20 is a conflict if "%s" and %s are both requested', async (path, version) => {
    const options = version === undefined ? {} : { version }
    await expect(resolve(sample, `/${path}`, options)).rejects.toMatchObject({ code: 'version_conflict' })
  })

  it('must be a single valid version', async () => {
    await expect(resolve(sample, '/?version=1&version=2')).rejects.toMatchObject({ code: 'invalid_uri' })
    await expect(resolve(sample, '/', { version: 'banana' })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('is passed on to an agent that does not state one', async () => {
    const bare = { name: 'a', capabilities: [{ name: 'x' }] }
    expect(await resolve(bare, '/?version=2.0.0')).toMatchObject({ version: '2.0.0', endpoint: `${HOST}/` })
  })
})

describe('the capability', () => {
  it.each(['/a%2F..%2Fb', '/#../admin', '/#%2e%2e'])(
    'must not be %s, which would leave the agent’s path',
    async (path) => {
      await expect(resolve(sample, path)).rejects.toMatchObject({ code: 'invalid_uri' })
    },
  )
})

describe('the query', () => {
  const capability = (input: JsonObject): JsonObject => ({ ...sample, capabilities: [{ name: 'a', input }] })

  it('is input, except for reserved parameters', async () => {
    const path = '/a?city=S%C3%A3o+Paulo&sessionId=s1&taskId=t1&tag=x&tag=y'
    expect(await resolve(capability({ city: 'string' }), path)).toMatchObject({
      params: { city: 'São Paulo', tag: ['x', 'y'] },
      control: { sessionId: 's1', taskId: 't1' },
    })
  })

  it.each([
    ['a map of types', { version: 'string' }],
    ['a JSON Schema', { type: 'object', properties: { version: { type: 'string' } } }],
  ])('is all input if the capability declares a reserved name in %s', async (_what, input) => {
    expect(await resolve(capability(input), '/a?version=banana')).toMatchObject({
      params: { version: 'banana' },
      control: {},
      version: '3.1.4',
    })
  })

  it('is not checked with a schema that could be too expensive', async () => {
    const input = { type: 'object', properties: { x: { pattern: '(?=a)' } } }
    const { capabilityDetails, warnings } = await resolve(capability(input), '/a')
    expect(capabilityDetails).toMatchObject({ name: 'a' })
    expect(capabilityDetails?.input).toBeUndefined()
    expect(warnings.join()).toContain('input schema of "a" is not usable')
  })
})
