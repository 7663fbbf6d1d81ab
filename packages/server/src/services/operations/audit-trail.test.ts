import { describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../store/store.js'
import { createAuditTrail } from './audit-trail.js'

const entry = (at: number): AuditEntry => ({ at, actor: 'a', action: 'invoke', outcome: 'ok' })

/** An audit store whose first writes fail, as many as given. */
function auditStore(failures = 0) {
  const written: AuditEntry[][] = []
  const appendAudit = async (entries: AuditEntry[]): Promise<void> => {
    if (failures-- > 0) throw new Error('the store is unavailable')
    written.push(entries)
  }
  return { written, store: { appendAudit, audit: async () => written.flat().toReversed() } }
}

describe('the audit trail', () => {
  it('writes entries in batches, in order', async () => {
    const { store, written } = auditStore()
    const trail = createAuditTrail(store, () => {})
    for (let i = 0; i < 2500; i++) trail.add(entry(i))
    await trail.flush()
    expect(written.map(({ length }) => length)).toEqual([1000, 1000, 500])
    expect(written.flat().map(({ at }) => at)).toEqual(Array.from({ length: 2500 }, (_, i) => i))
  })

  it('keeps entries while the store is unavailable', async () => {
    const { store, written } = auditStore(2)
    const errors: unknown[] = []
    const trail = createAuditTrail(store, (error) => errors.push(error))
    trail.add(entry(1))
    await trail.flush()
    trail.add(entry(2))
    await trail.flush()
    expect([written, errors.length]).toEqual([[], 2])
    await trail.flush()
    expect(written.flat().map(({ at }) => at)).toEqual([1, 2])
  })

  it('returns entries that have not been written yet, newest first', async () => {
    const trail = createAuditTrail(auditStore().store, () => {})
    trail.add(entry(1))
    trail.add(entry(2))
    expect((await trail.read({ limit: 10 })).map(({ at }) => at)).toEqual([2, 1])
  })

  it('writes entries without an explicit flush', async () => {
    const { store, written } = auditStore()
    createAuditTrail(store, () => {}).add(entry(1))
    await expect.poll(() => written.length).toBe(1)
  })
})
