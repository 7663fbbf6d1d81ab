import { describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../store/store.js'
import { createAuditTrail } from './audit-trail.js'

const entry = (at: number): AuditEntry => ({ at, actor: 'a', action: 'invoke', outcome: 'ok' })

/** A store of which only the audit is used; it fails as often as it is told to. */
function auditStore(failures = 0) {
  const written: AuditEntry[][] = []
  const appendAudit = async (entries: AuditEntry[]): Promise<void> => {
    if (failures-- > 0) throw new Error('the store is away')
    written.push(entries)
  }
  return { written, store: { appendAudit } }
}

describe('the audit trail', () => {
  it('writes what comes together in one go, in order', async () => {
    const { store, written } = auditStore()
    const trail = createAuditTrail(store, () => {})
    for (let i = 0; i < 2500; i++) trail.add(entry(i))
    await trail.flush()
    expect(written.map(({ length }) => length)).toEqual([1000, 1000, 500])
    expect(written.flat().map(({ at }) => at)).toEqual(Array.from({ length: 2500 }, (_, i) => i))
  })

  it('keeps entries while the store does not answer', async () => {
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

  it('writes by itself', async () => {
    const { store, written } = auditStore()
    createAuditTrail(store, () => {}).add(entry(1))
    await expect.poll(() => written.length).toBe(1)
  })
})
