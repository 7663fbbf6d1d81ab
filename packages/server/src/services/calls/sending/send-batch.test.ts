import { describe, expect, it } from 'vitest'
import { mapConcurrently } from './send-batch.js'

const never = (): boolean => false

describe('mapConcurrently', () => {
  it('processes as many items at a time as the limit allows, and returns results in order', async () => {
    const items = Array.from({ length: 50 }, (_, i) => i)
    let running = 0
    let most = 0
    const results = await mapConcurrently(
      items,
      8,
      async (i) => {
        most = Math.max(most, ++running)
        await new Promise((done) => setImmediate(done))
        running--
        return `${i}`
      },
      never,
    )
    expect(results).toEqual(items.map(String))
    expect(most).toBe(8)
  })

  it('has fewer in progress if they are too many, and keeps the last refusal if even one is', async () => {
    const items = Array.from({ length: 30 }, (_, i) => i)
    const mapped = async (allowed: number): Promise<string[]> => {
      let running = 0
      return mapConcurrently(
        items,
        8,
        async (i) => {
          if (running >= allowed) return 'too many'
          running++
          await new Promise((done) => setImmediate(done))
          running--
          return `${i}`
        },
        (result) => result === 'too many',
      )
    }
    expect(await mapped(3)).toEqual(items.map(String))
    expect(await mapped(0)).toEqual(items.map(() => 'too many'))
  })
})
