import { describe, expect, it } from 'vitest'
import { createFairQueue } from './fair-queue.js'

const always = (): boolean => true

describe('a fair queue', () => {
  it('serves callers in turn, and each in the order of its entries', () => {
    const queue = createFairQueue<string>({ all: 10, each: 10 })
    for (const entry of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(entry.charAt(0), entry)
    const served = Array.from({ length: 7 }, () => queue.take(always))
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined])
  })

  it('passes over entries that are not ready without losing their turn', () => {
    const queue = createFairQueue<string>({ all: 10, each: 10 })
    for (const entry of ['a1', 'a2', 'b1']) queue.add(entry.charAt(0), entry)
    expect(queue.take((entry) => entry === 'b1')).toBe('b1')
    expect(queue.take((entry) => entry === 'a2')).toBe('a2')
    expect(queue.take(always)).toBe('a1')
  })

  it('is full at a number of entries, for one caller earlier than for all', () => {
    const queue = createFairQueue<string>({ all: 3, each: 2 })
    expect(['a1', 'a2', 'a3'].map((entry) => queue.add('a', entry))).toEqual([true, true, false])
    expect(['b1', 'b2'].map((entry) => queue.add('b', entry))).toEqual([true, false])
    queue.remove('a', 'a1')
    queue.remove('a', 'a1')
    expect(['b2', 'b3'].map((entry) => queue.add('b', entry))).toEqual([true, false])
  })
})
