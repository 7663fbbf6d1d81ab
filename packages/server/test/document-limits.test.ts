import { afterAll, beforeAll, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())

/** A list of small values, of this many in all. */
const list = (values: number): number[][] => Array.from({ length: (values - 1) / 2 }, () => [0])
const profile = {
  id: 'p',
  name: 'P',
  description: '',
  bindings: [{ protocol: 'https', endpoint: 'https://a.example/' }],
}
const LIMIT_MESSAGE = /more than 20000 values .* which is the limit: shorten its lists, or refer to large data by URL/

it.each([
  ['POST /agents', '/agents', aidipAgent()],
  ['POST /discover/agents', '/discover/agents', profile],
  ['POST /ad/r', '/ad/r?agent=d', { base: 'https://a.example/' }],
])('C-76 rejects a document with too many JSON values: %s', async (_, path, document) => {
  const { status, json } = await directory.post(path, { as: 'tokA', body: { ...document, x: list(20_001) } })
  expect(status).toBe(400)
  expect(json.message).toMatch(LIMIT_MESSAGE)
  const largest = await directory.post(path, { as: 'tokA', body: { ...document, x: list(19_901) } })
  expect(largest.status, largest.text).toBe(201)
})

it('C-76 rejects only the line of an import that has too many values', async () => {
  const documents = [aidipAgent({ id: 'good' }), aidipAgent({ id: 'bad', x: list(30_001) })]
  const raw = documents.map((document) => JSON.stringify(document)).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const { text } = await directory.post('/admin/import', { as: 'admin', raw, headers })
  const [good, bad] = text.trim().split('\n')
  expect(JSON.parse(good ?? '')).toMatchObject({ status: 'created', id: 'good' })
  expect(JSON.parse(bad ?? '')).toMatchObject({ status: 'failed', message: expect.stringMatching(LIMIT_MESSAGE) })
})

it('C-76 rejects partial updates that let a document grow beyond the limits', async () => {
  const { headers } = await directory.post('/ad/r?agent=grows', { as: 'tokA', body: { base: 'https://a.example/' } })
  const grow = (body: Record<string, unknown>) =>
    directory.post(String(headers.get('location')), { as: 'tokA', raw: JSON.stringify(body) })
  expect((await grow({ a: list(15_001) })).status).toBe(204)
  expect((await grow({ b: list(15_001) })).json.message).toMatch(LIMIT_MESSAGE)
  expect((await grow({ c: 'x'.repeat(150_000) })).status).toBe(204)
  expect((await grow({ d: 'x'.repeat(150_000) })).status).toBe(413)
})

it('publishes the limits', async () => {
  const { json } = await directory.get('/discover')
  expect(json.limits).toMatchObject({ document_bytes: 262_144, document_values: 20_000 })
})

it('writes views of a bounded size, although they repeat the description and the tags for each capability', async () => {
  const document = aidipAgent({
    id: 'repeats',
    description: 'x'.repeat(100_000),
    tags: Array.from({ length: 100 }, (_, i) => `${i}${'y'.repeat(1000)}`),
    capabilities: Array.from({ length: 1000 }, (_, i) => `c${i}`),
  })
  const { headers } = await directory.post('/agents', { as: 'tokA', body: document })
  expect(headers.get('location')).toBe('/agents/repeats')
  const [entry] = (await directory.get('/ad/l?agent=repeats')).json.agents
  for (const path of ['/agents/repeats/agent.json', entry.href, '/discover/agents/repeats', '/agents/repeats']) {
    const { status, text } = await directory.get(path)
    expect(status, path).toBe(200)
    expect(text.length, path).toBeLessThan(2_000_000)
  }
  expect((await directory.get(`/ad/l?cap_type=skill&tag=7${'y'.repeat(1000)}`)).json.agents).toHaveLength(1)
})
