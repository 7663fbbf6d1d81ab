import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestClock, type TestClock } from './support/clock.js'
import { startDirectory, type TestCaller, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'

type Request = readonly [method: 'get' | 'post' | 'put' | 'delete', path: string, body?: JsonObject | undefined]

let directory: TestDirectory
let clock: TestClock
beforeAll(async () => {
  clock = createTestClock()
  directory = await startDirectory({}, clock)
})
beforeEach(() => directory.clear())
afterAll(() => directory.close())

const send = ([method, path, body]: Request, as: TestCaller, headers?: Record<string, string>): Promise<TestResponse> =>
  directory[method](path, { as, ...(body && { body }), ...(headers && { headers }) })

/** Callers without a grant. */
const STRANGERS: readonly TestCaller[] = ['anon', 'tokB', 'tokC']

/** The response without parts that differ between requests. Validators may change with the revision. */
function stable({ status, headers, text }: TestResponse): JsonObject {
  const volatile =
    /"(correlation_id|request_id|search_id|generated_at|search_time|received_at|indexed_at)":("[^"]*"|[\d.]+)/g
  return {
    status,
    text: text.replaceAll(volatile, '"$1":0'),
    ...Object.fromEntries(
      ['x-total-count', 'link', 'content-type', 'x-switchboard-warnings'].map((name) => [name, headers.get(name)]),
    ),
  }
}

/** Words, tags and members that only the private agent has. */
const SECRET = {
  id: 'hidden',
  name: 'Zebracrossing',
  description: 'Quokkas translate axolotl contracts.',
  capabilities: ['zebra-crossing', 'probe'],
  tags: ['quokka', 'common'],
  publisher: 'Narwhal Ltd',
  version: '77.7.7',
  supported_languages: ['xx'],
  protocols: ['okapi/1'],
  status: 'testing',
  extra: 'wombat',
  visibility: 'private',
}

/** Every request that could reveal the agent; {n} is its number. */
const LOOKUPS: readonly Request[] = [
  ['get', '/agents'],
  ['get', '/v0/agents'],
  ['get', '/v1/agents'],
  ['get', '/agents/public'],
  ['get', '/v0/agents/public'],
  ['get', '/agents?top=1'],
  ['get', '/agents?top=1&skip=2'],
  ['get', '/v0/agents?top=1&skip=1'],
  ['get', '/agents?include_metadata=true'],
  ['get', '/agents?ranked=false'],
  ['get', '/agents?q=zebracrossing'],
  ['get', '/agents?q=quokkas+axolotl+public'],
  ['get', '/agents?tags=quokka'],
  ['get', '/agents?tags=common'],
  ['get', '/agents?capabilities=zebra-crossing'],
  ['get', '/agents?publisher=Narwhal%20Ltd'],
  ['get', '/agents?language=xx'],
  ['get', '/agents?status=testing'],
  ['get', '/agents?extra=wombat'],
  ['get', '/agents?visibility=private'],
  ['get', '/agents?id=hidden'],
  ['get', '/agents?name=Zebracrossing'],
  ['get', '/agents?version=77.7.7'],
  ['post', '/agents/search', { query: 'zebracrossing quokkas' }],
  ['post', '/agents/search', { query: 'axolotl public probe', top: 1 }],
  ['post', '/agents/search', { filters: { tags: ['quokka'] } }],
  ['post', '/agents/search', { filters: { id: 'hidden' } }],
  ['post', '/agents/search', { filters: { extra: 'wombat', visibility: 'private' } }],
  ['post', '/agents/search', { skip: 0, include_metadata: true }],
  ['post', '/v0/agents/search', { query: 'public', filters: { tags: 'common' } }],
  ['post', '/discover', { query: 'zebracrossing quokkas', include_evidence: true, detail: 'full' }],
  ['post', '/discover', { query: 'public probe axolotl', preferred_tags: ['quokka'], include_evidence: true }],
  ['post', '/discover', { query: 'public', required_tags: ['quokka'] }],
  ['post', '/discover', { query: 'public', required_tags: ['zebra-crossing'] }],
  ['post', '/discover', { query: 'public', excluded_tags: ['common'] }],
  ['post', '/discover', { query: 'public', protocols: ['okapi'] }],
  ['get', '/discover/agents/hidden'],
  ['get', '/ad/l'],
  ['get', '/ad/l?count=1'],
  ['get', '/ad/l?count=1&page=1'],
  ['get', '/ad/l?count=2'],
  ['get', '/ad/l?count=2&page=1'],
  ['get', '/ad/l?agent=hidden'],
  ['get', '/ad/l?agent=hid*'],
  ['get', '/ad/l?agent=*&count=1&page=2'],
  ['get', '/ad/l?cap_name=zebra-crossing'],
  ['get', '/ad/l?cap_name=zebra*'],
  ['get', '/ad/l?cap_type=skill&count=1&page=1'],
  ['get', '/ad/l?tag=quokka'],
  ['get', '/ad/l?protocol=okapi%2F1'],
  ['get', '/ad/r/{n}'],
  ['get', '/agents/hidden'],
  ['get', '/v0/agents/hidden'],
  ['get', '/v1/agents/hidden'],
  ['get', '/agents/hidden/agent.json'],
  ['get', '/agents/hidden/agent-card.json'],
  ['post', '/agents/hidden/a2a', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }],
  ['get', '/agents/hidden/server.json'],
  ['get', '/.well-known/agents.json'],
  ['get', '/.well-known/ard.json'],
  ['get', '/ard/agents'],
  ['get', '/ard/agents?pageSize=1&orderBy=displayName'],
  ['get', "/ard/agents?filter=displayName='zebracrossing'"],
  ['get', '/ard/agents/urn:air:agent.localhost:agent:hidden'],
  ['get', '/ard/catalogs/0'],
  ['post', '/ard/search', { query: { text: 'zebracrossing quokkas' } }],
  ['post', '/ard/search', { query: { text: 'public', filter: { tags: ['quokka'] } } }],
  ['post', '/ard/search', { query: { text: 'public', filter: { 'metadata.id': 'hidden' } } }],
  ['post', '/ard/explore', { resultType: { facets: [{ field: 'tags' }, { field: 'version' }] } }],
  ['post', '/ard/explore', { query: { text: 'axolotl public' }, resultType: { facets: [{ field: 'capabilities' }] } }],
  ['get', '/.well-known/agent.json'],
  ['get', '/discover'],
]
/** Requests that need credentials. */
const ATTEMPTS: readonly Request[] = [
  ['put', '/agents/hidden', aidipAgent()],
  ['put', '/agents/hidden', {}],
  ['put', '/v0/agents/hidden', aidipAgent({ id: 'other' })],
  ['delete', '/agents/hidden'],
  ['post', '/agents/hidden/invoke', { text: 'x' }],
  ['post', '/ad/r/{n}'],
  ['post', '/ad/r/{n}', { description: 'x' }],
  ['post', '/ad/r/{n}', { description: 1 }],
  ['post', '/ad/r/{n}?lt=1'],
  ['delete', '/ad/r/{n}'],
]

