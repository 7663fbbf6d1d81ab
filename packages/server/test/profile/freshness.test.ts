import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { candidates, discover, HR, MINIMAL, profileAgent, publish } from './publish.js'

const clock = createTestClock()
let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({}, clock)
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const
const day = (n: number): string => new Date(Date.UTC(2026, 4, n)).toISOString()
const send = (body: JsonObject, options: { headers?: Record<string, string> } = {}): Promise<TestResponse> =>
  directory.post('/discover/agents', { ...tokA, ...options, body })
const stored = async (id = 'probe'): Promise<JsonObject> => (await directory.get(`/discover/agents/${id}`)).json

describe('an update', () => {
  it('PROF-9-03 PROF-4.8-02 PROF-12-11 that is older never replaces a newer record', async () => {
    await publish(directory, fixture('FX-HR', { updated_at: day(2), description: 'The second edition of it.' }))
    const stale = await send(fixture('FX-HR', { updated_at: day(1), description: 'The first edition of it.' }))
    expectError(stale, { status: 409, code: 'stale_metadata' })
    expect(await stored(HR)).toMatchObject({ updated_at: day(2), description: 'The second edition of it.' })
  })

  it('PROF-9-03 is compared by instant, not by notation', async () => {
    await publish(directory, profileAgent({ updated_at: '2026-05-08T12:00:00+02:00', description: 'At ten, UTC.' }))
    const before = await send(profileAgent({ updated_at: '2026-05-08T09:59:59Z', description: 'Before ten, UTC.' }))
    expectError(before, { status: 409, code: 'stale_metadata' })
    const after = await send(profileAgent({ updated_at: '2026-05-08T10:00:01Z', description: 'After ten, UTC.' }))
    expect(after.status).toBe(200)
  })

  it('PROF-9-05 that is newer refreshes the record', async () => {
    const first = (await publish(directory, profileAgent({ updated_at: day(1) }))).json.freshness
    clock.advance(10)
    const { status, json } = await send(profileAgent({ updated_at: day(2), description: 'The second edition.' }))
    expect(status).toBe(200)
    expect(json.description).toBe('The second edition.')
    expect(json.freshness.metadata_updated_at).toBe(day(2))
    for (const stamp of ['indexed_at', 'received_at']) {
      expect(Date.parse(json.freshness[stamp])).toBeGreaterThanOrEqual(Date.parse(first[stamp]) + 10_000)
    }
  })

  it('PROF-9-04 with the same content is accepted and changes only received_at', async () => {
    const first = (await publish(directory, fixture('FX-D0'))).json
    clock.advance(10)
    const { status, json } = await send(fixture('FX-D0'))
    expect(status).toBe(200)
    expect(json.freshness.indexed_at).toBe(first.freshness.indexed_at)
    expect(Date.parse(json.freshness.received_at)).toBeGreaterThanOrEqual(
      Date.parse(first.freshness.received_at) + 10_000,
    )
    expect((await directory.get('/agents')).json).toHaveLength(1)
  })

  it('PROF-9-02 may be ordered by sequence, which takes precedence over updated_at', async () => {
    await publish(directory, profileAgent({ sequence: 7, updated_at: day(1) }))
    expectError(await send(profileAgent({ sequence: 6, updated_at: day(9), name: 'Old' })), {
      status: 409,
      code: 'stale_metadata',
    })
    expect((await send(profileAgent({ sequence: 8, updated_at: day(1), name: 'New' }))).status).toBe(200)
  })

  it('PROF-9-02 PROF-4.8-02 may be ordered by version', async () => {
    await publish(directory, profileAgent({ version: '1.10.0' }))
    expectError(await send(profileAgent({ version: '1.9.0' })), { status: 409, code: 'stale_metadata' })
    expect((await send(profileAgent({ version: '1.11.0', name: 'Probe II' }))).status).toBe(200)
  })

  it('PROF-9-02 may be conditional on an ETag', async () => {
    await publish(directory, profileAgent({ updated_at: day(5) }))
    const tag = (await directory.get('/discover/agents/probe')).headers.get('etag') ?? ''
    await send(profileAgent({ updated_at: day(6), name: 'Six' }))
    const late = await send(profileAgent({ updated_at: day(7), name: 'Seven' }), { headers: { 'if-match': tag } })
    expectError(late, { status: 412, code: 'stale_metadata' })
    expect((await stored()).name).toBe('Six')
    // The ETag of any view identifies the same revision.
    const other = (await directory.get('/agents/probe')).headers.get('etag') ?? ''
    const good = await send(profileAgent({ updated_at: day(5), name: 'Five' }), { headers: { 'if-match': other } })
    expect(good.status).toBe(200)
    const missing = await send(profileAgent({ id: 'nobody' }), { headers: { 'if-match': '*' } })
    expectError(missing, { status: 412 })
  })

  it('PROF-9-07 with the same timestamp and different content is a conflict', async () => {
    await publish(directory, profileAgent({ updated_at: day(1) }))
    expectError(await send(profileAgent({ updated_at: day(1), name: 'Other' })), { status: 409, code: 'conflict' })
    expect((await stored()).name).toBe('Probe')
  })

  it('PROF-9-07 PROF-12-09 with other bindings is a conflict unless its timestamp is newer', async () => {
    const elsewhere = [{ protocol: 'https', endpoint: 'https://other.example/invoke' }]
    await publish(directory, fixture('FX-D0'))
    expectError(await send(fixture('FX-D0', { bindings: elsewhere })), { status: 409, code: 'conflict' })
    expect((await stored(MINIMAL)).bindings).toEqual(fixture('FX-D0').bindings)
    expect((await send(fixture('FX-D0', { description: 'Answers short questions.' }))).status).toBe(200)
    await publish(directory, fixture('FX-HR'))
    expect((await send(fixture('FX-HR', { updated_at: day(20), bindings: elsewhere }))).status).toBe(200)
    expect((await stored(HR)).bindings).toEqual(elsewhere)
  })

  it('PROF-9-06 PROF-12-09 by another owner is a conflict, whichever draft the agent was registered through', async () => {
    await publish(directory, fixture('FX-HR'))
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'probe' }) })
    for (const body of [fixture('FX-HR', { updated_at: day(20) }), profileAgent({ updated_at: day(20) })]) {
      const answer = await directory.post('/discover/agents', { as: 'tokB', body })
      expectError(answer, { status: 409, code: 'conflict' })
    }
    expect(await stored(HR)).toMatchObject({ updated_at: '2026-05-08T00:00:00Z' })
  })

  it('PROF-9-03 is checked for staleness on every path', async () => {
    await publish(directory, profileAgent({ updated_at: day(5) }))
    const old = aidipAgent({ id: 'probe', updated_at: day(4) })
    expectError(await directory.post('/agents', { ...tokA, body: old }), { status: 409, code: 'stale_metadata' })
    expectError(await directory.put('/agents/probe', { ...tokA, body: old }), { status: 409, code: 'stale_metadata' })
    const [{ href }] = (await directory.get('/ad/l')).json.agents
    const update = await directory.post(href, { ...tokA, body: { updated_at: day(4), description: 'Old news.' } })
    expectError(update, { status: 409, code: 'stale_metadata' })
    expect((await stored()).updated_at).toBe(day(5))
  })
})

