import { describe, expect, it } from 'vitest'
import { createViewCache } from './view-cache.js'

describe('createViewCache', () => {
  it('keeps the views used last, up to its size, whatever their number', () => {
    const cache = createViewCache(10_000)
    const agents = Array.from({ length: 100 }, (_, serial) => ({ serial }))
    for (const agent of agents) cache.set(agent, 'card', 'x'.repeat(1000))
    const kept = agents.filter((agent) => cache.get(agent, 'card') !== undefined)
    expect(kept.map(({ serial }) => serial)).toEqual([92, 93, 94, 95, 96, 97, 98, 99])
  })

  it('does not keep a view that is larger than the cache', () => {
    const cache = createViewCache(1000)
    cache.set({ serial: 1 }, 'card', 'x'.repeat(1000))
    expect(cache.get({ serial: 1 }, 'card')).toBeUndefined()
  })

  it('tells agents and views apart, and forgets the views of one agent on request', () => {
    const cache = createViewCache()
    const [one, two] = [{ serial: 1 }, { serial: 2 }]
    cache.set(one, 'a', '1a')
    cache.set(one, 'b', '1b')
    cache.set(two, 'a', '2a')
    cache.clear(one)
    expect([cache.get(one, 'a'), cache.get(one, 'b'), cache.get(two, 'a')]).toEqual([undefined, undefined, '2a'])
    cache.set(one, 'a', 'new')
    expect(cache.get(one, 'a')).toBe('new')
  })
})
