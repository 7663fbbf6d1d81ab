import { readFileSync } from 'node:fs'
import type { JsonValue } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ClientError,
  createClient,
  createDiscoveryClient,
  createDocumentCache,
  type DirectoryEntry,
  discoverAll,
  expandTemplate,
  readProblem,
  searchAll,
  toDisplayText,
  verifyAtBase,
  verifyIdentity,
} from '../../src/index.js'
import {
  type AgentHost,
  always,
  codeOf,
  collect,
  fakeRetry,
  type Handler,
  sendJson,
  startAgentHost,
  startPlainHost,
} from '../transports/support/agent-host.js'

let handlers: Record<string, Handler>
let host: Awaited<ReturnType<typeof startPlainHost>>
let tls: AgentHost

beforeAll(async () => {
  host = await startPlainHost((seen, response) => {
    const handle = handlers[seen.url.split('?')[0] ?? '']
    if (handle) handle(seen, response)
    else sendJson(response, 404, { error: { code: 'NotFound', message: 'nothing here' } })
  })
  tls = await startAgentHost()
})
afterAll(async () => {
  await Promise.all([host.close(), tls.close()])
})
beforeEach(() => {
  handlers = {}
  tls.handlers = {}
  host.seen.length = 0
  tls.seen.length = 0
})

const open = (more: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ baseUrl: host.url, token: 'key', retry: fakeRetry().retry, ...more })
const paths = (): string[] => host.seen.map(({ method, url }) => `${method} ${url}`)

/** Vectors of one kind: a response, and the expected result of the client. */
interface Vector {
  id: string
  kind: string
  input: JsonValue
  expect: { valid: boolean; count?: number; ids?: string[]; first_id?: string }
}
const VECTORS: Vector[] = JSON.parse(readFileSync(new URL('../../../../spec/vectors.json', import.meta.url), 'utf8'))
const vectorsOf = (kind: string): Vector[] => VECTORS.filter((vector) => vector.kind === kind)

describe('responses', () => {
  it.each(vectorsOf('prof.response.parse').map((vector) => [vector.id, vector] as const))(
    'reads %s as the vectors say',
    async (_id, vector) => {
      handlers['/discover'] = ({ method }, response) => sendJson(response, 200, method === 'GET' ? {} : vector.input)
      const work = Promise.resolve(open().discover('x'))
      if (!vector.expect.valid) return expect(await codeOf(work)).toBe('bad_response')
      const { candidates } = await work
      expect(candidates).toHaveLength(vector.expect.count ?? -1)
      expect(candidates[0]?.id).toBe(vector.expect.first_id)
    },
  )

  it.each(vectorsOf('aidip00.response.parse').map((vector) => [vector.id, vector] as const))(
    'reads %s as the vectors say',
    async (_id, vector) => {
      handlers['/agents/search'] = always(vector.input)
      const { agents, total } = await open().search('x')
      expect(agents.map(({ id }) => id)).toEqual(vector.expect.ids)
      expect(total).toBe(vector.expect.count)
    },
  )

  it('PROF-6.3-01 reads the draft’s response with its examples and freshness', async () => {
    const published = vectorsOf('prof.response.parse')[0]?.input ?? null
    handlers['/discover'] = ({ method }, response) => sendJson(response, 200, method === 'GET' ? {} : published)
    const [first] = (await open().discover('x')).candidates
    expect(first?.evidence?.matchedExamples[0]).toMatchObject({ id: 'ex-1', score: 0.96, text: expect.any(String) })
    expect(first?.freshness).toMatchObject({
      metadata_updated_at: '2026-05-08T00:00:00Z',
      indexed_at: '2026-05-08T00:00:00Z',
    })
  })

  it('PROF-6.2-03 ignores unknown score components', async () => {
    const candidates = [{ id: 'a', score: 1, score_components: { tag: 1, foo: 0.2, bar: { deep: true } } }]
    handlers['/discover'] = ({ method }, response) => sendJson(response, 200, method === 'GET' ? {} : { candidates })
    const [first] = (await open().discover('x')).candidates
    expect(first?.evidence?.components).toEqual({ tag: 1, foo: 0.2 })
  })

  it.each<{ body: JsonValue }>([
    { body: null },
    { body: 'text' },
    { body: [1] },
    { body: [{}] },
    { body: { results: 1 } },
    { body: { agents: [{ id: 7 }] } },
  ])('rejects $body as a list of agents', async ({ body }) => {
    handlers['/agents/search'] = always(body)
    expect(await codeOf(Promise.resolve(open().search('x')))).toBe('bad_response')
  })
})

