import { describe, expect, it } from 'vitest'
import type { StoreFault } from '../../store/store-health.js'
import { createStoreStatus } from './store-status.js'

const START = Date.UTC(2026, 0, 1)

function statusWith(fault?: StoreFault) {
  const clock = { time: START }
  const status = createStoreStatus({ health: { fault }, now: () => clock.time, keysMaxStaleSeconds: 3600 })
  return { status, clock }
}

describe('the status of the store', () => {
  it('says how stale the memory is from the first change that could not be read until all are', () => {
    const { status, clock } = statusWith()
    expect(status.warnings()).toEqual([])
    status.synced(START + 200)
    status.missed()
    status.missed()
    clock.time += 60_000
    expect(status.degradedSince).toBe(START + 200)
    expect(status.warnings()).toEqual([expect.stringContaining('the state of 2026-01-01T00:00:00.200Z')])
    status.synced(clock.time)
    expect(status.degradedSince).toBeUndefined()
    expect(status.warnings()).toEqual([])
  })

  it('is degraded, but not stale, while only writes fail', () => {
    const { status } = statusWith({ kind: 'read_only', since: START + 5, reason: 'full' })
    expect(status.degradedSince).toBe(START + 5)
    expect(status.warnings()).toEqual([])
  })

  it('accepts API keys from memory for a limited time', () => {
    const { status, clock } = statusWith()
    status.missed()
    clock.time += 3_600_000
    expect(() => status.assertKeysKnown()).not.toThrow()
    clock.time++
    expect(() => status.assertKeysKnown()).toThrow(expect.objectContaining({ code: 'unavailable', retryAfter: 5 }))
    status.synced(clock.time)
    expect(() => status.assertKeysKnown()).not.toThrow()
  })
})
