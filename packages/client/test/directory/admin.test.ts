import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../../server/test/support/directory.js'
import { MAX_IMPORTED_AT_ONCE } from '../../src/directory/bulk.js'
import {
  type AdminClient,
  type AuditQuery,
  type AuditRecord,
  createAdminClient,
  type ImportItem,
  type ImportResult,
} from '../../src/index.js'
import { codeOf } from '../transports/support/agent-host.js'

let directory: TestDirectory
let admin: AdminClient
beforeAll(async () => {
  directory = await startDirectory()
  admin = createAdminClient({ baseUrl: directory.url, token: directory.adminKey })
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const agent = (id: string): JsonObject => ({
  id,
  name: id,
  description: 'Does things.',
  capabilities: ['do'],
  endpoint: `https://${id}.example/`,
  operations: [{ name: 'do', inputs: {}, outputs: {} }],
})

async function gather(items: AsyncIterable<ImportItem> | Iterable<ImportItem>): Promise<ImportResult[]> {
  const results: ImportResult[] = []
  for await (const result of admin.importAgents(items)) results.push(result)
  return results
}

describe('the keys of a directory', () => {
  it('are created, listed without their secrets, used and revoked', async () => {
    const created = await admin.createKey({ subject: 'acme', scopes: ['publish'], names: ['acme-*'], expiresIn: 600 })
    expect(created).toMatchObject({ subject: 'acme', scopes: ['publish'], names: ['acme-*'] })
    expect(Date.parse(created.expiresAt ?? '') - Date.now()).toBeLessThanOrEqual(600_000)
    expect(JSON.stringify(created.document)).not.toContain(created.secret)
    const listed = (await admin.listKeys()).find(({ id }) => id === created.id)
    expect(listed).toMatchObject({ subject: 'acme', scopes: ['publish'], names: ['acme-*'] })
    expect(JSON.stringify(listed)).not.toContain(created.secret)
    const register = (id: string) => directory.post('/agents', { key: created.secret, body: agent(id) })
    expect((await register('acme-1')).status).toBe(201)
    await admin.revokeKey(created.id)
    expect((await register('acme-2')).status).toBe(401)
  })

  it('are only for administrators', async () => {
    const stranger = createAdminClient({ baseUrl: directory.url })
    expect(await codeOf(stranger.listKeys())).toBe('unauthorized')
    expect(await codeOf(admin.revokeKey('none'))).toBe('not_found')
    expect(await codeOf(admin.createKey({ subject: '', scopes: ['publish'] }))).toBe('invalid_input')
  })

  it('are not sent over plain HTTP', () => {
    expect(() => createAdminClient({ baseUrl: 'http://directory.example', token: 'secret' })).toThrow(/TLS/)
  })
})

describe('the audit log', () => {
  it('is read entry by entry, oldest first, filtered, and from any position', async () => {
    for (const id of ['first', 'second', 'third']) await directory.post('/agents', { as: 'tokA', body: agent(id) })
    const read = async (query?: AuditQuery) => {
      const entries: AuditRecord[] = []
      for await (const entry of admin.auditLog({ subject: 'tokA', action: 'register', ...query })) entries.push(entry)
      return entries
    }
    const all = (await read()).slice(-3)
    expect(all).toMatchObject(['first', 'second', 'third'].map((id) => ({ actor: 'tokA', agent: id, outcome: 'ok' })))
    expect(all[0]?.document.after).toMatchObject({ owner: 'tokA' })
    const after = all[0]?.cursor ?? ''
    expect(await read({ after })).toEqual(all.slice(1))
    expect(await read({ after, limit: 1 })).toEqual(all.slice(1, 2))
    expect(await read({ outcome: 'refused' })).toEqual([])
    for await (const { agent: id } of admin.auditLog({ action: 'register' })) {
      expect(id).toBeDefined()
      break
    }
  })

  it('is only for administrators, and rejects a wrong position', async () => {
    const stranger = createAdminClient({ baseUrl: directory.url })
    expect(await codeOf(stranger.auditLog().next())).toBe('unauthorized')
    expect(await codeOf(admin.auditLog({ after: 'x' }).next())).toBe('invalid_input')
  })
})

describe('an import', () => {
  it('registers documents of any draft, and returns a result for each in order', async () => {
    const results = await gather([
      { document: agent('one') },
      { document: agent('two'), format: 'aidip', id: 'second', owner: 'acme' },
      { document: { name: 'nothing' } },
      { document: agent('one') },
    ])
    expect(results).toMatchObject([
      { line: 1, status: 'created', id: 'one' },
      { line: 2, status: 'created', id: 'second' },
      { line: 3, status: 'failed', code: expect.any(String), message: expect.any(String) },
      { line: 4, status: 'updated', id: 'one' },
    ])
    expect((await directory.get('/agents/second', { as: 'tokC' })).status).toBe(200)
  })

  it('sends documents while results arrive, and stops reading them when the loop is left', async () => {
    let made = 0
    let isEnded = false
    const endless = async function* (): AsyncGenerator<ImportItem> {
      try {
        for (;;) yield { document: agent(`agent-${++made % 10}`) }
      } finally {
        isEnded = true
      }
    }
    for await (const { status } of admin.importAgents(endless())) {
      expect(status).toBe('created')
      break
    }
    await expect.poll(() => isEnded).toBe(true)
  })

  it('sends many documents with several requests, and counts their lines through', async () => {
    let requests = 0
    const counting = createAdminClient({
      baseUrl: directory.url,
      token: directory.adminKey,
      fetch: (input, init) => {
        requests++
        return fetch(input, init)
      },
    })
    const items = Array.from(
      { length: MAX_IMPORTED_AT_ONCE + 2 },
      (_, i): ImportItem => ({ document: { name: `${i}` } }),
    )
    const lines: number[] = []
    for await (const { line, status } of counting.importAgents(items)) if (status === 'failed') lines.push(line)
    expect(lines).toEqual(items.map((_, i) => i + 1))
    expect(requests).toBe(2)
  })

  it('fails with the error of its source, and when it is aborted or rejected', async () => {
    const broken = async function* (): AsyncGenerator<ImportItem> {
      yield { document: agent('one') }
      throw new Error('the disk is gone')
    }
    await expect(gather(broken())).rejects.toThrow('the disk is gone')
    const items = [{ document: agent('one') }]
    const aborted = admin.importAgents(items, { signal: AbortSignal.abort() })
    expect(await codeOf(aborted.next())).toBe('aborted')
    const stranger = createAdminClient({ baseUrl: directory.url })
    expect(await codeOf(stranger.importAgents(items).next())).toBe('unauthorized')
  })
})