describe('pages', () => {
  it('follows links of arrays and counts of objects, and stops if there is nothing more', async () => {
    handlers['/agents/search'] = ({ url }, response) => {
      const skip = Number(new URL(url, 'http://h').searchParams.get('skip') ?? 0)
      const more: Record<string, string> = skip < 4 ? { link: `</agents/search?skip=${skip + 2}>; rel="next"` } : {}
      sendJson(response, 200, [{ id: `a${skip}` }, { id: `a${skip + 1}` }], more)
    }
    expect((await collect(open().search('x'))).map(({ id }) => id)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
    handlers['/agents/search'] = ({ json }, response) => {
      const { skip = 0 } = json
      sendJson(response, 200, { results: [{ id: `b${skip}` }], count: 3, skip })
    }
    expect((await collect(open().search('x'))).map(({ id }) => id)).toEqual(['b0', 'b1', 'b2'])
    handlers['/agents/search'] = always([], 200, { link: '</agents/search>; rel="next"' })
    expect(await collect(open().search('x'))).toEqual([])
  })

  it('does not send its key to other origins', async () => {
    handlers['/agents/search'] = always([{ id: 'a' }], 200, { link: `<${tls.origin}/agents/search>; rel="next"` })
    expect(await codeOf(collect(open({ fetch: tls.fetch }).search('x')))).toBe('bad_response')
    expect(tls.seen).toEqual([])
  })

  it('sends no request before it is awaited or iterated, and requests no more pages than needed', async () => {
    handlers['/agents/search'] = always([{ id: 'a' }], 200, { link: '</agents/search>; rel="next"' })
    const listing = open().search('x')
    expect(host.seen).toEqual([])
    for await (const _agent of listing) break
    expect(host.seen).toHaveLength(1)
  })
})

describe('failures', () => {
  it('AIDIP-10-04 turns an error object into an exception with code, status and details', async () => {
    const body = {
      error: {
        code: 'StaleMetadata',
        message: 'a newer one is stored',
        details: [{ member: '/sequence', message: 'is 2, stored is 3' }],
      },
      code: 'stale_metadata',
      correlation_id: 'c1',
    }
    handlers['/agents/a'] = always(body, 409, { 'x-request-id': 'c1' })
    const error = await open()
      .get('a')
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ClientError)
    expect(error).toMatchObject({ code: 'conflict', status: 409, requestId: 'c1', message: 'a newer one is stored' })
    expect(readProblem(error instanceof ClientError ? error.details : undefined)).toMatchObject({
      code: 'StaleMetadata',
      issues: [{ member: '/sequence', message: 'is 2, stored is 3' }],
    })
  })

  it('retries safe requests, with growing, limited waits', async () => {
    const { waits, retry } = fakeRetry()
    handlers['/agents/a'] = always({ title: 'down' }, 502)
    handlers['/agents/search'] = always({ title: 'down' }, 503)
    expect(await codeOf(open({ retry }).get('a'))).toBe('remote_error')
    expect(waits).toEqual([100, 200])
    expect(await codeOf(Promise.resolve(open({ retry }).search('x')))).toBe('unavailable')
    expect(host.seen).toHaveLength(6)
  })

  it('does not retry a registration without an id', async () => {
    handlers['/agents'] = always({ title: 'down' }, 502)
    const document = { name: 'A', description: '', capabilities: ['x'], endpoint: 'https://a.example' }
    expect(await codeOf(open().register(document))).toBe('remote_error')
    expect(host.seen).toHaveLength(1)
    expect(await codeOf(open().register({ ...document, id: 'a' }))).toBe('remote_error')
    expect(host.seen).toHaveLength(4)
  })

  it('waits as long as 429 and 503 say, even for requests that are not retried otherwise', async () => {
    const { waits, retry } = fakeRetry()
    let requests = 0
    handlers['/agents/a/feedback'] = (_seen, response) =>
      ++requests < 3
        ? sendJson(response, requests === 1 ? 429 : 503, { title: 'later' }, { 'retry-after': String(requests) })
        : sendJson(response, 201, {})
    await open({ retry }).feedback('a', { rating: 5, comment: 'good' })
    expect(waits).toEqual([1000, 2000])
    expect(host.seen.at(-1)?.json).toEqual({ rating: 5, comment: 'good' })
  })

  it('reads Retry-After as a date', async () => {
    const { waits, retry } = fakeRetry()
    let requests = 0
    handlers['/agents/a'] = (_seen, response) =>
      ++requests === 1
        ? sendJson(response, 429, {}, { 'retry-after': 'Thu, 01 Jan 1970 00:00:20 GMT' })
        : sendJson(response, 200, { id: 'a' })
    await open({ retry: { ...retry, now: () => 15_000 } }).get('a')
    expect(waits).toEqual([5000])
  })

  it('stops immediately when the caller aborts, even while waiting to retry', async () => {
    const controller = new AbortController()
    handlers['/agents/a'] = always({ title: 'down' }, 502)
    const sleep = () => new Promise<void>(() => controller.abort())
    expect(await codeOf(open({ retry: { sleep } }).get('a', { signal: controller.signal }))).toBe('aborted')
    handlers['/agents/b'] = () => {}
    expect(await codeOf(open().get('b', { timeoutMs: 50 }))).toBe('timeout')
  })

  it('sends its key and request id, but the key over plain HTTP only to this computer', async () => {
    handlers['/agents/a'] = always({ id: 'a' })
    await open().get('a', { requestId: 'r1' })
    expect(host.seen[0]?.headers).toMatchObject({ authorization: 'Bearer key', 'x-request-id': 'r1' })
    expect(() => open({ baseUrl: 'http://directory.example' })).toThrow(expect.objectContaining({ code: 'insecure' }))
    expect(() => createClient({ baseUrl: 'http://directory.example' })).not.toThrow()
    for (const baseUrl of ['directory.example', 'ftp://h', 'https://u:p@h', 'https://h?x=1']) {
      expect(() => open({ baseUrl })).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    }
  })
})

