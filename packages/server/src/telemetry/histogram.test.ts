import { Histogram as Reference, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createHistogram } from './histogram.js'

const named = { name: 'duration_seconds', help: 'How long it takes', buckets: [0.001, 0.5, 2] }

describe('a histogram', () => {
  it('is written as prom-client writes it', async () => {
    const registry = new Registry()
    const reference = new Reference({ ...named, labelNames: ['method', 'route'], registers: [registry] })
    const ours = createHistogram({ ...named, labels: ['method', 'route'] })
    const seen: [number, string, string][] = [
      [0, 'GET', '/a'],
      [1, 'GET', '/a'],
      [250, 'POST', '/a'],
      [750, 'GET', '/a'],
      [5000, 'GET', '/"b"\\\n'],
    ]
    for (const [ms, method, route] of seen) {
      ours.observe(ms, method, route)
      reference.observe({ method, route }, ms / 1000)
    }
    expect(ours.write()).toBe(await registry.metrics())
  })

  it('without labels is written before anything is observed', async () => {
    const registry = new Registry()
    new Reference({ ...named, registers: [registry] })
    expect(createHistogram(named).write()).toBe(await registry.metrics())
  })
})
