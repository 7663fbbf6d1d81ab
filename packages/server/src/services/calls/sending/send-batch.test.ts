import { describe, expect, it } from 'vitest'
import { mapConcurrently } from './send-batch.js'

describe('mapConcurrently', () => {
  it('processes as many items at a time as the limit allows, and returns results in order', async () => {
    const items = Array.from({ length: 50 }, (_, i) => i)
    let running = 0
    let most = 0
    const results = await mapConcurrently(items, 8, async (i) => {
      most = Math.max(most, ++running)
      await new Promise((done) => setImmediate(done))
      running--
      return `${i}`
    })
    expect(results).toEqual(items.map(String))
    expect(most).toBe(8)
  })
})