describe('readYourWrites', () => {
  const revisionsSent = (): (string | undefined)[] =>
    host.seen.map(({ headers }) => headers['min-revision']).map((value) => value?.toString())
  const respond: Handler = (seen, response) =>
    sendJson(response, 200, seen.url === '/agents' ? { id: 'a' } : [], {
      'x-directory-revision': `revision-${host.seen.length}`,
    })
  const useOf = async (directory: ReturnType<typeof open>): Promise<void> => {
    handlers = { '/agents': respond, '/agents/search': respond, '/agents/a/invoke': respond }
    await directory.search('x')
    await directory.register({ id: 'a', name: 'a' }, { format: 'aidip' })
    await directory.search('x')
    await directory.invoke('a', {})
  }

  it('demands the state after the last write from every later request, also from calls', async () => {
    await useOf(open({ readYourWrites: true }))
    expect(revisionsSent()).toEqual([undefined, undefined, 'revision-2', 'revision-2'])
  })

  it('is off by default', async () => {
    await useOf(open())
    expect(revisionsSent()).toEqual([undefined, undefined, undefined, undefined])
  })
})

describe('the Agent Directory', () => {
  const AD = {
    registration: '/ad/r',
    lookup: '/look/up{?agent,protocol,cap_name,cap_type,tag,page,count}',
    max_count: 100,
  }
  const entry = {
    agent: 's',
    base: 'https://s.example',
    capabilities: [{ name: 'summarize', type: 'tool' }],
    href: '/ad/r/1',
    extra: true,
  }

  it('AD-B-01 requests /.well-known/ad, expands the template, and looks up', async () => {
    handlers['/.well-known/ad'] = always(AD)
    handlers['/look/up'] = always({ agents: [entry] })
    const client = open()
    const [first] = await collect(client.lookup({ cap_name: 'summarize' }))
    expect(first).toMatchObject({ agent: 's', base: 'https://s.example', document: { extra: true } })
    expect(paths()).toEqual(['GET /.well-known/ad', 'GET /look/up?cap_name=summarize'])
    await client.lookup({ agent: 's*', count: 1 })
    expect(paths()).toEqual([
      'GET /.well-known/ad',
      'GET /look/up?cap_name=summarize',
      'GET /look/up?agent=s%2A&count=1',
    ])
  })

  it('AD-B-02 skips the first step if the path is known', async () => {
    handlers['/ad/l'] = always({ agents: [] })
    await open({ lookup: '/ad/l' }).lookup({ tag: 'a&b' })
    expect(paths()).toEqual(['GET /ad/l?tag=a%26b'])
  })

  it('AD-5.1-03 rejects a misplaced * without a request', async () => {
    for (const name of ['a*b', '*a', 'a**']) {
      expect(() => open().lookup({ cap_name: name })).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    }
    expect(host.seen).toEqual([])
  })

  it('AURI-3-03 expands templates by RFC 6570', () => {
    expect(expandTemplate('agent://h/gen-iti{?city}', { city: 'São Paulo' })).toBe(
      'agent://h/gen-iti?city=S%C3%A3o%20Paulo',
    )
    expect(expandTemplate('/ad/l{?a,b}{&c}', { b: 'x*', c: 1 })).toBe('/ad/l?b=x%2A&c=1')
    expect(expandTemplate('/a/{id}/b{?none}', { id: 'a/b' })).toBe('/a/a%2Fb/b')
    expect(expandTemplate('{__proto__}{constructor}', {})).toBe('')
  })

  it.each(vectorsOf('template.expand').map((vector) => [vector.id, vector] as const))(
    'expands %s as the vectors say',
    (_id, vector) => {
      const {
        input,
        expect: expected,
      }: { input: { template: string; vars: Record<string, string | number> }; expect: { uri: string } } = JSON.parse(
        JSON.stringify(vector),
      )
      expect(expandTemplate(input.template, input.vars)).toBe(expected.uri)
    },
  )

  const listed = (more: object): DirectoryEntry => ({
    agent: 's',
    base: `${tls.origin}/agent`,
    description: '',
    protocols: ['a2a'],
    capabilities: [{ name: 'summarize' }],
    document: JSON.parse(JSON.stringify(more)),
  })
  const web = () => ({ fetch: tls.fetch, allowPrivate: true, cache: createDocumentCache() })

  it('AD-8.5-02 AD-A-01 compares an entry with the card at the agent’s base', async () => {
    const card = (skill: string): JsonValue => ({
      name: 'S',
      version: '1.0.0',
      capabilities: {},
      skills: [{ id: skill, name: skill }],
    })
    tls.handlers['/.well-known/agent-card.json'] = always(card('summarize'))
    expect(await verifyAtBase(listed({}), web())).toBe('match')
    tls.handlers['/.well-known/agent-card.json'] = always(card('delete-all'))
    expect(await verifyAtBase(listed({}), web())).toBe('mismatch')
    tls.handlers = {}
    expect(await verifyAtBase(listed({}), web())).toBe('unreachable')
    expect(tls.seen.map(({ url }) => url)).toContain('/.well-known/agent-card.json')
  })

  it('AD-4.1-23 ignores identities of an unknown type', async () => {
    const entryOf = listed({ identity: `${tls.origin}/identity`, identity_type: 'zzz' })
    expect(await verifyIdentity(entryOf, web())).toBe('unknown')
    expect(await verifyIdentity(listed({}), web())).toBe('unknown')
    expect(tls.seen).toEqual([])
  })

  it('AD-4.1-24 does not treat the presence of an identity as proof', async () => {
    const did = `did:web:${encodeURIComponent(tls.authority)}`
    const entryOf = listed({ identity: did, identity_type: 'did' })
    expect(await verifyIdentity(entryOf, web())).toBe('unverified')
    const document = (endpoint: string): JsonValue => ({
      id: did,
      service: [{ id: `${did}#a`, type: 'AgentDescriptor', serviceEndpoint: endpoint }],
    })
    tls.handlers['/.well-known/did.json'] = always(document(`${tls.origin}/agent/agent.json`), 200, {
      'cache-control': 'no-store',
    })
    tls.handlers['/agent/agent.json'] = always(
      { name: 's', version: '1.0.0', capabilities: [{ name: 'summarize' }] },
      200,
      { 'cache-control': 'no-store' },
    )
    expect(await verifyIdentity(entryOf, web())).toBe('verified')
    expect(await verifyIdentity({ ...entryOf, base: 'https://mallory.example/agent' }, web())).toBe('unverified')
  })

  it('AD-8.5-01 removes control and bidirectional characters from untrusted text for display', () => {
    expect(toDisplayText('safe\u001b[31m\u202egnp.exe\n\u0000end ')).toBe('safe [31m gnp.exe end')
  })
})

