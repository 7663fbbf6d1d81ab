import { readQuery } from '@switchboard/search'
import { describe, expect, it } from 'vitest'
import { type CachedSearch, createSearchCache } from './search-cache.js'

const search = (total: number): CachedSearch => ({
  read: { text: { query: readQuery('weather'), vectors: [] }, warnings: [], corrected: [], unknown: [] },
  hits: [],
  total,
  visited: 0,
  factors: [],
  evidence: new Map(),
})

describe('search cache', () => {
  it('keeps searches until the index changes', () => {
    let version = 1
    const cache = createSearchCache(() => version)
    cache.set('a', 1, search(1))
    expect(cache.get('a')?.total).toBe(1)
    expect(cache.get('b')).toBeUndefined()
    version = 2
    expect(cache.get('a')).toBeUndefined()
  })

  it('keeps nothing that was found while the index changed', () => {
    let version = 1
    const cache = createSearchCache(() => version)
    version = 2
    cache.set('a', 1, search(1))
    expect(cache.get('a')).toBeUndefined()
    cache.set('a', 2, search(2))
    expect(cache.get('a')?.total).toBe(2)
  })

  it('drops the searches that were not used for longest if it is full', () => {
    const cache = createSearchCache(() => 1, 7000)
    cache.set('a', 1, search(1))
    cache.set('b', 1, search(2))
    cache.set('c', 1, search(3))
    cache.get('a')
    cache.set('d', 1, search(4))
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key)?.total)).toEqual([1, undefined, 3, 4])
    cache.set('x'.repeat(9000), 1, search(5))
    expect(cache.get('x'.repeat(9000))).toBeUndefined()
  })
})
