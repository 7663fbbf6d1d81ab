import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { lookUp, register } from './register.js'

const BASE = 'https://agents.example.com/a'
const tokA = { as: 'tokA' } as const

describe('size limits', () => {
  let directory: TestDirectory
  beforeAll(async () => {
    directory = await startDirectory()
  })
  afterAll(() => directory.close())
  beforeEach(() => directory.clear())

  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `c${i}`, type: 'tool' }))

  it('AD-8.3-03 allow a body of at most 256 KiB', async () => {
    const exact = (bytes: number): string => {
      const frame = JSON.stringify({ base: BASE, description: '' })
      return JSON.stringify({ base: BASE, description: 'x'.repeat(bytes - frame.length) })
    }
    expectError(await directory.post('/ad/r?agent=x', { ...tokA, raw: exact(262_145) }), { status: 413 })
    expect(await lookUp(directory)).toEqual([])
    expect((await directory.post('/ad/r?agent=x', { ...tokA, raw: exact(262_144) })).status).toBe(201)
  })

  it('AD-8.3-03 allow at most 1000 capabilities, in registrations and updates', async () => {
    for (const count of [1001, 10_001]) {
      const answer = await directory.post('/ad/r?agent=x', { ...tokA, body: { base: BASE, capabilities: many(count) } })
      expect([400, 413], String(count)).toContain(answer.status)
      if (answer.status === 400) expectError(answer, { status: 400, member: '/capabilities' })
    }
    const href = await register(directory, 'x', { base: BASE, capabilities: many(1000) })
    const answer = await directory.post(href, { ...tokA, body: { capabilities: many(1001) } })
    expectError(answer, { status: 400, member: '/capabilities' })
    expect((await directory.get(href)).json.capabilities).toHaveLength(1000)
  })

  it('AD-8.3-03 allow at most 100 tags for a capability', async () => {
    const tagged = (count: number) => ({
      base: BASE,
      capabilities: [{ name: 'x', type: 'tool', tags: Array.from({ length: count }, (_, i) => `t${i}`) }],
    })
    const answer = await directory.post('/ad/r?agent=x', { ...tokA, body: tagged(101) })
    expectError(answer, { status: 400, member: '/capabilities/0/tags' })
    await register(directory, 'x', tagged(100))
  })
})

describe('rate limits', () => {
  it('AD-8.3-02 apply to registrations per caller, separately from lookups', async () => {
    const directory = await startDirectory({ rateLimits: { search: 1e6, register: 5, lookup: 1e6, invoke: 1e6 } })
    try {
      const statuses = []
      for (let i = 0; i < 7; i++) {
        statuses.push((await directory.post(`/ad/r?agent=a${i}`, { ...tokA, body: { base: BASE } })).status)
      }
      expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429])
      const refused = await directory.post('/ad/r?agent=b', { ...tokA, body: { base: BASE } })
      expectError(refused, { status: 429, code: 'rate_limited' })
      const wait = Number(refused.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(12)
      expect((await directory.post('/ad/r?agent=b', { as: 'tokB', body: { base: BASE } })).status).toBe(201)
      expect(await lookUp(directory, '', 'tokA')).toHaveLength(6)
    } finally {
      await directory.close()
    }
  })
})