/** A registration through each draft. */
const REGISTRATIONS: Record<string, () => Promise<TestResponse>> = {
  'POST /agents': () => directory.post('/agents', { as: 'tokA', body: aidipAgent(SECRET) }),
  'POST /discover/agents': () => directory.post('/discover/agents', { as: 'tokA', body: fixture('FX-D0', SECRET) }),
  'POST /ad/r': () =>
    directory.post('/ad/r?agent=hidden', {
      as: 'tokA',
      body: {
        ...fixture('FX-SUM'),
        ...SECRET,
        capabilities: [{ name: 'zebra-crossing', type: 'skill', tags: ['quokka'] }],
      },
    }),
}

async function registerPublic(): Promise<void> {
  for (const id of ['public-1', 'public-2']) {
    const body = aidipAgent({ id, name: id, description: 'A public probe.', tags: ['common'] })
    expect((await directory.post('/agents', { as: 'tokB', body })).status).toBe(201)
  }
}

/** The number of the next registration. */
async function nextNumber(): Promise<number> {
  const { headers } = await directory.post('/ad/r?agent=last', { as: 'tokA', body: fixture('FX-SUM') })
  const number = Number(headers.get('location')?.split('/').at(-1))
  await directory.delete('/agents/last', { as: 'tokA' })
  return number + 1
}

