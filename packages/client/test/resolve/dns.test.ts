import { agentRecords, type JsonObject } from '@switchboard/protocol'
import type { Answer } from 'dns-packet'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDnsLookup, type FindInDnsOptions } from '../../src/dns.node.js'
import { type ResolvedAgent, type ResolveOptions, resolveAgent } from '../../src/index.js'
import { type DnsServer, startDnsServer, svcbAnswer, zoneAnswers } from '../find/dns-server.js'
import { startWeb, type Web } from './support/web.js'

const translator: JsonObject = { name: 'translator', version: '1.0.0', capabilities: [{ name: 'translate' }] }
const HTTPS = { alpn: ['http/1.1'] }

describe('resolution with DNS', () => {
  let web: Web
  let dns: DnsServer

  beforeAll(async () => {
    web = await startWeb()
  })
  beforeEach(async () => {
    web.pages = {}
    web.requestedUrls.length = 0
    dns = await startDnsServer()
  })
  afterEach(() => dns.close())
  afterAll(() => web.close())

  const lookup = (options: FindInDnsOptions = {}) => createDnsLookup({ servers: [dns.address], ...options })
  const resolve = (uri: string, options: ResolveOptions = {}): Promise<ResolvedAgent> =>
    resolveAgent(uri, { fetch: (input, init) => web.fetch(input, init), dns: lookup(), ...options })

  it('finds an agent by the records that switchboard dns-records prints', async () => {
    const bindings = [{ protocol: 'a2a', endpoint: 'https://agents.example.com/a2a' }]
    dns.records = zoneAnswers(agentRecords([{ label: 'translator', bindings }], 'example.com'))
    web.pages = { 'https://agents.example.com/.well-known/agent.json': { ...translator, endpoint: '/t' } }
    const agent = await resolve('agent://example.com/translator/translate?text=Bonjour')
    expect(agent).toMatchObject({
      agent: 'translator',
      capability: 'translate',
      endpoint: 'https://agents.example.com/t',
      params: { text: 'Bonjour' },
      fallback: false,
      warnings: [],
    })
    expect(agent.requestedUrls.every((url) => url.startsWith('https://agents.example.com/'))).toBe(true)
  })

  it.each<[string, string, Answer[]]>([
    ['the host itself', 'agent://example.com/', [svcbAnswer('example.com', 1, '', HTTPS)]],
    [
      'a name below _agents that is an alias',
      'agent://example.com/translator',
      [
        svcbAnswer('translator._agents.example.com', 0, 'x.example.com'),
        svcbAnswer('x.example.com', 1, 'example.com', HTTPS),
      ],
    ],
  ])('follows %s', async (_what, uri, records) => {
    dns.records = records
    web.pages = { 'https://example.com/.well-known/agent.json': translator }
    expect(await resolve(uri)).toMatchObject({ endpoint: 'https://example.com/', fallback: false })
  })

  it('prefers the record with the lowest priority, and ignores those with a mandatory key that it does not know', async () => {
    dns.records = [
      svcbAnswer('example.com', 3, 'c.example.com', HTTPS),
      svcbAnswer('example.com', 2, 'b.example.com', HTTPS),
      svcbAnswer('example.com', 1, 'a.example.com', { ...HTTPS, mandatory: [5] }),
    ]
    web.pages = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [`https://${name}.example.com/agent.json`, { ...translator, name }]),
    )
    expect(await resolve('agent://example.com/')).toMatchObject({ agent: 'b' })
  })

  it('does not let DNS lead to another domain, unless mayRedirect allows it', async () => {
    dns.records = [svcbAnswer('translator.example.com', 1, 'example.org', HTTPS)]
    web.pages = {
      'https://example.org/agent.json': { ...translator, name: 'foreign' },
      'https://example.com/translator/agent.json': { ...translator, name: 'own' },
    }
    const agent = await resolve('agent://example.com/translator')
    expect(agent).toMatchObject({ agent: 'own', warnings: [expect.stringContaining('example.org')] })
    expect(web.requestedUrls.some((url) => url.includes('example.org'))).toBe(false)
    const mayRedirect = (from: URL, to: URL) => from.host === 'example.com' && to.host === 'example.org'
    expect(await resolve('agent://example.com/translator', { mayRedirect })).toMatchObject({ agent: 'foreign' })
  })

  it.each(['localhost', 'evilexample.com', '169.254.169.254'])('never asks %s', async (target) => {
    dns.records = [svcbAnswer('example.com', 1, target, HTTPS)]
    web.pages = { 'https://example.com/agent.json': translator }
    expect(await resolve('agent://example.com/', { allowPrivate: true })).toMatchObject({ agent: 'translator' })
    expect(web.requestedUrls.every((url) => url.startsWith('https://example.com/'))).toBe(true)
  })

  it('needs the certificate of the host that DNS names', async () => {
    dns.records = [svcbAnswer('example.com', 1, 'agents.example.com', HTTPS)]
    const untrusted = resolve('agent://example.com/', { fetch: (input, init) => web.distrustingFetch(input, init) })
    await expect(untrusted).rejects.toMatchObject({ code: 'unreachable' })
  })

  it('uses the URL of the descriptor only with privateKeys, and only in the domain', async () => {
    const cap = 'https://docs.example.com/agents/t.json'
    dns.records = [svcbAnswer('translator.example.com', 1, 'agents.example.com', { ...HTTPS, cap })]
    web.pages = { [cap]: translator, 'https://agents.example.com/agent.json': { ...translator, name: 'other' } }
    const uri = 'agent://example.com/translator/translate'
    expect(await resolve(uri)).toMatchObject({ agent: 'other' })
    const options = { dns: lookup({ privateKeys: true }) }
    expect(await resolve(uri, options)).toMatchObject({ agent: 'translator', capability: 'translate' })
    dns.records = [
      svcbAnswer('translator.example.com', 1, 'agents.example.com', { ...HTTPS, cap: 'https://example.org/t.json' }),
    ]
    expect((await resolve(uri, options)).warnings).toEqual([expect.stringContaining('example.org')])
  })

  it('goes on without DNS if it fails, if there is a port, or if it has no records', async () => {
    web.pages = { 'https://example.com/agent.json': translator }
    expect(await resolve('agent://example.com/')).toMatchObject({ agent: 'translator', warnings: [] })
    dns.failure = 2
    expect(await resolve('agent://example.com/')).toMatchObject({
      agent: 'translator',
      warnings: [expect.stringContaining('SVCB records of example.com')],
    })
    dns.failure = 0
    dns.records = [svcbAnswer('example.com', 1, 'agents.example.com', HTTPS)]
    const fallback = await resolve('agent://example.com:8443/')
    expect(fallback.requestedUrls.every((url) => url.startsWith('https://example.com:8443/'))).toBe(true)
  })
})
