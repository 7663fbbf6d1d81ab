import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

const QUOTAS = { agents: 3, bytes: 6000 }
/** Fills most of the quota of bytes. */
const LONG = 'x'.repeat(4000)

let directory: TestDirectory
beforeEach(async () => {
  directory = await startDirectory({ quotas: QUOTAS })
})
afterEach(() => directory.close())

const put = (id: string, description = 'short', as: 'tokA' | 'tokB' | 'admin' = 'tokA'): Promise<TestResponse> =>
  directory.post('/agents', { as, body: aidipAgent({ id, description }) })

const ids = ['a', 'b', 'c']

describe('the quota of an owner', () => {
  it('limits the number of agents, and says so', async () => {
    for (const id of ids) expect((await put(id)).status).toBe(201)
    const refused = await put('d')
    expect(refused.status).toBe(403)
    expect(refused.json).toMatchObject({
      code: 'quota_exceeded',
      error: { code: 'QuotaExceeded' },
      message: expect.stringContaining('"tokA" may register 3 agents and would have 4: remove agents'),
      quota: { name: 'agents', limit: 3, used: 3, requested: 1 },
    })
    expect((await put('d', 'short', 'tokB')).status).toBe(201)
  })

  it('is free again after a removal, and does not count an update', async () => {
    for (const id of ids) await put(id)
    expect((await put('a', 'changed')).status).toBe(200)
    await directory.delete('/agents/b', { as: 'tokA' })
    expect((await put('d')).status).toBe(201)
  })

  it('limits the bytes of all documents together; a document may always become smaller', async () => {
    expect((await put('a', LONG)).status).toBe(201)
    const refused = await put('b', LONG)
    expect(refused.status).toBe(403)
    expect(refused.json.quota).toMatchObject({ name: 'bytes', limit: 6000 })
    expect((await put('b')).status).toBe(403)
    expect((await put('a', LONG.slice(1))).status).toBe(200)
    expect((await put('a', 'short')).status).toBe(200)
    expect((await put('b')).status).toBe(201)
  })

  it('is not exceeded by requests that arrive together', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => put(`agent-${i}`)))
    expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(3)
  })

  it('also applies to the other drafts', async () => {
    for (const id of ids) await put(id)
    const body = { base: 'https://a.example/', protocols: ['https'], capabilities: [] }
    expect((await directory.post('/ad/r?agent=d', { as: 'tokA', body })).status).toBe(403)
    const profile = {
      id: 'd',
      name: 'D',
      description: '',
      bindings: [{ protocol: 'https', endpoint: 'https://a.example/' }],
    }
    expect((await directory.post('/discover/agents', { as: 'tokA', body: profile })).status).toBe(403)
  })

  it('does not apply to administrators, nor to their import', async () => {
    for (let i = 0; i < 5; i++) expect((await put(`own-${i}`, 'short', 'admin')).status).toBe(201)
    const lines = Array.from({ length: 5 }, (_, i) => ({ document: aidipAgent({ id: `for-${i}` }), owner: 'tokA' }))
    const raw = lines.map((line) => JSON.stringify(line)).join('\n')
    const headers = { 'content-type': 'application/x-ndjson' }
    const { text } = await directory.post('/admin/import', { as: 'admin', raw, headers })
    expect(text.match(/"status":"created"/g)).toHaveLength(5)
    expect((await put('one-more')).status).toBe(403)
  })

  it('counts what was registered before a restart, which works although it is more than the quota', async () => {
    for (const id of ids) await put(id)
    await directory.restart({ quotas: { agents: 1, bytes: 100 } })
    expect((await directory.get('/agents')).json).toHaveLength(3)
    expect((await put('d')).status).toBe(403)
    expect((await put('a', 'x')).status).toBe(200)
  })

  it('limits partial updates of a registration', async () => {
    const body = { base: 'https://a.example/', protocols: ['https'], capabilities: [] }
    const { headers } = await directory.post('/ad/r?agent=d', { as: 'tokA', body })
    const grow = (note: string) => directory.post(String(headers.get('location')), { as: 'tokA', body: { note } })
    expect((await grow('short')).status).toBe(204)
    expect((await grow('x'.repeat(6000))).status).toBe(403)
  })
})