describe.each(Object.entries(REGISTRATIONS))('a private agent registered with %s', (_route, register) => {
  it('AIDIP-9-04 AD-7.2-01 AD-8.4-01 changes no response to other callers', async () => {
    await registerPublic()
    const number = String(await nextNumber())
    const requests = (as: TestCaller): Request[] =>
      [...LOOKUPS, ...(as === 'anon' ? [] : ATTEMPTS)].map(([method, path, body]) => [
        method,
        path.replace('{n}', number),
        body,
      ])
    const responsesTo = async (as: TestCaller): Promise<JsonObject> => {
      const responses: JsonObject = {}
      for (const request of requests(as)) responses[JSON.stringify(request)] = stable(await send(request, as))
      return responses
    }
    const before = new Map<TestCaller, JsonObject>()
    for (const as of STRANGERS) before.set(as, await responsesTo(as))
    expect((await register()).status).toBe(201)
    expect((await directory.get(`/ad/r/${number}`, { as: 'tokA' })).json.agent).toBe('hidden')
    for (const as of STRANGERS) expect(await responsesTo(as), as).toEqual(before.get(as))
    // The same requests return it to its owner, so they would have revealed it.
    const found = (
      await Promise.all(requests('tokA').map((request) => (request[0] === 'get' ? send(request, 'tokA') : undefined)))
    ).filter((answer) => answer?.text.includes('hidden') && answer.status === 200)
    expect(found.length).toBeGreaterThan(20)
    expect((await directory.get('/agents/hidden', { as: 'tokA' })).status).toBe(200)
  })

  it('C-33 is revealed only by claiming its name: 409', async () => {
    await register()
    const claims: Request[] = [
      ['post', '/agents', aidipAgent({ id: 'hidden' })],
      ['post', '/v0/agents', aidipAgent({ id: 'hidden' })],
      ['post', '/discover/agents', fixture('FX-D0', { id: 'hidden' })],
      ['post', '/ad/r?agent=hidden', fixture('FX-SUM')],
    ]
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'seen' }) })
    for (const claim of claims) {
      const answer = await send(claim, 'tokB')
      expectError(answer, { status: 409, code: 'conflict' }, claim[1])
      expect(answer.text).not.toMatch(/tokA|private|Zebra|quokka/i)
      // The error for a visible agent of another owner is worded the same.
      const text = JSON.stringify(claim[2]).replace('"hidden"', '"seen"')
      const seen = await send([claim[0], claim[1].replace('hidden', 'seen'), JSON.parse(text)], 'tokB')
      expect(stable(seen)).toEqual(JSON.parse(JSON.stringify(stable(answer)).replaceAll('hidden', 'seen')))
      expectError(await send(claim, 'anon'), { status: 401 })
      expectError(await send(claim, 'tokC'), { status: 403 })
    }
  })

  it('C-70 is 404 for operations, not 403, and does not change', async () => {
    await register()
    const { href } = (await directory.get('/ad/l?agent=hidden', { as: 'tokA' })).json.agents[0]
    const before = (await directory.get('/agents/hidden', { as: 'tokA' })).text
    for (const [method, path, body] of ATTEMPTS) {
      if (body !== undefined && Object.keys(body).length === 0) continue
      if (body?.id === 'other') continue
      const answer = await send([method, path.replace('/ad/r/{n}', href), body], 'tokB')
      expectError(answer, { status: 404, code: 'not_found' }, `${method} ${path}`)
    }
    expect((await directory.get('/agents/hidden', { as: 'tokA' })).text).toBe(before)
  })

  it('is visible with a grant, and hidden again when the grant is deleted', async () => {
    await register()
    const grant = await directory.post('/admin/grants', {
      as: 'admin',
      body: { subject: 'tokC', agent: 'hidden', scopes: ['discover'] },
    })
    expect((await directory.get('/agents/hidden', { as: 'tokC' })).status).toBe(200)
    expect((await directory.get('/ad/l?agent=hidden', { as: 'tokC' })).json.agents).toHaveLength(1)
    expect((await directory.get('/agents/hidden', { as: 'tokB' })).status).toBe(404)
    await directory.delete(`/admin/grants/${grant.json.id}`, { as: 'admin' })
    expect((await directory.get('/agents/hidden', { as: 'tokC' })).status).toBe(404)
    expect((await directory.get('/ad/l?agent=hidden', { as: 'tokC' })).json.agents).toEqual([])
  })
})

