import { describe, expect, it } from 'vitest'
import { afterCheck, CLAIM_MS, domainOf, endOfClaim, newClaim } from './domain-proof.js'

const NOW = 1_700_000_000_000
const HOUR = 3_600_000
const claim = newClaim('alice', 'example.com', 'token', NOW)
const proven = afterCheck(claim, 'http', NOW)

describe('a domain', () => {
  it.each([
    ['example.com', 'example.com'],
    ['Agents.Example.COM', 'agents.example.com'],
    ['example.com:8443', 'example.com:8443'],
    ['192.0.2.1', undefined],
    ['localhost', undefined],
    ['https://example.com', undefined],
    ['example.com/path', undefined],
    ['user@example.com', undefined],
    ['', undefined],
  ])('%s can be proven as %s', (text, expected) => {
    expect(domainOf(text, false)).toBe(expected)
  })

  it('is checked ever less often while it is not proven, and given up after a week', () => {
    let [state, at] = [claim, NOW]
    const waits: number[] = []
    for (let i = 0; i < 12; i++) {
      state = afterCheck(state, undefined, at)
      waits.push(state.nextCheckAt - at)
      at = state.nextCheckAt
    }
    expect(waits).toEqual([...waits].sort((a, b) => a - b))
    expect(waits[0]).toBeLessThanOrEqual(60_000)
    expect(waits.at(-1)).toBe(6 * HOUR)
    expect(endOfClaim(state)).toBe(NOW + CLAIM_MS)
  })

  it('is checked daily once it is proven, and its proof keeps its date', () => {
    expect(proven).toMatchObject({ proof: { method: 'http', at: NOW }, nextCheckAt: NOW + 24 * HOUR })
    expect(endOfClaim(proven)).toBeUndefined()
    expect(afterCheck(proven, 'dns', NOW + HOUR).proof).toEqual({ method: 'dns', at: NOW })
  })

  it('loses its proof after three failed checks in a row', () => {
    const once = afterCheck(proven, undefined, NOW + 1)
    const twice = afterCheck(once, undefined, NOW + 2)
    expect([once.proof, twice.proof]).toEqual([proven.proof, proven.proof])
    expect(afterCheck(twice, 'http', NOW + 3)).toMatchObject({ proof: proven.proof, failures: 0 })
    const lost = afterCheck(twice, undefined, NOW + 3)
    expect(lost.proof).toBeUndefined()
    expect(endOfClaim(lost)).toBe(NOW + 3 + CLAIM_MS)
  })
})
