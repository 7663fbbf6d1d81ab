import { describe, expect, it } from 'vitest'
import { mapConcurrently } from './send-batch.js'

describe('mapConcurrently', () => {
  it('has as many items in progress as the limit allows, and keeps their order', async () => {
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