describe('an expired private agent', () => {
  it('C-41 looks to other callers as if it had never existed', async () => {
    const body = fixture('FX-SUM', { visibility: 'private' })
    const { headers } = await directory.post('/ad/r?agent=hidden&lt=60', { as: 'tokA', body })
    const href = headers.get('location') ?? ''
    const before = stable(await directory.get(href))
    clock.advance(61)
    await expect.poll(async () => (await directory.get(href, { as: 'tokA' })).status).toBe(404)
    expect(stable(await directory.get(href))).toEqual(before)
    expectError(await directory.post(href, { as: 'tokA' }), { status: 404, code: 'not_found' })
  })
})

describe('private members of a public agent', () => {
  /** Each value contains "mum", so that any leak can be found. */
  const DOCUMENTS: Record<string, { path: string; body: JsonObject }> = {
    aidip: {
      path: '/agents',
      body: aidipAgent({
        id: 'partly',
        name: 'Partly shown',
        publisher: 'Mum-publisher',
        tags: ['mum-tag'],
        license: 'mum-license',
        notes: { inner: ['mum-notes'] },
        supported_languages: ['mum'],
        endpoint: 'https://mum-endpoint.example/x',
        constraints: { region: 'mum-region' },
        private: ['publisher', 'tags', 'license', 'notes', 'supported_languages', 'endpoint', 'constraints', 'private'],
        operations: [
          { name: 'open', inputs: {}, outputs: {} },
          { name: 'mum-operation', description: 'mum-operation-text', inputs: {}, outputs: {}, private: true },
        ],
      }),
    },
    profile: {
      path: '/discover/agents',
      body: fixture('FX-D0', {
        id: 'partly',
        tags: ['mum-tag'],
        auth: { type: 'mum-auth' },
        notes: 'mum-notes',
        constraints: { region: 'mum-region' },
        private: ['tags', 'auth', 'notes', 'constraints'],
        examples: [{ text: 'something open' }, { text: 'mum-example-text', private: true }],
        bindings: [
          { protocol: 'https', endpoint: 'https://open.example' },
          { protocol: 'mum-protocol', endpoint: 'https://mum-binding.example', private: true },
        ],
      }),
    },
    directory: {
      path: '/ad/r?agent=partly',
      body: fixture('FX-SUM', {
        vendor: 'mum-vendor',
        identity: 'mum-identity',
        notes: 'mum-notes',
        protocols: ['mum-protocol'],
        private: ['vendor', 'identity', 'notes', 'protocols'],
        capabilities: [
          { name: 'open', type: 'tool' },
          {
            name: 'mum-capability',
            type: 'mum-type',
            description: 'mum-description',
            tags: ['mum-tag'],
            private: true,
          },
        ],
      }),
    },
  }

  const READ: readonly Request[] = [
    ['get', '/agents/partly'],
    ['get', '/v0/agents/partly'],
    ['get', '/discover/agents/partly'],
    ['get', '/agents/partly/agent.json'],
    ['get', '/agents/partly/agent-card.json'],
    ['get', '/agents/partly/agent-card.json?version=0.3'],
    ['get', '/agents/partly/server.json'],
    ['get', '/ad/l'],
    ['get', '/agents'],
    ['get', '/agents?include_metadata=true'],
    ['post', '/agents/search', { include_metadata: true }],
    ['post', '/discover', { query: 'partly shown example summarize hr probe', detail: 'full', include_evidence: true }],
    ['post', '/discover', { query: 'partly shown example summarize hr probe', detail: 'minimal' }],
    ['post', '/agents/partly/invoke', {}],
    ['get', '/.well-known/agents.json'],
  ]

  it.each(Object.entries(DOCUMENTS))(
    'PROF-7.4-02 PROF-7.4-03 of a %s document are in responses to the owner and to nobody else',
    async (_format, { path, body }) => {
      expect((await directory.post(path, { as: 'tokA', body })).status).toBe(201)
      const { href } = (await directory.get('/ad/l?agent=partly')).json.agents[0]
      for (const as of ['tokC', 'anon'] as const) {
        for (const request of [...READ, ['get', href] as const]) {
          const answer = await send(request, as)
          expect(answer.text, request.join(' ')).not.toMatch(/mum/i)
          expect([...answer.headers.values()].join(' ')).not.toMatch(/mum/i)
          // The card of an agent for which the directory answers has members of A2A only.
          const { params = answer.json } = answer.json?.capabilities?.extensions?.[0] ?? {}
          if (request[1].startsWith('/agents/partly') && answer.status === 200) expect(params.redacted).toBe(true)
        }
      }
      for (const as of ['tokA', 'admin'] as const) {
        const own = path.startsWith('/ad') ? href : path.replace(/\/agents$/, '/agents/partly')
        const { json } = await directory.get(own, { as })
        for (const [name, value] of Object.entries(body))
          if (name !== 'authentication') expect(json[name], name).toEqual(value)
      }
    },
  )

  /** Requests that search for private values; `word` can replace them with values that no agent has. */
  const about = (word: (text: string) => string): Request[] => {
    const filter = (name: string, value: JsonValue): Request => [
      'post',
      '/agents/search',
      { filters: { [name]: value } },
    ]
    const w = word
    return [
      filter('publisher', w('Mum-publisher')),
      filter('vendor', w('mum-vendor')),
      filter('tags', [w('mum-tag')]),
      filter('license', w('mum-license')),
      filter('notes', w('mum-notes')),
      filter('notes', { inner: w('mum-notes') }),
      filter('identity', w('mum-identity')),
      filter('endpoint', w('https://mum-endpoint.example/x')),
      filter('capabilities', [w('mum-capability')]),
      filter('operations', { name: w('mum-operation') }),
      filter('examples', { text: w('mum-example-text') }),
      filter('bindings', { protocol: w('mum-protocol') }),
      filter('constraints', { region: w('mum-region') }),
      filter('private', w('notes')),
      filter('private', w('tags')),
      ['get', `/agents?tags=${w('mum-tag')}`],
      ['get', `/agents?notes=${w('mum-notes')}`],
      ['get', `/agents?q=${w('mum')}`],
      ['post', '/agents/search', { query: w('mum-tag') }],
      ['post', '/agents/search', { query: w('mum-operation-text') }],
      ['post', '/agents/search', { query: w('mum-example-text') }],
      ['post', '/agents/search', { query: w('mum-description') }],
      ['post', '/agents/search', { query: `probe ${w('mum')}` }],
      ['post', '/discover', { query: w('mum-example-text') }],
      ['post', '/discover', { query: 'probe', required_tags: [w('mum-tag')] }],
      ['post', '/discover', { query: 'probe', excluded_tags: [w('mum-tag')] }],
      ['post', '/discover', { query: 'probe', preferred_tags: [w('mum-tag')], include_evidence: true }],
      ['post', '/discover', { query: 'probe', protocols: [w('mum-protocol')] }],
      ['post', '/discover', { query: 'probe', constraints: { region: w('mum-region') } }],
      ['get', `/ad/l?tag=${w('mum-tag')}`],
      ['get', `/ad/l?cap_name=${w('mum-capability')}`],
      ['get', `/ad/l?cap_name=${w('mum')}*`],
      ['get', `/ad/l?cap_name=${w('mum-operation')}`],
      ['get', `/ad/l?cap_type=${w('mum-type')}`],
      ['get', `/ad/l?protocol=${w('mum-protocol')}`],
      ['get', '/agents?language=mum'.replace('mum', w('mum'))],
    ]
  }

  it.each(Object.entries(DOCUMENTS))(
    'PROF-7.4-02 of a %s document cannot be found by other callers',
    async (_format, { path, body }) => {
      await registerPublic()
      expect((await directory.post(path, { as: 'tokA', body })).status).toBe(201)
      const [wanted, never] = [about((text) => text), about((text) => text.replaceAll(/mum|notes|tags/gi, 'zzz'))]
      let foundByOwner = 0
      for (const [i, request] of wanted.entries()) {
        const other = never[i]
        if (!other) throw new Error('the lists differ')
        for (const as of ['tokC', 'anon'] as const) {
          const [actual, elsewhere] = [await send(request, as), await send(other, as)]
          const without = (answer: TestResponse): JsonObject => {
            const { text, ...rest } = stable(answer)
            // The response repeats the caller's query.
            return { ...rest, text: String(text).replaceAll(/"(query|applied_filters)":("[^"]*"|\{[^}]*\}+)/g, '') }
          }
          expect(without(actual), request.join(' ')).toEqual(without(elsewhere))
        }
        if (JSON.stringify(stable(await send(request, 'tokA'))) !== JSON.stringify(stable(await send(other, 'tokA'))))
          foundByOwner++
      }
      expect(foundByOwner).toBeGreaterThan(3)
    },
  )

  it('do not influence the order of a list by name', async () => {
    const named = (id: string, name: string) => aidipAgent({ id, name, private: ['name'] })
    await directory.post('/agents', { as: 'tokA', body: named('b-id', 'a secret name') })
    await directory.post('/agents', { as: 'tokA', body: named('a-id', 'z secret name') })
    const listed = await directory.get('/agents?ranked=false&shape=array', { as: 'tokC' })
    expect(listed.json.map(({ name }: { name: string }) => name)).toEqual(['a-id', 'b-id'])
  })
})

describe('validators', () => {
  it('the ETag of a list matches only for callers who see the same agents', async () => {
    await registerPublic()
    await directory.post('/agents', { as: 'tokA', body: aidipAgent(SECRET) })
    for (const path of ['/agents', '/v0/agents', '/ad/l']) {
      const { headers } = await directory.get(path, { as: 'tokA' })
      const tag = headers.get('etag') ?? ''
      expect((await directory.get(path, { as: 'tokA', headers: { 'if-none-match': tag } })).status).toBe(304)
      for (const as of STRANGERS) {
        const answer = await directory.get(path, { as, headers: { 'if-none-match': tag } })
        expect([answer.status, answer.headers.get('etag') === tag], `${path} ${as}`).toEqual([200, false])
      }
      expect(headers.get('vary')).toMatch(/authorization/i)
      expect(headers.get('cache-control')).not.toMatch(/public|max-age=[1-9]/)
    }
    // Everybody sees the same list of public agents.
    const tags = STRANGERS.concat('tokA').map(async (as) => (await directory.get('/agents/public', { as })).headers)
    expect(new Set((await Promise.all(tags)).map((headers) => headers.get('etag'))).size).toBe(1)
  })

  it('the ETag of a document matches only for callers who see the same parts', async () => {
    const body = aidipAgent({ id: 'partly', notes: 'mum', private: ['notes'] })
    await directory.post('/agents', { as: 'tokA', body })
    for (const path of ['/agents/partly', '/discover/agents/partly', '/agents/partly/agent.json']) {
      const tag = (await directory.get(path, { as: 'tokA' })).headers.get('etag') ?? ''
      const answer = await directory.get(path, { headers: { 'if-none-match': tag } })
      expect([answer.status, answer.text.includes('mum')], path).toEqual([200, false])
    }
  })

  it('If-None-Match: * reveals nothing hidden', async () => {
    await directory.post('/agents', { as: 'tokA', body: aidipAgent(SECRET) })
    const headers = { 'if-none-match': '*' }
    expect((await directory.get('/agents/hidden', { headers })).status).toBe(404)
    expect((await directory.get('/agents/hidden', { as: 'tokA', headers })).status).toBe(304)
  })
})

describe('without anonymous discovery', () => {
  it('C-53 every discovery route returns 401, whether or not the agent exists', async () => {
    const closed = await startDirectory({ anonymous: 'none' })
    try {
      await closed.post('/agents', { as: 'tokA', body: aidipAgent({ ...SECRET, visibility: 'public' }) })
      // The directory's description of itself is public.
      const isSelfDescription = (request: Request): boolean =>
        ['get /discover', 'get /.well-known/agent.json'].includes(`${request[0]} ${request[1]}`)
      for (const [method, path, body] of LOOKUPS.filter((request) => !isSelfDescription(request))) {
        for (const at of [path.replace('{n}', '1'), path.replace('{n}', '2').replace('hidden', 'nothing')]) {
          const answer = await closed[method](at, { ...(body && { body }) })
          expectError(answer, { status: 401, code: 'unauthorized' }, at)
          expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
        }
      }
    } finally {
      await closed.close()
    }
  })
})
