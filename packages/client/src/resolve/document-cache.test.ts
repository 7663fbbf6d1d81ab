import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDocumentCache } from './document-cache.js'

const entry = (text: string) => ({ text, freshUntil: 0 })

describe('the cache', () => {
  it('evicts the least recently used document', () => {
    const cache = createDocumentCache({ maxEntries: 2 })
    cache.set('a', entry('1'))
    cache.set('b', entry('2'))
    cache.get('a')
    cache.set('c', entry('3'))
    expect([cache.get('a')?.text, cache.get('b'), cache.get('c')?.text]).toEqual(['1', undefined, '3'])
    cache.delete('a')
    expect(cache.get('a')).toBeUndefined()
  })

  it('does not store a document larger than its limit', () => {
    const cache = createDocumentCache({ maxLength: 100 })
    cache.set('a', entry('1'))
    cache.set('b', entry('x'.repeat(200)))
    expect([cache.get('a')?.text, cache.get('b')]).toEqual(['1', undefined])
    cache.set('a', entry('x'.repeat(200)))
    expect(cache.get('a')).toBeUndefined()
  })

  it('never exceeds its limits', () => {
    const step = fc.record({
      url: fc.string({ maxLength: 2 }),
      text: fc.string({ maxLength: 40 }),
      remove: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const cache = createDocumentCache({ maxEntries: 5, maxLength: 100 })
        for (const { url, text, remove } of steps) remove ? cache.delete(url) : cache.set(url, entry(text))
        const kept = [...new Set(steps.map(({ url }) => url))].flatMap((url) => {
          const found = cache.get(url)
          return found ? [url.length + (found.text?.length ?? 0)] : []
        })
        expect(kept.length).toBeLessThanOrEqual(5)
        expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(100)
      }),
    )
  })
})
