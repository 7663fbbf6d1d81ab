import { describe, expect, it } from 'vitest'
import { afterProbe, nextProbe, showProbe, showProbeDetail } from './probe.js'

const NOW = 1_700_000_000_000
const passed = { operation: 'translate', passed: true, ms: 5 }
const failed = { operation: 'detect', passed: false, ms: 7, reason: 'the agent failed' }

describe('a probe', () => {
  it('passes if all operations do, and counts failures in a row', () => {
    const once = afterProbe(afterProbe(undefined, [passed], NOW), [passed, failed], NOW)
    const twice = afterProbe(once, [failed], NOW)
    expect([once.failures, twice.failures, afterProbe(twice, [passed], NOW).failures]).toEqual([1, 2, 0])
  })

  it('is repeated at the interval, and ever less often while it fails', () => {
    const waits = [0, 1, 2, 3, 4, 5, 9].map((failures) => nextProbe({ at: NOW, results: [], failures }, 100, 0.5))
    expect(waits).toEqual([100, 100, 200, 400, 800, 800, 800])
  })

  it('shows everybody the state and the date, and only its owner the reasons', () => {
    const probe = afterProbe(undefined, [passed, failed], NOW)
    const shown = { state: 'failed', at: new Date(NOW).toISOString() }
    expect(showProbe(probe)).toEqual(shown)
    expect(showProbeDetail(probe)).toEqual({
      ...shown,
      results: [
        { operation: 'translate', state: 'passed', latency_ms: 5 },
        { operation: 'detect', state: 'failed', latency_ms: 7, reason: 'the agent failed' },
      ],
    })
  })
})