describe('the profile', () => {
  it('PROF-3.1-07 sends no query to a service of level D0, and reads its metadata', async () => {
    handlers['/discover'] = always({ conformance_level: 'D0' })
    handlers['/discover/agents/a'] = always({ id: 'a', name: 'A' })
    const client = open()
    expect(await codeOf(Promise.resolve(client.discover('x')))).toBe('not_found')
    expect(await client.get('a', { view: 'profile' })).toMatchObject({ name: 'A' })
    expect(paths()).toEqual(['GET /discover', 'GET /discover/agents/a'])
  })

  it('queries a service that does not describe itself', async () => {
    handlers['/discover'] = ({ method }, response) =>
      method === 'GET' ? sendJson(response, 405, {}) : sendJson(response, 200, { candidates: [] })
    expect((await open().discover('x')).candidates).toEqual([])
  })
})

describe('the discovery client', () => {
  it('finds and reads agents like the full client, with the same token', async () => {
    handlers['/agents/search'] = always([{ id: 'a' }])
    handlers['/agents/a'] = always({ id: 'a', name: 'A' })
    const options = { baseUrl: host.url, token: 'key' }
    for (const client of [createDiscoveryClient(options), createClient(options)]) {
      expect((await collect(client.search('x'))).map(({ id }) => id)).toEqual(['a'])
      expect(await client.get('a')).toEqual({ id: 'a', name: 'A' })
    }
    expect(paths()).toEqual(Array(2).fill(['POST /agents/search', 'GET /agents/a']).flat())
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill('Bearer key'))
    expect((await searchAll([createDiscoveryClient(options)], 'x')).items).toHaveLength(1)
  })
})

