import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { profileAgent, publish } from './publish.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({ rateLimits: { search: 10, register: 1e6, lookup: 1e6, invoke: 1e6 } })
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const

describe('an error', () => {
  const failures: [string, number, string, () => Promise<TestResponse>][] = [
    ['PROF-12-05', 400, 'invalid_request', () => directory.post('/discover', { body: { limit: 3 } })],
    [
      'PROF-12-06',
      400,
      'unsupported_filter',
      () =>
        directory.post('/discover', {
          body: { query: 'x', constraints: { colour: 'red' } },
          headers: { prefer: 'return=minimal, handling=strict' },
        }),
    ],
    ['PROF-12-07', 401, 'unauthorized', () => directory.post('/discover/agents', { body: profileAgent() })],
    ['PROF-12-08', 403, 'forbidden', () => directory.post('/discover/agents', { as: 'tokC', body: profileAgent() })],
    ['PROF-12-09', 409, 'conflict', () => directory.post('/discover/agents', { as: 'tokB', body: profileAgent() })],
    ['PROF-12-10', 404, 'not_found', () => directory.get('/discover/agents/nobody')],
    [
      'PROF-12-11',
      409,
      'stale_metadata',
      () => directory.post('/discover/agents', { ...tokA, body: profileAgent({ updated_at: '2026-01-01T00:00:00Z' }) }),
    ],
  ]

  it.each(failures)(
    '%s PROF-12-01 PROF-12-02 PROF-12-03 has status %i and the code %s',
    async (_id, status, code, fail) => {
      await publish(directory, profileAgent({ updated_at: '2026-02-01T00:00:00Z' }))
      const answer = await fail()
      expectError(answer, { status, code })
      expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
      expect(answer.json).not.toHaveProperty('retry_after')
    },
  )

  it('PROF-12-12 PROF-12-04 PROF-7.2-01 has status 429 above the limit, and says how long to wait (C-75)', async () => {
    const sendQuery = () => directory.post('/discover', { as: 'tokC', body: { query: 'x' } })
    const statuses = []
    for (let i = 0; i < 10; i++) statuses.push((await sendQuery()).status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    const refused = await sendQuery()
    expectError(refused, { status: 429, code: 'rate_limited' })
    expect(refused.json.retry_after).toBeGreaterThan(0)
    expect(String(refused.json.retry_after)).toBe(refused.headers.get('retry-after'))
    // The limit is checked before the body is read.
    expect((await directory.post('/discover', { as: 'tokC', body: {} })).status).toBe(429)
    expect((await directory.post('/discover', { as: 'tokB', body: {} })).status).toBe(400)
  })

  it('PROF-12-01 PROF-12-02 has a code and a message on every path of this draft', async () => {
    for (const answer of [
      await directory.put('/discover/agents', { ...tokA, body: {} }),
      await directory.delete('/discover', tokA),
      await directory.get('/discover/nothing'),
      await directory.get('/discover/agents/a/b'),
      await directory.post('/discover/agents', { ...tokA, raw: '{"id":"a","id":"b"}' }),
      await directory.post('/discover/agents', { ...tokA, raw: '' }),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expectError(answer, { status: answer.status })
    }
  })

  it('PROF-12-03 has the client’s request id', async () => {
    const { json } = await directory.get('/discover/agents/nobody', { headers: { 'x-request-id': 'mine-4711' } })
    expect(json.correlation_id).toBe('mine-4711')
  })

  it('PROF-12-07 has status 401 if anonymous discovery is off', async () => {
    await directory.restart({ anonymous: 'none' })
    for (const answer of [
      await directory.post('/discover', { body: { query: 'x' } }),
      await directory.get('/discover/agents/nobody'),
    ]) {
      expectError(answer, { status: 401, code: 'unauthorized' })
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/)
    }
    expect((await directory.get('/discover')).status).toBe(200)
    await directory.restart()
  })
})
