import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'
import { expectError } from './support/errors.js'

const AGENTS = 1500

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
  const lines = Array.from({ length: AGENTS }, (_, i) => JSON.stringify({ document: aidipAgent({ id: `agent-${i}` }) }))
  await directory.post('/admin/import', { as: 'admin', raw: lines.join('\n') })
})
afterAll(() => directory.close())

interface Line {
  cursor: string
  at: string
  action: string
  agent?: string
  after?: unknown
}

async function stream(query = ''): Promise<Line[]> {
  const headers = { accept: 'application/x-ndjson' }
  const { text, headers: received } = await directory.get(`/admin/audit${query}`, { as: 'admin', headers })
  expect(received.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

describe('the stream of the audit log', () => {
  it('has every entry, oldest first, with a cursor', async () => {
    const all = await stream()
    const registered = all.filter(({ action }) => action === 'register')
    expect(registered).toHaveLength(AGENTS)
    expect(registered[0]).toMatchObject({ agent: 'agent-0', after: { digest: expect.any(String) } })
    expect(new Set(all.map(({ cursor }) => cursor)).size).toBe(all.length)
    const { json } = await directory.get('/admin/audit?limit=1000', { as: 'admin' })
    const { cursor: _cursor, ...newest } = all.at(-1) ?? {}
    expect(json.entries).toContainEqual(newest)
  })

  it('continues after a cursor, and is filtered and limited', async () => {
    const all = await stream()
    const middle = all[700]?.cursor
    expect(await stream(`?after=${middle}`)).toEqual(all.slice(701))
    expect(await stream(`?after=${middle}&limit=3`)).toEqual(all.slice(701, 704))
    expect(await stream(`?after=${all.at(-1)?.cursor}`)).toEqual([])
    expect((await stream('?agent=agent-1234')).map(({ action }) => action)).toEqual(['register'])
    expect(await stream('?action=none')).toEqual([])
    expect(await stream(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([])
  })

  it('rejects a cursor of another log, and one for the list', async () => {
    const accept = { accept: 'application/x-ndjson' }
    for (const cursor of ['x', '99999999']) {
      const response = await directory.get(`/admin/audit?after=${cursor}`, { as: 'admin', headers: accept })
      expectError(response, { status: 400 })
      expect(response.text).toContain('?after')
    }
    expectError(await directory.get('/admin/audit?after=1', { as: 'admin' }), { status: 400 })
    expectError(await directory.get('/admin/audit?outcome=maybe', { as: 'admin' }), { status: 400 })
    expectError(await directory.get('/admin/audit', { headers: accept }), { status: 401 })
    expectError(await directory.get('/admin/audit', { as: 'tokA', headers: accept }), { status: 403 })
  })

  it('waits for a slow reader', async () => {
    const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${directory.adminKey}` }
    const text = await new Promise<string>((resolve, reject) => {
      get(`${directory.url}/admin/audit`, { headers }, (response) => {
        let received = ''
        response.setEncoding('utf8')
        response.on('error', reject)
        response.on('end', () => resolve(received))
        setTimeout(() => {
          response.on('data', (chunk: string) => {
            received += chunk
          })
        }, 200)
      }).on('error', reject)
    })
    expect(text.split('\n').length).toBeGreaterThan(AGENTS)
  })
})
