import { describe, expect, it } from 'vitest'
import { ExpiringMap } from './expiring-map.js'

describe('an expiring map', () => {
  it('drops expired entries', () => {
    let time = 0
    const map = new ExpiringMap<string>({ monotonic: () => time, max: 10 })
    map.set('a', 'x', 100)
    expect(map.get('a')).toBe('x')
    time = 100
    expect(map.get('a')).toBeUndefined()
    expect([...map.values()]).toEqual([])
  })

  it('evicts the oldest entry when it is full', () => {
    const map = new ExpiringMap<number>({ monotonic: () => 0, max: 2 })
    map.set('a', 1, 100)
    map.set('b', 2, 100)
    map.set('a', 3, 100)
    map.set('c', 4, 100)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4])
  })

  it('limits the total size', () => {
    const map = new ExpiringMap<string>({ monotonic: () => 0, max: 10, sizeOf: (text) => text.length, maxSize: 10 })
    map.set('a', 'xxxx', 100)
    map.set('b', 'xxxx', 100)
    expect(map.set('c', 'xxxx', 100)).toBe(true)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 'xxxx', 'xxxx'])
    expect(map.set('d', 'x'.repeat(11), 100)).toBe(false)
    map.delete('b')
    expect(map.set('e', 'xxxxxx', 100)).toBe(true)
    expect(map.get('c')).toBe('xxxx')
  })

  it('rejects entries if nothing can be evicted', () => {
    let time = 0
    const map = new ExpiringMap<string>({ monotonic: () => time, max: 1, isEvictable: (value) => value === 'done' })
    expect(map.set('a', 'running', 100)).toBe(true)
    expect(map.set('b', 'running', 100)).toBe(false)
    expect(map.set('a', 'done', 100)).toBe(true)
    expect(map.set('b', 'running', 100)).toBe(true)
    time = 200
    expect(map.set('c', 'running', 100)).toBe(true)
  })
})