describe('several directories', () => {
  const answerAs =
    (agents: JsonValue): typeof fetch =>
    async () =>
      new Response(JSON.stringify(agents), { headers: { 'content-type': 'application/json' } })
  const at = (name: string, agents: JsonValue) =>
    createClient({ baseUrl: `https://${name}.example`, fetch: answerAs(agents) })

  it('AIDIP00-5.1-07 are searched together, and each result names its directory', async () => {
    const broken = createClient({
      baseUrl: 'https://c.example',
      retry: { retries: 0 },
      fetch: async () => new Response('no', { status: 500 }),
    })
    const { items, failures } = await searchAll(
      [at('a', [{ id: '1' }, { id: '2' }]), at('b', { results: [{ id: '1' }] }), broken],
      'x',
    )
    expect(items.map(({ id, registry }) => [id, registry])).toEqual([
      ['1', 'https://a.example'],
      ['1', 'https://b.example'],
      ['2', 'https://a.example'],
    ])
    expect(failures).toEqual([
      { registry: 'https://c.example', error: expect.objectContaining({ code: 'remote_error' }) },
    ])
  })

  it('PROF-6.1-10 are merged by rank, not by score', async () => {
    const low = at('low', {
      candidates: [
        { id: 'l1', score: 0.2 },
        { id: 'l2', score: 0.1 },
      ],
    })
    const high = at('high', {
      candidates: [
        { id: 'h1', score: 0.9 },
        { id: 'h2', score: 0.8 },
      ],
    })
    const { items } = await discoverAll([low, high], 'x')
    expect(items.map(({ id }) => id)).toEqual(['l1', 'h1', 'l2', 'h2'])
  })
})

describe('resolving an intent', () => {
  it('returns candidates with everything needed to call them', async () => {
    handlers['/resolve'] = always({
      candidates: [
        { id: 'a', endpoints: ['https://a.example', { endpoint: 'wss://a.example' }], invocation: { method: 'POST' } },
      ],
    })
    const candidates = await open().resolve({ intent: 'translate', policy: { min_quality_score: 4 }, top: 3 })
    expect(candidates).toMatchObject([
      { id: 'a', endpoints: ['https://a.example', 'wss://a.example'], invocation: { method: 'POST' } },
    ])
    expect(host.seen[0]?.json).toEqual({ intent: 'translate', policy: { min_quality_score: 4 }, top: 3 })
  })
})
