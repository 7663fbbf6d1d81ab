import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { fixture } from '../support/documents.js'
import { register } from './register.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({ rateLimits: { search: 1e6, register: 1e6, lookup: 30, invoke: 1e6 } })
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const
const BASE = 'https://agents.example.com/a'

it('AD-B-05 B.4: claiming another owner’s name is a conflict, and the error names the agent', async () => {
  await register(directory, 'ticket-classifier', fixture('FX-TC'))
  const { status, headers, json } = await directory.post('/ad/r?agent=ticket-classifier', {
    as: 'tokB',
    body: {
      base: 'https://attacker.example.org/ticket-classifier',
      protocols: ['mcp'],
      capabilities: [{ name: 'classify_ticket', type: 'tool' }],
    },
  })
  expect(status).toBe(409)
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
  expect(json).toMatchObject({
    type: expect.stringMatching(/^https?:\/\//),
    title: expect.stringMatching(/./),
    detail: expect.stringContaining('ticket-classifier'),
    status: 409,
  })
})

it('AD-6-01 AD-6-02 AD-6-03 returns a fitting status and a problem document for each failure', async () => {
  const href = await register(directory, 'worker', { base: BASE })
  const failures = {
    400: await directory.post('/ad/r?agent=x', { ...tokA, raw: '{"base":' }),
    401: await directory.post('/ad/r?agent=x', { body: { base: BASE } }),
    403: await directory.delete(href, { as: 'tokB' }),
    404: await directory.get('/ad/r/999999'),
    405: await directory.put(href, { ...tokA, body: { base: BASE } }),
    409: await directory.post('/ad/r?agent=worker', { as: 'tokB', body: { base: BASE } }),
    413: await directory.post('/ad/r?agent=x', { ...tokA, body: { base: BASE, description: 'x'.repeat(300_000) } }),
    415: await directory.post('/ad/r?agent=x', { ...tokA, raw: 'base', headers: { 'content-type': 'text/plain' } }),
  }
  for (const [status, { headers, json, ...answer }] of Object.entries(failures)) {
    expect(answer.status, answer.text).toBe(Number(status))
    expect(headers.get('content-type'), status).toBe('application/problem+json; charset=utf-8')
    expect(json, status).toMatchObject({
      type: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/problems\/[a-z-]+$/),
      title: expect.stringMatching(/./),
      status: Number(status),
      detail: expect.stringMatching(/./),
      instance: expect.stringMatching(/^\/ad\/r/),
      correlation_id: headers.get('x-request-id'),
    })
    expect(headers.get('cache-control'), status).toBe('no-store')
  }
})

it('AD-6-03 AD-8.3-02 answers 429 with Retry-After once the limit is reached', async () => {
  const answers = []
  for (let i = 0; i < 40; i++) answers.push(await directory.get('/ad/l', { as: 'tokC' }))
  const refused = answers.at(-1)
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(30)
  expect(refused?.status).toBe(429)
  expect(refused?.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused?.json.retry_after).toBe(Number(refused?.headers.get('retry-after')))
})

it('AD-6-02 sends the same error body as the other drafts’ routes, in the requested media type (C-68)', async () => {
  const { headers, json } = await directory.get('/agents/nobody', { headers: { accept: 'application/problem+json' } })
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
  const { json: here } = await directory.get('/ad/r/999999')
  expect(Object.keys(here)).toEqual(Object.keys(json))
})
