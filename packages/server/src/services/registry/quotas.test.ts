import { describe, expect, it } from 'vitest'
import { testCatalog } from '../../../test/support/catalog.js'
import { aidipAgent } from '../../../test/support/documents.js'
import type { Caller } from '../../policy/caller.js'
import { memoryOf } from '../../policy/quota.js'
import type { StoredAgent } from '../../store/store.js'
import { createQuotas } from './quotas.js'

const caller: Caller = { subject: 'ann', kind: 'key', scopes: new Set(['publish']), address: '', requestId: '' }

/** A catalog whose agents are counted. */
function setUp(quota = { agents: 10, bytes: 1e6 }) {
  const rows = new Map<string, StoredAgent>()
  const catalog = testCatalog({ get: async (id) => rows.get(id) })
  const quotas = createQuotas({ quotaOf: () => quota, isShared: () => false })
  catalog.subscribe(quotas)
  let revision = 0
  const put = (id: string, changes: Partial<StoredAgent> = {}): void => {
    const at = ++revision
    const times = { createdAt: at, modifiedAt: at, receivedAt: at }
    const document = aidipAgent({ id })
    const row = { id, number: 1, owner: 'ann', format: 'aidip', document, revision, ...times, marks: {} } as const
    rows.set(id, { ...row, ...changes })
    catalog.apply({ ...row, ...changes })
  }
  return { quotas, catalog, put, rows }
}

const size = (id: string): number => memoryOf(aidipAgent({ id }))

describe('the usage of an owner', () => {
  it('follows registrations, updates, removals and other owners', () => {
    const { quotas, catalog, put } = setUp()
    put('a')
    put('b', { number: 2 })
    expect(quotas.usageOf('ann')).toEqual({ agents: 2, bytes: size('a') + size('b') })
    put('a', { document: aidipAgent({ id: 'a', description: '' }) })
    expect(quotas.usageOf('ann').agents).toBe(2)
    put('b', { number: 2, owner: 'ben' })
    expect(quotas.usageOf('ben')).toEqual({ agents: 1, bytes: size('b') })
    put('a', { number: 3, owner: 'ben' })
    catalog.drop('b', 100)
    expect(quotas.usageOf('ann')).toEqual({ agents: 0, bytes: 0 })
    expect(quotas.usageOf('ben')).toEqual({ agents: 1, bytes: size('a') })
  })

  it('follows what another replica has written or removed', async () => {
    const { quotas, catalog, put, rows } = setUp()
    put('a')
    const row = rows.get('a')
    if (row) rows.set('a', { ...row, revision: 9, owner: 'ben' })
    await catalog.reload('a')
    expect([quotas.usageOf('ann').agents, quotas.usageOf('ben').agents]).toEqual([0, 1])
    rows.delete('a')
    await catalog.reload('a')
    expect(quotas.usageOf('ben').agents).toBe(0)
  })

  it('counts reserved room until it is released', () => {
    const { quotas } = setUp({ agents: 1, bytes: 1e6 })
    const room = quotas.reserve(caller, 'ann', aidipAgent())
    expect(() => quotas.reserve(caller, 'ann', aidipAgent())).toThrow(/may register 1 agents and would have 2/)
    room.release()
    expect(quotas.usageOf('ann')).toEqual({ agents: 0, bytes: 0 })
  })
})
