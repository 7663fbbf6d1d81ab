import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createResolver, type ResolvedAgent, type ResolveOptions, resolveAgent } from '../../src/index.js'
import { sendJson, startWeb, type Web } from './support/web.js'

const INDEX = 'https://example.com/.well-known/agents.json'
const CARD = 'https://planner.example.com/.well-known/agent.json'

const translator: JsonObject = { name: 'translator', version: '1.0.0', capabilities: [{ name: 'translate' }] }

describe('the search for an agent', () => {
  let web: Web

  beforeAll(async () => {
    web = await startWeb()
  })
  beforeEach(() => {
    web.pages = {}
    web.requestedUrls.length = 0
    web.headers.length = 0
  })
  afterAll(() => web.close())

  /** Each test has its own cache. */
  const resolve = (uri: string | string[], options: ResolveOptions = {}): Promise<ResolvedAgent> =>
    resolveAgent(uri, { fetch: (input, init) => web.fetch(input, init), ...options })

  it('AURI-6.2-01 requests agents.json, then the agent.json in the path, and uses its endpoint', async () => {
    web.pages = {
      [INDEX]: { agents: { planner: CARD, translator: 'https://example.com/translator/agent.json' } },
      'https://example.com/translator/agent.json': { ...translator, endpoint: 'https://api.example.com/t' },
    }
    const agent = await resolve('agent://example.com/translator/translate?text=Bonjour')
    expect(web.requestedUrls).toEqual([INDEX, 'https://example.com/translator/agent.json'])
    expect(agent).toMatchObject({
      agent: 'translator',
      capability: 'translate',
      endpoint: 'https://api.example.com/t',
      endpoints: [{ transport: 'https', protocol: 'https', url: 'https://api.example.com/t' }],
      params: { text: 'Bonjour' },
      version: '1.0.0',
      fallback: false,
      requestedUrls: web.requestedUrls,
    })
  })

  it('AURI-6.2-01 walks up the path, then tries the well-known names', async () => {
    await resolve('agent://example.com/a/b')
    expect(web.requestedUrls).toEqual([
      INDEX,
      'https://example.com/a/b/agent.json',
      'https://example.com/a/agent.json',
      'https://example.com/agent.json',
      'https://example.com/.well-known/agent.json',
      'https://example.com/.well-known/agent-card.json',
    ])
  })

  it('treats the segments below the descriptor as the capability', async () => {
    web.pages = { 'https://example.com/a/agent.json': translator }
    const agent = await resolve('agent://example.com/a/trans/late%20it')
    expect(agent).toMatchObject({ agent: 'translator', capability: 'trans/late it', endpoint: 'https://example.com/a' })
    expect(agent.warnings).toContain('the descriptor lists no capability "trans/late it"')
  })

  it('AURI-5-06 finds an agent on its own subdomain', async () => {
    web.pages = { 'https://planner.example.org/.well-known/agent.json': translator }
    const agent = await resolve('agent://planner.example.org/')
    expect(web.requestedUrls).toContain('https://planner.example.org/.well-known/agent.json')
    expect(agent).toMatchObject({ agent: 'translator', endpoint: 'https://planner.example.org/', fallback: false })
  })

  it('matches the longest name in the index by whole segments', async () => {
    web.pages = {
      [INDEX]: { agents: { team: '/team.json', 'team/a': '/team-a.json', 'a b': '/spaced.json', tea: '/tea.json' } },
      'https://example.com/team.json': { ...translator, name: 'team' },
      'https://example.com/team-a.json': { ...translator, name: 'team-a' },
      'https://example.com/spaced.json': { ...translator, name: 'spaced' },
    }
    const found = async (path: string) => {
      const { agent, capability } = await resolve(`agent://example.com${path}`)
      return [agent, capability]
    }
    expect(await found('/team/a/translate')).toEqual(['team/a', 'translate'])
    expect(await found('/team/x')).toEqual(['team', 'x'])
    expect(await found('/a%20b')).toEqual(['a b', undefined])
    // An encoded slash does not separate segments.
    expect(await found('/team%2Fa')).toEqual([undefined, undefined])
  })

  it('AURI-7-23 prefers agent.json over the entry in the index', async () => {
    web.pages = {
      [INDEX]: { agents: { t: { ...translator, endpoint: 'https://old.example.com/', url: '/t/agent.json' } } },
      'https://example.com/t/agent.json': { ...translator, endpoint: 'https://new.example.com/' },
    }
    expect(await resolve('agent://example.com/t')).toMatchObject({ endpoint: 'https://new.example.com/' })
  })

  it('uses the entry in the index if there is nothing else', async () => {
    web.pages = { [INDEX]: { agents: { t: { ...translator, endpoint: '/run' }, gone: { ...translator, url: '/g/' } } } }
    expect(await resolve('agent://example.com/t/translate')).toMatchObject({
      agent: 't',
      endpoint: 'https://example.com/run',
      capability: 'translate',
    })
    const gone = await resolve('agent://example.com/gone')
    expect(gone.agent).toBe('gone')
    expect(gone.warnings.join()).toContain('https://example.com/g/agent.json')
  })

  it('continues if the link in the index leads nowhere', async () => {
    web.pages = { [INDEX]: { agents: { t: '/missing.json' } }, 'https://example.com/t/agent.json': translator }
    const agent = await resolve('agent://example.com/t')
    expect(agent).toMatchObject({ agent: 'translator', fallback: false })
    expect(agent.warnings.join()).toContain('/missing.json')
  })

  it('does not mistake a web page or an unrelated object for a descriptor', async () => {
    web.pages = {
      'https://example.com/t/agent.json': (response) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      'https://example.com/agent.json': { message: 'hello', name: 'example' },
      'https://example.com/.well-known/agent.json': translator,
    }
    const agent = await resolve('agent://example.com/t')
    expect(agent).toMatchObject({ agent: 'translator' })
    expect(agent.warnings).toEqual(
      expect.arrayContaining([
        'https://example.com/t/agent.json responded with text/html instead of JSON',
        'https://example.com/agent.json is not a descriptor of an agent',
      ]),
    )
  })

  it('AURI-6.2-02 falls back to HTTPS if nothing is found', async () => {
    const agent = await resolve('agent://example.com/planning/gen-iti?city=Paris')
    expect(agent).toMatchObject({
      fallback: true,
      endpoint: 'https://example.com/planning/gen-iti',
      params: { city: 'Paris' },
    })
    expect(agent.descriptor).toBeUndefined()
  })

  it('AURI-6.2-04 fails with not_found instead of falling back, if the caller wants that', async () => {
    await expect(resolve('agent://example.com/x', { allowFallback: false })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('does not mistake a failing host for one without descriptors', async () => {
    web.pages = { [INDEX]: (response) => sendJson(response, 503, {}, { 'retry-after': '7' }) }
    await expect(resolve('agent://example.com/x')).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
      retryAfter: 7,
    })
    expect(web.requestedUrls).toHaveLength(1)
  })

  it('AURI-6.2-05 prefers a URI with a transport, and sends no request', async () => {
    const agent = await resolve(['agent://example.com/p', 'agent+https://example.com/p'])
    expect(agent.endpoint).toBe('https://example.com/p')
    expect(web.requestedUrls).toEqual([])
  })

  it.each([
    ['agent+https://u:pw@example.com:8443/p?q=1#f', 'https', 'https://example.com:8443/p'],
    ['agent+wss://example.com/live', 'wss', 'wss://example.com/live'],
    ['agent+matrix://hs.example/room', 'matrix', 'agent+matrix://hs.example/room'],
  ])('AURI-6.1-01 binds %s directly, without a request and without userinfo', async (uri, transport, url) => {
    const agent = await resolve(uri)
    expect(agent.endpoints).toEqual([{ transport, protocol: transport, url }])
    expect(JSON.stringify(agent)).not.toContain('pw')
    expect(web.requestedUrls).toEqual([])
  })

  it.each([
    ['agent+local://echo/say?text=hi', { agent: 'echo', capability: 'say', params: { text: 'hi' } }],
    ['agent+unix://echo/say', { agent: 'echo', capability: 'say' }],
    ['agent+unix://%2Frun%2Fx.sock/say', { capability: 'say', endpoint: 'agent+unix://%2Frun%2Fx.sock/say' }],
  ])('AURI-6.1-08 reads %s without any network traffic', async (uri, members) => {
    expect(await resolve(uri)).toMatchObject(members)
    expect(web.requestedUrls).toEqual([])
  })

  it('AURI-6.1-06 rejects an unknown transport, and accepts one that the caller names', async () => {
    await expect(resolve('agent+foo://example.com/p')).rejects.toMatchObject({ code: 'unsupported_transport' })
    expect(await resolve('agent+foo://example.com/p', { transports: ['foo'] })).toMatchObject({
      endpoints: [{ transport: 'foo', url: 'agent+foo://example.com/p' }],
    })
    expect(web.requestedUrls).toEqual([])
  })

  it('AURI-5.1-03 uses a static map without the network', async () => {
    const map = {
      'agent://example.com/y': 'https://z.example.com',
      'agent://example.com': { descriptor: { ...translator, endpoint: '/all' } },
      'agent+foo://h': 'wss://foo.example.com/',
    }
    const options = { static: map, allowFallback: false }
    expect(await resolve('agent://EXAMPLE.com/y/cap?x=1', options)).toMatchObject({
      endpoint: 'https://z.example.com/',
      capability: 'cap',
      params: { x: '1' },
    })
    expect(await resolve('agent://example.com/yes', options)).toMatchObject({
      endpoint: 'https://example.com/all',
      capability: 'yes',
    })
    expect(await resolve('agent+foo://h/p', options)).toMatchObject({ endpoints: [{ transport: 'wss' }] })
    expect(web.requestedUrls).toEqual([])
  })

  it('AURI-5.1-05 calls custom resolvers in order, before the network', async () => {
    const called: string[] = []
    const resolvers = [
      async () => {
        called.push('first')
        return undefined
      },
      async (
        { host }: { host: string },
        { fetchJson }: { fetchJson: (url: string) => Promise<JsonObject | undefined> },
      ) => {
        called.push('second')
        const found = await fetchJson(`https://example.net/where/${host}`)
        return typeof found?.at === 'string' ? { descriptor: found.at } : undefined
      },
    ]
    web.pages = {
      'https://example.net/where/example.com': { at: 'https://example.net/t.json' },
      'https://example.net/t.json': { ...translator, endpoint: 'https://example.net/t' },
    }
    expect(await resolve('agent://example.com/translate', { resolvers })).toMatchObject({
      endpoint: 'https://example.net/t',
      capability: 'translate',
    })
    expect(called).toEqual(['first', 'second'])
    expect(web.requestedUrls).toEqual(['https://example.net/where/example.com', 'https://example.net/t.json'])
  })

  it('AURI-5.1-05 uses WebFinger only if enabled, and last', async () => {
    const finger = 'https://example.com/.well-known/webfinger?resource=agent%3A%2F%2Fexample.com%2Ft&rel=describedby'
    web.pages = {
      [finger]: {
        subject: 'agent://example.com/t',
        links: [{ rel: 'describedby', href: 'https://example.net/t.json' }],
      },
      'https://example.net/t.json': translator,
    }
    expect(await resolve('agent://example.com/t?x=1')).toMatchObject({ fallback: true })
    expect(web.requestedUrls).not.toContain(finger)
    web.requestedUrls.length = 0
    expect(await resolve('agent://example.com/t?x=1', { webfinger: true })).toMatchObject({ agent: 'translator' })
    expect(web.requestedUrls.slice(-2)).toEqual([finger, 'https://example.net/t.json'])
  })

  it('AURI-5.1-07 lists the capabilities of an agent', async () => {
    web.pages = { [CARD]: { ...translator, skills: [{ id: 'spell', name: 'Spell' }] } }
    const resolver = createResolver({ fetch: web.fetch })
    const names = (await resolver.capabilities('agent://planner.example.com/')).map(({ name }) => name)
    expect(names).toEqual(['translate', 'spell'])
    expect(await resolver.capabilities('agent://example.net/')).toEqual([])
  })

  it('AURI-3-02 works without descriptors and resolution', async () => {
    expect(await resolve('agent+https://example.com/p')).toMatchObject({
      endpoint: 'https://example.com/p',
      warnings: [],
    })
    expect(web.requestedUrls).toEqual([])
  })

  it('sends no credentials, and nothing from the query or fragment', async () => {
    const modes = new Set<unknown>()
    const watched: typeof fetch = (input, init) => {
      modes.add(init?.credentials)
      return web.fetch(input, init)
    }
    await resolve('agent://user:secret@example.com/p?token=t#frag', { fetch: watched })
    expect(web.requestedUrls.join()).not.toMatch(/secret|token|frag/)
    for (const headers of web.headers) expect(headers.authorization).toBeUndefined()
    // Otherwise a browser would send its cookies.
    expect([...modes]).toEqual(['omit'])
  })

  it('AURI-4.1-05 keeps the fragment for the caller, and uses it as the capability if the path has none', async () => {
    web.pages = { [CARD]: translator }
    expect(await resolve('agent://planner.example.com/#translate')).toMatchObject({
      capability: 'translate',
      fragment: 'translate',
    })
    expect(await resolve('agent://planner.example.com/other#translate')).toMatchObject({ capability: 'other' })
  })

  it.each(['agent:/h', 'agent://', 'https://example.com/', '', 'agent://h/%zz'])('rejects %j', async (uri) => {
    await expect(resolve(uri)).rejects.toMatchObject({ code: 'invalid_uri' })
  })

  it.each(['agent://example.com/a/../b', 'agent://example.com/%2E%2e/b', 'agent+https://example.com/./b'])(
    'rejects %s without a request, because HTTP would normalise the path',
    async (uri) => {
      await expect(resolve(uri)).rejects.toMatchObject({ code: 'invalid_uri' })
      expect(web.requestedUrls).toEqual([])
    },
  )
})