describe('concurrent updates', () => {
  const shuffled = (count: number): number[] => {
    const numbers = Array.from({ length: count }, (_, i) => i + 1)
    for (let i = count - 1; i > 0; i--) {
      const j = Math.floor(Math.random() * (i + 1))
      ;[numbers[i], numbers[j]] = [numbers[j] ?? 0, numbers[i] ?? 0]
    }
    return numbers
  }
  const stamp = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString()
  const edition = (n: number): JsonObject =>
    profileAgent({ updated_at: stamp(n), description: `Edition number ${n} of this agent.` })

  it.each([
    ['shuffled', shuffled(50)],
    ['in order', Array.from({ length: 50 }, (_, i) => i + 1)],
    ['backwards', Array.from({ length: 50 }, (_, i) => 50 - i)],
  ])('PROF-9-03 keep the newest if they are sent %s', async (_order, numbers) => {
    await publish(directory, edition(0))
    const answers = await Promise.all(numbers.map((n) => send(edition(n))))
    expect(answers[numbers.indexOf(50)]?.status).toBe(200)
    for (const { status, json } of answers) if (status !== 200) expect(json.code).toBe('stale_metadata')
    expect(await stored()).toMatchObject({ updated_at: stamp(50), description: 'Edition number 50 of this agent.' })
    expect(await candidates(directory, { query: 'edition' })).toEqual(['probe'])
    await directory.restart()
    expect((await stored()).updated_at).toBe(stamp(50))
  })

  it('PROF-9-04 register an agent only once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(edition(1))))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19)
    expect((await directory.get('/agents')).json).toHaveLength(1)
  })
})

