import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startDemo } from '../../demo/src/index.js'
import {
  exportLineSchema,
  importResultSchema,
  loggedEntrySchema,
  subjectLineSchema,
} from '../src/faces/admin/response-schemas.js'
import { card, startSite, type TestSite } from './crawl/site.js'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { openBrowser } from './support/browser.js'
import { validatorOf } from './support/check-responses.js'
import { createTestClock } from './support/clock.js'
import { type RequestOptions, startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'

// The directory compares each response with the declaration of its route; `close` fails if one differs.
const clock = createTestClock()
let directory: TestDirectory
let agent: TestAgent
let site: TestSite
beforeAll(async () => {
  ;[agent, site] = await Promise.all([startAgent(), startSite({ '/card.json': { body: card() } })])
  directory = await startDirectory(
    {
      crawl: { enabled: true, urls: [], intervalSeconds: 3600, pauseMs: 0, maxAgentsPerSite: 5 },
      probes: { enabled: true, intervalSeconds: 60 },
    },
    { ...clock, startDemo },
  )
})
afterAll(async () => {
  await directory.close()
  await Promise.all([agent.close(), site.close()])
})

const admin = { as: 'admin' } as const
const owner = { as: 'tokA' } as const
const caller = { as: 'tokC' } as const
const NDJSON = { accept: 'application/x-ndjson' }

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Sends a request, which has to succeed. */
async function send(method: Method, path: string, options: RequestOptions = {}): Promise<TestResponse> {
  const response = await directory[method](path, options)
  expect(response.status, `${method} ${path}: ${response.text}`).toBeLessThan(400)
  return response
}

const linesOf = ({ text }: TestResponse): JsonValue[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Every line of a stream fits its schema. */
function expectLines(response: TestResponse, schema: JsonObject): void {
  const lines = linesOf(response)
  expect(lines.length).toBeGreaterThan(0)
  const check = validatorOf(schema)
  for (const line of lines) expect(check(line), `${JSON.stringify(line)} ${JSON.stringify(check.errors)}`).toBe(true)
}

describe('responses are as their routes declare them', () => {
  it('when agents are registered, read and removed', async () => {
    const example = { input: { text: 'hello' } }
    const operations = ['echo', 'feedback'].map((name) => ({
      name,
      description: 'Returns its input.',
      inputs: { text: 'string' },
      outputs: { text: 'string' },
      idempotent: true,
      examples: [example],
    }))
    const document = agent.document({ probes: true, operations, tags: ['probe'], publisher: 'Ada', version: '1.2.0' })
    for (const base of ['', '/v0']) {
      await send('post', `${base}/agents`, { ...owner, body: document })
      await send('put', `${base}/agents/x`, { ...owner, body: document })
      await send('get', `${base}/agents/x`, owner)
      for (const shape of ['array', 'object']) {
        await send('get', `${base}/agents?top=1&shape=${shape}`)
        await send('get', `${base}/agents?q=probes+for+tests&explain=true&shape=${shape}`)
        await send('get', `${base}/agents/public?include_metadata=true&shape=${shape}`)
        await send('post', `${base}/agents/search?shape=${shape}`, {
          body: { query: 'an agnet made for a test', explain: true, facets: ['tags', 'publisher', 'status'] },
        })
        await send('post', `${base}/agents/search?shape=${shape}`, { body: { include_metadata: true, sort: 'newest' } })
      }
      await send('post', `${base}/agents`, { ...owner, body: aidipAgent({ id: 'gone' }) })
      await send('delete', `${base}/agents/gone`, owner)
    }
    await send('post', '/preview', { ...owner, body: fixture('FX-HR') })
    await send('post', '/discover/agents', { ...owner, body: fixture('FX-HR', { id: 'hr' }) })
    await send('post', '/discover/agents', { ...owner, body: fixture('FX-HR', { id: 'hr' }) })
    await send('get', '/discover/agents/hr')
    await send('get', '/discover')
    for (const detail of ['minimal', 'summary', 'full'])
      await send('post', '/discover', {
        body: { query: 'explain vacation rules', detail, include_evidence: true, preferred_tags: ['hr'] },
      })
    await send('post', '/resolve', { body: { intent: 'make a test', policy: { max_cost: 3, region: 'eu' } } })
    await send('get', '/.well-known/ad')
    const { headers } = await send('post', '/ad/r?agent=kb&lt=600', { ...owner, body: fixture('FX-KB') })
    const path = String(headers.get('location'))
    await send('post', '/ad/r?agent=kb', { ...owner, body: fixture('FX-KB') })
    await send('get', path)
    await send('post', path, { ...owner, body: { description: 'new' } })
    await send('get', '/ad/l')
    await send('delete', path, owner)
    const server = {
      name: 'example.tools/weather',
      description: 'Forecasts the weather.',
      version: '1.0.0',
      remotes: [{ type: 'streamable-http', url: 'https://tools.example/mcp' }],
    }
    await send('post', '/agents', { ...owner, body: server })
    for (const id of ['x', 'hr', encodeURIComponent(server.name)])
      for (const file of ['agent.json', 'agent-card.json', 'agent-card.json?version=0.3', 'server.json'])
        await directory.get(`/agents/${id}/${file}`, { headers: { accept: 'application/ld+json, application/json' } })
    for (const path of ['', '/example.tools%2Fweather/versions', '/example.tools%2Fweather/versions/latest'])
      await send('get', `/v0.1/servers${path}`)
    for (const file of ['agents.json', 'agent.json', 'agent-card.json', 'jwks.json', 'oauth-protected-resource'])
      await send('get', `/.well-known/${file}`)
    const { json: listed } = await send('get', '/ard/agents')
    await send('get', `/ard/agents/${encodeURIComponent(listed.items[0].identifier)}`)
    await send('post', '/ard/search', { body: { query: { text: 'a test' } } })
    await send('post', '/ard/explore', { body: { resultType: { facets: [{ field: 'tags' }] } } })
    for (const file of ['ard.json', 'ai-catalog.json']) await send('get', `/.well-known/${file}`)
    await send('get', '/feed')
    await send('get', '/me/agents', owner)
  })

  it('when the demo is started', async () => {
    await send('post', '/admin/demo', admin)
    await send('post', '/admin/demo', admin)
    await send('delete', '/admin/demo', admin)
  })

  it('when agents are called', async () => {
    const call = (path: string, options: RequestOptions = {}): Promise<TestResponse> =>
      send('post', `/agents/x/${path}`, { ...caller, body: { text: 'hello' }, ...options })
    await call('invoke', { body: { operation: 'echo', text: 'hello' } })
    await call('echo')
    await call('echo', { headers: { accept: 'text/event-stream' } })
    await call('echo', { headers: NDJSON })
    await call('echo', { body: [{ text: 'one' }, { text: 2 }] })
    await call('operations/feedback')
    await call('versions/1.2.0/echo')
    await call('feedback', { body: { rating: 4, comment: 'good' } })
    const { json } = await call('echo', { headers: { prefer: 'respond-async' } })
    await send('get', `/tasks/${json.taskId}`, caller)
    await send('get', '/me/tasks', caller)
    await send('delete', `/tasks/${json.taskId}`, caller)
    const parts = [{ kind: 'text', text: 'translate' }]
    const message = { kind: 'message', messageId: '1', role: 'user', parts }
    const search = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
    await send('post', '/a2a', { body: search })
    await send('post', '/agents/x/a2a', { ...caller, body: { ...search, method: 'tasks/get', params: { id: 'none' } } })
    expect((await directory.post('/a2a', { raw: 'no JSON' })).status).toBe(400)
    await send('post', '/mcp', {
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      },
      headers: { accept: 'application/json, text/event-stream' },
    })
    await send('post', '/mcp', {
      body: { jsonrpc: '2.0', method: 'notifications/initialized' },
      headers: { accept: 'application/json, text/event-stream' },
    })
    expect((await directory.post('/mcp', { raw: 'no JSON' })).status).toBe(400)
    await vi.waitFor(
      async () => {
        clock.advance(120)
        expect((await directory.get('/probes/x', owner)).status).toBe(200)
      },
      { timeout: 30_000, interval: 300 },
    )
    await send('get', '/agents/x', owner)
  })

  it('when publishers prove domains, hand agents over and have sites crawled', async () => {
    await send('post', '/domains', { ...owner, body: { domain: 'agents.example' } })
    await send('post', '/domains', { ...owner, body: { domain: 'agents.example' } })
    await send('get', '/domains', owner)
    await send('delete', '/domains/agents.example', owner)
    await send('post', '/agents', { ...owner, body: aidipAgent({ id: 'moving' }) })
    await send('post', '/transfers', { ...owner, body: { agent: 'moving', to: 'tokB' } })
    await send('get', '/transfers', owner)
    await send('get', '/transfers/moving', owner)
    await send('delete', '/transfers/moving', owner)
    await send('post', '/transfers', { ...owner, body: { agent: 'moving', to: 'tokB' } })
    await send('post', '/transfers/moving/accept', { as: 'tokB' })
    await send('post', '/transfers', { ...admin, body: { agent: 'moving', to: 'tokA' } })
    await send('post', '/crawl', { ...owner, body: { url: `${site.url}/card.json` } })
    const { json } = await send('get', '/crawl', owner)
    await send('delete', `/crawl/${json.sites[0].id}`, admin)
  })

  it('when administrators manage the directory', async () => {
    const key = (await send('post', '/admin/keys', { ...admin, body: { subject: 'eve', scopes: ['discover'] } })).json
    await send('get', '/admin/keys', admin)
    await send('get', '/me/keys', { key: key.key })
    await send('delete', `/me/keys/${key.id}`, { key: key.key })
    const other = (await send('post', '/admin/keys', { ...admin, body: { subject: 'eve', scopes: ['discover'] } })).json
    await send('delete', `/admin/keys/${other.id}`, admin)
    const grant = { subject: 'eve', agent: 'x', scopes: ['invoke'] }
    const { id } = (await send('post', '/admin/grants', { ...admin, body: grant })).json
    await send('get', '/admin/grants', admin)
    await send('delete', `/admin/grants/${id}`, admin)
    const marks = { verification: 'verified', quality_score: 4, certification: { by: 'us' }, status: 'active' }
    await send('patch', '/admin/agents/x', { ...admin, body: marks })
    const credential = { type: 'client_credentials', token_url: 'https://issuer.example/token', scope: 'read' }
    const secrets = { client_id: 'directory', client_secret: 'secret' }
    await send('put', '/admin/agents/x/credential', { ...admin, body: { ...credential, ...secrets } })
    await send('get', '/admin/agents/x/credential', admin)
    await send('delete', '/admin/agents/x/credential', admin)
    await send('post', '/admin/signing-keys', admin)
    await send('get', '/admin/subjects/tokA', admin)
    expectLines(await send('get', '/admin/subjects/tokA/export', admin), subjectLineSchema)
    await send('post', '/admin/subjects/tokA/rename', { ...admin, body: { to: 'ada' } })
    await send('delete', '/admin/subjects/tokB', admin)
    const raw = `${JSON.stringify(aidipAgent({ id: 'imported' }))}\n{"document": {}}\n`
    expectLines(await send('post', '/admin/import', { ...admin, raw }), importResultSchema)
    expectLines(await send('get', '/admin/export', admin), exportLineSchema)
    await send('get', '/admin/audit?limit=2', admin)
    expectLines(await send('get', '/admin/audit', { ...admin, headers: NDJSON }), loggedEntrySchema)
    const limits = { agents: 9, calls_per_day: 100 }
    const rule = (await send('post', '/admin/limits', { ...admin, body: { subject: 'tokC', limits } })).json
    await send('get', '/admin/limits', admin)
    await send('get', '/limits', caller)
    await send('delete', `/admin/limits/${encodeURIComponent(rule.id)}`, admin)
    for (const path of ['overview', 'history', 'limits/refused', 'health', 'settings', 'demo'])
      await send('get', `/admin/${path}`, admin)
  })

  it('when administrators manage peers and people sign in', async () => {
    const peer = { name: 'north', url: 'https://north.invalid', trust: 'none', token: 'secret', tags: ['law'] }
    await send('post', '/admin/peers', { ...admin, body: peer })
    await send('get', '/admin/peers', admin)
    await send('patch', '/admin/peers/north', { ...admin, body: { rank_weight: 0.5 } })
    await send('delete', '/admin/peers/north', admin)
    await send('get', '/admin/quarantine', admin)
    const browser = openBrowser(directory)
    await send('get', '/session')
    await browser.signIn(await directory.makeKey({ subject: 'person', scopes: ['discover'] }))
    await send('delete', '/session', browser.writing())
    for (const path of ['/health/live', '/health/ready', '/metrics', '/openapi.json', '/docs', '/problems/not-found'])
      await send('get', path)
  })

  it('for every operation of /openapi.json', async () => {
    const { paths } = (await directory.get('/openapi.json')).json
    const operations = Object.entries(isObject(paths) ? paths : {}).flatMap(([path, methods]) =>
      Object.keys(isObject(methods) ? methods : {}).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const succeeded = new Set([...directory.seen].flatMap((name) => /^(.+) [23]\d\d$/.exec(name)?.[1] ?? []))
    // Add a request for a new operation above, or the test that has one here.
    expect(operations.filter((name) => !succeeded.has(name) && !ELSEWHERE.has(name))).toEqual([])
  })
})

/** Operations that other tests call. */
const ELSEWHERE = new Set([
  'POST /admin/quarantine', // federation/two.test.ts
  'GET /ard/catalogs/{page}', // needs a large directory: ard/manifest.test.ts checks what it is written from
])
