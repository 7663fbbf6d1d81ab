import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { HR, profileAgent, publish } from './publish.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const

it('PROF-3.1-04 PROF-18-01 describes itself, covering each point of the checklist', async () => {
  const { status, headers, json } = await directory.get('/discover')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(json.conformance_level).toBe('D2')
  const ten = [
    'conformance_level',
    'serialization',
    'validation',
    'unknown_fields',
    'freshness',
    'hard_filters',
    'score_components',
    'redaction',
    'federation',
    'abuse_controls',
  ]
  for (const point of ten) expect(JSON.stringify(json[point] ?? ''), point).toMatch(/[a-zA-Z]/)
})

it('PROF-18-01 supports what its description says: constraints, levels of detail, limits', async () => {
  await publish(directory, profileAgent())
  const { json } = await directory.get('/discover')
  for (const name of json.supported_constraints) {
    const constraints = { [name]: name.startsWith('max_') ? 1e6 : 'x' }
    const answer = await directory.post('/discover', { body: { query: 'probe', constraints } })
    expect(answer.json.applied_filters.constraints, name).toEqual(constraints)
    expect(answer.json, name).not.toHaveProperty('unsupported_filters')
  }
  for (const detail of json.detail_levels) {
    expect((await directory.post('/discover', { body: { query: 'probe', detail } })).status, detail).toBe(200)
  }
  const tooMany = Array.from({ length: json.limits.tags + 1 }, (_, i) => `t${i}`)
  expect((await directory.post('/discover/agents', { ...tokA, body: profileAgent({ tags: tooMany }) })).status).toBe(
    400,
  )
  const big = profileAgent({ description: 'x'.repeat(json.limits.document_bytes) })
  expect((await directory.post('/discover/agents', { ...tokA, body: big })).status).toBe(413)
})

it('PROF-3-01 returns 304 to a conditional GET until the agent changes or is refreshed', async () => {
  await publish(directory, fixture('FX-HR'))
  const path = `/discover/agents/${HR}`
  const first = await directory.get(path)
  expect(first.headers.get('last-modified')).toMatch(/GMT$/)
  const known = { headers: { 'if-none-match': first.headers.get('etag') ?? '' } }
  expect((await directory.get(path, known)).status).toBe(304)
  await new Promise((resolve) => setTimeout(resolve, 5))
  await directory.post('/discover/agents', { ...tokA, body: fixture('FX-HR') })
  const refreshed = await directory.get(path, known)
  expect(refreshed.status).toBe(200)
  expect(refreshed.json.freshness.received_at).not.toBe(first.json.freshness.received_at)
})

it('PROF-7.4-02 PROF-7.4-03 shows private parts to the owner only, and marks the document as redacted for others', async () => {
  const document = profileAgent({
    examples: [
      { id: 'ex-1', text: 'Probe the public part.' },
      { id: 'ex-2', text: 'Probe the vault.', private: true },
    ],
    bindings: [
      { protocol: 'https', endpoint: 'https://agents.example.net/probe' },
      { protocol: 'grpc', endpoint: 'grpc://10.0.0.7:9000', private: true },
    ],
    'com.example.billing': 'account 7',
    private: ['com.example.billing'],
  })
  await publish(directory, document)
  const own = await directory.get('/discover/agents/probe', tokA)
  expect(own.json).toMatchObject(document)
  expect(own.json).not.toHaveProperty('redacted')
  for (const as of ['anon', 'tokB', 'tokC'] as const) {
    const { json, text, headers } = await directory.get('/discover/agents/probe', { as })
    expect(json.redacted).toBe(true)
    expect(text).not.toMatch(/vault|10\.0\.0\.7|account 7|billing/)
    expect(json.examples).toEqual([{ id: 'ex-1', text: 'Probe the public part.' }])
    expect(headers.get('etag')).not.toBe(own.headers.get('etag'))
    expect(headers.get('vary')).toMatch(/Authorization/)
  }
})

it('PROF-11-02 presents an agent of another draft as the draft’s mapping table says', async () => {
  await directory.post('/agents', {
    ...tokA,
    body: aidipAgent({
      id: 'translator',
      name: 'Translator',
      tags: ['language'],
      capabilities: ['translation'],
      authentication: { type: 'api_key' },
      version: '1.2.0',
    }),
  })
  const { json } = await directory.get('/discover/agents/translator')
  expect(json).toMatchObject({
    id: 'translator',
    name: 'Translator',
    tags: ['language', 'translation'],
    bindings: [{ protocol: 'https', endpoint: 'https://agents.example.net/probe' }],
    auth: { type: 'api_key' },
    version: '1.2.0',
    status: 'active',
  })
})

it('PROF-14-02 separates the operator’s verification from the publisher’s claims', async () => {
  await publish(directory, profileAgent({ verification: { state: 'verified' }, certification: { level: 'gold' } }))
  const read = async () => (await directory.get('/discover/agents/probe')).json
  expect((await read()).verification).toEqual({ state: 'self-asserted' })
  expect((await read()).certification).toEqual({ level: 'gold' })
  const marks = { verification: 'verified', certification: { level: 'silver' } }
  await directory.patch('/admin/agents/probe', { as: 'admin', body: marks })
  expect((await read()).verification).toMatchObject({
    state: 'verified',
    by: 'admin',
    at: expect.any(String),
    certification: { level: 'silver' },
  })
})

it('PROF-4.1-09 treats an agent without a status as active', async () => {
  await publish(directory, profileAgent())
  const { json } = await directory.post('/discover', { body: { query: 'probe' } })
  expect(json.candidates[0].status).toBe('active')
})

it('PROF-12-10 returns 404 for an agent that does not exist or is hidden from the caller', async () => {
  await publish(directory, profileAgent({ visibility: 'private' }))
  for (const path of ['/discover/agents/nobody', '/discover/agents/probe']) {
    expectError(await directory.get(path, { as: 'tokC' }), { status: 404, code: 'not_found' }, path)
  }
  expect((await directory.get('/discover/agents/probe', tokA)).status).toBe(200)
})