describe('freshness and expiry', () => {
  it('PROF-4.8-03 PROF-14-05 PROF-3.1-03 results show when the agent was indexed and when its metadata was updated', async () => {
    await publish(directory, fixture('FX-HR'))
    const { candidates: found } = await discover(directory, { query: 'onboarding' })
    const { metadata_updated_at, indexed_at } = found[0].freshness
    expect(metadata_updated_at).toBe('2026-05-08T00:00:00Z')
    expect(Math.abs(clock.now() - Date.parse(indexed_at))).toBeLessThan(5000)
  })

  it('PROF-4.8-04 results respect the maximum age that a client accepts, counted from the last refresh (C-99)', async () => {
    await publish(directory, profileAgent({ updated_at: day(1) }))
    const request = { query: 'probe', constraints: { max_results_age_seconds: 300 } }
    const fresh = await discover(directory, request)
    expect(fresh.candidates).toHaveLength(1)
    expect(fresh.applied_filters).toEqual({ constraints: { max_results_age_seconds: 300 } })
    clock.advance(301)
    expect(await candidates(directory, request)).toEqual([])
    expect(await candidates(directory, { query: 'probe' })).toEqual(['probe'])
    await send(profileAgent({ updated_at: day(1) }))
    expect(await candidates(directory, request)).toEqual(['probe'])
  })

  it('PROF-4.8-04 a refresh through the Agent Directory counts too', async () => {
    await publish(directory, profileAgent({ updated_at: day(1) }))
    clock.advance(301)
    const [{ href }] = (await directory.get('/ad/l')).json.agents
    await directory.post(href, tokA)
    const constraints = { max_results_age_seconds: 300 }
    expect(await candidates(directory, { query: 'probe', constraints })).toEqual(['probe'])
  })

  it('PROF-4.8-05 PROF-4.1-10 an agent disappears at its expires_at, by the real clock', async () => {
    const real = await startDirectory()
    try {
      const ends = Date.now() + 1500
      await publish(real, profileAgent({ expires_at: new Date(ends).toISOString() }))
      expect(await candidates(real, { query: 'probe' })).toEqual(['probe'])
      await vi.waitFor(async () => expect(await candidates(real, { query: 'probe' })).toEqual([]), {
        timeout: 3000,
        interval: 20,
      })
      expect(Date.now()).toBeGreaterThanOrEqual(ends)
      expect(Date.now()).toBeLessThan(ends + 1000)
      expectError(await real.get('/discover/agents/probe'), { status: 404, code: 'not_found' })
    } finally {
      await real.close()
    }
  })

  it('PROF-4.1-10 a document that has already expired is rejected, and the error names the member', async () => {
    const body = profileAgent({ expires_at: '2020-01-01T00:00:00Z' })
    const { status, json } = await directory.post('/discover/agents', { as: 'tokA', body })
    expect([status, json.error.details[0].member]).toEqual([400, '/expires_at'])
  })

  it('PROF-4.8-05 an agent stays longer after a refresh with a later expires_at', async () => {
    const end = (seconds: number): string => new Date(clock.now() + seconds * 1000).toISOString()
    await publish(directory, profileAgent({ updated_at: day(1), expires_at: end(60) }))
    clock.advance(50)
    await send(profileAgent({ updated_at: day(2), expires_at: end(60) }))
    clock.advance(50)
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(await candidates(directory, { query: 'probe' })).toEqual(['probe'])
    clock.advance(11)
    await vi.waitFor(async () => expect(await candidates(directory, { query: 'probe' })).toEqual([]))
    await directory.restart()
    expect(await candidates(directory, { query: 'probe' })).toEqual([])
  })
})
