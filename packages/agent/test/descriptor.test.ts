import { readFileSync } from 'node:fs'
import { createResolver, parseDescriptor } from '@switchboard/client'
import { asObjects, lintDescriptor, readKeySet, validateDocument, verifyDocument } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { suggestUri } from '../src/index.js'
import { closeAll, count, echo, makeAgent, makeKey, post, send, startAgent } from './support/agents.js'

afterEach(closeAll)

const describeIt = async (options: Parameters<typeof startAgent>[0] = {}) => {
  const { url } = await startAgent(options)
  return (await send(`${url}/.well-known/agent.json`)).json
}

describe('the descriptor of an agent', () => {
  it('AURI-5-02 AURI-5-06 AIDIP00-4-02 is the same document at both well-known paths', async () => {
    const { url } = await startAgent()
    const first = await send(`${url}/.well-known/agent.json`)
    const second = await send(`${url}/.well-known/agent-card.json`)
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toBe('application/json')
    expect(second.json).toEqual(first.json)
    expect(first.json).toMatchObject({ name: 'tester', description: 'Says things back.', version: '2.1.0' })
  })

  it('AURI-5-01 AURI-7-01 is at agent.json below the agent too', async () => {
    const { url } = await startAgent()
    expect((await send(`${url}/agent.json`)).json.name).toBe('tester')
  })

  it('AURI-5-04 is published by default, and can be switched off', async () => {
    const { url } = await startAgent({ publishDescriptor: false })
    expect((await send(`${url}/.well-known/agent.json`)).status).toBe(404)
  })

  it('AURI-5.1-08 has caching headers and supports conditional requests', async () => {
    const { agent, url } = await startAgent()
    const first = await send(`${url}/.well-known/agent.json`)
    expect(first.headers.get('cache-control')).toBe('public, max-age=60')
    const tag = first.headers.get('etag') ?? ''
    const modified = first.headers.get('last-modified') ?? ''
    const get = (headers: Record<string, string>) => send(`${url}/.well-known/agent.json`, { headers })
    expect((await get({ 'if-none-match': `"other", W/${tag}` })).status).toBe(304)
    expect((await get({ 'if-modified-since': modified })).status).toBe(304)
    agent.update({ description: 'Says other things.' })
    const changed = await get({ 'if-none-match': tag })
    expect(changed.status).toBe(200)
    expect(changed.json.description).toBe('Says other things.')
  })

  it('is found by callers that remember where there is none', async () => {
    const { url } = await startAgent()
    for (const path of ['.well-known/agents.json', 'echo/agent.json']) {
      const { status, headers } = await send(`${url}/${path}`)
      expect([status, headers.get('cache-control')]).toEqual([404, 'max-age=30'])
    }
  })

  it('AURI-7-02 is a valid A2A card, and a descriptor that our client reads without a warning', async () => {
    const card = await describeIt()
    expect(validateDocument('a2a', card)).toEqual([])
    const { record, warnings } = parseDescriptor(JSON.stringify(card), 'https://a.example/.well-known/agent.json')
    expect(warnings).toEqual([])
    expect(record.operations.map(({ name }) => name)).toEqual(['echo'])
  })

  it('AURI-7-03 is JSON-LD on request', async () => {
    const { url } = await startAgent()
    const response = await send(`${url}/agent.json`, { headers: { accept: 'application/ld+json' } })
    expect(response.headers.get('content-type')).toBe('application/ld+json')
    expect(JSON.parse(response.text)).toHaveProperty(['@context'])
  })

  it('AURI-8.1-06 AURI-8.1-07 returns 406 with the supported types', async () => {
    const { url } = await startAgent()
    const response = await send(`${url}/agent.json`, { headers: { accept: 'text/html' } })
    expect(response.status).toBe(406)
    expect(response.json.supported).toContain('application/json')
  })

  it('AURI-7-04 AURI-7-08 AURI-7-09 AURI-7-10 AURI-7-19 lists capabilities with version, tags and schemas', async () => {
    const card = await describeIt({ tags: ['talk'] })
    expect(lintDescriptor(card)).toEqual({ errors: [], warnings: [] })
    expect(card.skills).toEqual([
      expect.objectContaining({
        id: 'echo',
        description: 'Returns its input.',
        version: '2.1.0',
        tags: ['talk'],
        input: { text: 'string' },
        output: { text: 'string' },
      }),
    ])
  })

  it('AURI-7-06 rejects a version that is not semantic', () => {
    expect(() => makeAgent({ version: 'banana' })).toThrow(/not a semantic version/)
  })

  it('AURI-7-05 lists the older versions and their paths', async () => {
    const { url } = await startAgent({ olderVersions: { '1.0': [echo] } })
    const { json } = await send(`${url}/agent.json`)
    expect(json.supportedVersions).toEqual({ '1.0': '/v1.0/' })
    const resolver = createResolver({ httpLoopback: true })
    const found = await resolver.resolveAgent(`agent://${new URL(url).host}/echo`, { version: '1.0' })
    expect(found.endpoint).toBe(`${url}/v1.0/`)
  })

  it('AURI-7-11 AURI-7-12 describes the behaviour of capabilities', async () => {
    const behaviour = { isDeterministic: true, responseLatency: 'low', memoryEnabled: false } as const
    const card = await describeIt({ capabilities: [{ ...echo, ...behaviour, idempotent: true }] })
    expect(card.skills[0]).toMatchObject({ ...behaviour, idempotent: true })
    expect(card.transport).toHaveProperty('http')
  })

  it('leaves out A2A and MCP if the agent does not offer them', async () => {
    const { agent, url } = await startAgent({ a2a: false, mcp: false })
    const { bindings, supportedInterfaces, transport } = await agent.descriptor()
    expect(bindings).toMatchObject([{ protocol: 'http' }, { protocol: 'ws' }])
    expect(supportedInterfaces).toEqual([])
    expect(Object.keys(Object(transport))).toEqual(['http', 'ws'])
    for (const path of ['a2a', 'mcp']) {
      const response = await post(`${url}/${path}`, {})
      expect([response.status, response.json.detail]).toEqual([404, `this agent does not offer ${path.toUpperCase()}`])
    }
  })

  it('AURI-7-15 AURI-7-16 lists the media types of each capability', async () => {
    const card = await describeIt({ capabilities: [{ ...count, outputFormats: ['application/ld+json'] }] })
    expect(card.skills[0].contentTypes).toEqual({
      inputFormat: ['application/json'],
      outputFormat: ['application/json', 'application/ld+json', 'text/event-stream', 'application/x-ndjson'],
    })
  })

  it('AURI-7-13 AURI-7-18 AURI-7-24 AURI-11-01 has the optional and extension members that its author sets', async () => {
    const card = await describeIt({
      interactionModel: 'contract-net',
      orchestration: { steps: ['plan', 'book'] },
      capabilities: [{ ...echo, name: 'com.example:plan' }],
      extensions: { 'com.example.tier': 'gold', envelopeSchemas: ['fipa-acl'] },
    })
    expect(card).toMatchObject({
      interactionModel: 'contract-net',
      orchestration: { steps: ['plan', 'book'] },
      'com.example.tier': 'gold',
      envelopeSchemas: ['fipa-acl'],
    })
    expect(card.skills[0].id).toBe('com.example:plan')
  })

  it('AURI-7-22 says how to request a version', async () => {
    const card = await describeIt()
    expect(card.versionNegotiation).toMatchObject({ preferred: 'header', header: 'X-Agent-Version', query: 'version' })
  })

  it('AURI-10-07 says how callers authenticate, for each transport', async () => {
    const card = await describeIt({ authentication: { apiKeys: [{ subject: 'ann', key: 'secret' }] } })
    expect(Object.keys(card.security)).toEqual(Object.keys(card.transport))
    expect(card.security).toEqual({ http: ['api_key'], ws: ['api_key'], a2a: ['api_key'], mcp: ['api_key'] })
    expect(JSON.stringify(card)).not.toContain('secret')
  })

  it('AURI-8.1-03 AURI-8.1.1-02 AURI-9-06 documents identifiers, their lifetime and the error format', async () => {
    const card = await describeIt({ sessions: { lifetime: 600 } })
    expect(card.state.session).toMatchObject({ header: 'X-Session-ID', lifetimeSeconds: 600 })
    expect(card.state.task.path).toBe('/tasks/{taskId}')
    expect(card.errorFormat).toBe('application/problem+json')
  })

  it('AURI-10.1-02 has the notes on consent and audit', async () => {
    const privacy = { audit: 'each call, 30 days', consent: 'https://a.example/consent' }
    expect((await describeIt({ privacy })).privacy).toEqual(privacy)
  })

  it('AURI-10-08 is signed if the agent has a key, and verifies with the published key', async () => {
    const { url } = await startAgent({ key: makeKey() })
    const { json: card } = await send(`${url}/.well-known/agent.json`)
    const { json: keySet, text } = await send(`${url}/.well-known/jwks.json`)
    expect(text).not.toContain('"d"')
    expect(await verifyDocument(card, readKeySet(keySet))).toMatchObject({ key: 'key-1' })
    await expect(verifyDocument({ ...card, name: 'somebody' }, readKeySet(keySet))).rejects.toThrow(/signature/)
    const resolver = createResolver({ httpLoopback: true, requireSignature: true })
    const found = await resolver.resolveAgent(`agent://${new URL(url).host}/echo`)
    expect(found.signer?.key).toBe('key-1')
  })

  it('has no key set if the agent has no key', async () => {
    const { url } = await startAgent()
    expect((await send(`${url}/.well-known/jwks.json`)).status).toBe(404)
  })

  it('may be read by web pages of any origin', async () => {
    const { url } = await startAgent()
    const response = await send(`${url}/agent.json`, { headers: { origin: 'https://page.example' } })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('returns the headers of GET for HEAD', async () => {
    const { url } = await startAgent()
    const response = await fetch(`${url}/agent.json`, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('etag')).toMatch(/^"/)
    expect(await response.text()).toBe('')
  })

  it('contains the configured public URL', async () => {
    const { url } = await startAgent({ publicUrl: 'https://tester.example/' })
    const { json } = await send(`${url}/agent.json`, { headers: { host: 'evil.example' } })
    expect(json.url).toBe('https://tester.example/a2a')
    expect(asObjects(json.bindings).map(({ endpoint }) => endpoint)).toEqual([
      'https://tester.example/',
      'wss://tester.example/',
      'https://tester.example/a2a',
      'https://tester.example/mcp',
    ])
  })
})

describe('the guide', () => {
  it('AURI-11-02 names every member that a descriptor can have', async () => {
    const guide = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8')
    const card = await describeIt({
      key: makeKey(),
      olderVersions: { '1.0.0': [echo] },
      publisher: 'Example',
      documentationUrl: 'https://a.example',
      languages: ['en'],
      interactionModel: 'x',
      orchestration: {},
      privacy: {},
      authentication: { apiKeys: [{ subject: 'ann', key: 'secret' }] },
    })
    const undocumented = Object.keys(card).filter((name) => !guide.includes(`\`${name}\``))
    expect(undocumented).toEqual([])
  })
})

describe('suggestUri', () => {
  it('AURI-6.3-01 names the transport if there is only one, and none if there are several', async () => {
    const card = await describeIt({ publicUrl: 'https://tester.example/planner' })
    expect(suggestUri(card)).toBe('agent://tester.example/planner')
    expect(suggestUri({ transport: { https: 'https://h.example:8443/x/' } })).toBe('agent+https://h.example:8443/x')
    expect(suggestUri({ name: 'notes', transport: { local: 'notes' } })).toBe('agent+local://notes')
    expect(suggestUri({ transport: { unix: '/run/a.sock' } })).toBe('agent+unix://%2Frun%2Fa.sock')
    expect(suggestUri({ url: 'https://h.example/' })).toBe('agent+https://h.example')
    expect(suggestUri({})).toBeUndefined()
  })
})

describe('a definition is rejected if it', () => {
  it.each([
    ['no capability', { capabilities: [] }, /at least one capability/],
    ['a capability twice', { capabilities: [echo, echo] }, /is defined twice/],
    ['a name that the kit uses as a path', { capabilities: [{ ...echo, name: 'tasks' }] }, /reserved in URLs/],
    [
      'a schema with a remote reference',
      { capabilities: [{ ...echo, input: { $ref: 'https://x.example' } }] },
      /schema/,
    ],
    ['a timeout longer than connections last', { capabilities: [{ ...echo, timeoutMs: 400_000 }] }, /make it deferred/],
    ['signed responses without a key', { signResponses: true }, /needs a key/],
    ['an older version with a higher number', { olderVersions: { '3.0.0': [echo] } }, /must be older/],
  ])('has %s', (_, options, message) => {
    expect(() => makeAgent(options)).toThrow(message)
  })

  it('requires client certificates without a CA', async () => {
    const tls = { cert: '', key: '', clientRequired: true }
    await expect(makeAgent().listen({ tls })).rejects.toMatchObject({ code: 'invalid_definition' })
    await expect(makeAgent().listen({ behindProxy: true })).rejects.toMatchObject({ code: 'invalid_definition' })
  })

  it('listens on a public address without TLS', async () => {
    await expect(makeAgent().listen({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'invalid_definition' })
  })
})
