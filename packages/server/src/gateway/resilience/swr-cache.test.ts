import { describe, expect, it } from 'vitest'
import { createSwrCache, type SwrCacheOptions } from './swr-cache.js'

function start(changes: Partial<SwrCacheOptions<string>> = {}) {
  let at = 0
  const loads: string[] = []
  const cache = createSwrCache<string>({
    monotonic: () => at,
    freshMs: 10,
    usableMs: 100,
    failedMs: 20,
    limit: 100,
    ...changes,
  })
  return {
    loads,
    pass: (ms: number) => {
      at += ms
    },
    get: (key: string, load: () => Promise<string> = async () => `${key}${loads.length}`) =>
      cache.get(key, () => {
        loads.push(key)
        return load()
      }),
  }
}
const fails = (): Promise<string> => Promise.reject(new Error('no'))

describe('the stale-while-revalidate cache', () => {
  it('loads a value once while it is fresh', async () => {
    const { get, pass, loads } = start()
    expect([await get('a'), await get('a')]).toEqual(['a1', 'a1'])
    pass(9)
    expect(await get('a')).toBe('a1')
    expect(loads).toEqual(['a'])
  })

  it('shares one load between concurrent callers', async () => {
    const { get, loads } = start()
    expect(await Promise.all([get('a'), get('a'), get('a')])).toEqual(['a1', 'a1', 'a1'])
    expect(loads).toEqual(['a'])
  })

  it('returns a stale value while it refreshes it', async () => {
    const { get, pass } = start()
    await get('a')
    pass(50)
    expect(await get('a')).toBe('a1')
    await Promise.resolve()
    expect(await get('a')).toBe('a2')
  })

  it('waits for the load when the value is too old', async () => {
    const { get, pass } = start()
    await get('a')
    pass(100)
    expect(await get('a')).toBe('a2')
  })

  it('keeps a stale value when the refresh fails, and waits before the next one', async () => {
    const { get, pass, loads } = start()
    await get('a')
    pass(50)
    expect(await get('a', fails)).toBe('a1')
    expect(await get('a', fails)).toBe('a1')
    expect(loads).toEqual(['a', 'a'])
    pass(20)
    await get('a')
    expect(loads).toEqual(['a', 'a', 'a'])
  })

  it('caches a failure for a while', async () => {
    const { get, pass, loads } = start()
    await expect(get('a', fails)).rejects.toThrow('no')
    await expect(get('a')).rejects.toThrow('no')
    expect(loads).toEqual(['a'])
    pass(20)
    expect(await get('a')).toBe('a2')
  })

  it('evicts the least recently used value, by number and by size', async () => {
    const few = start({ limit: 2 })
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await few.get(key)
    expect(few.loads).toEqual(['a', 'b', 'c', 'b'])
    const small = start({ size: (value) => value.length, maxSize: 10 })
    const long = async (): Promise<string> => '12345'
    for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await small.get(key, long)
    expect(small.loads).toEqual(['a', 'b', 'c', 'a'])
  })

  it('returns a value over the size limit without keeping it', async () => {
    const { get, loads } = start({ size: () => 11, maxSize: 10 })
    expect([await get('a'), await get('a')]).toEqual(['a1', 'a2'])
    expect(loads).toEqual(['a', 'a'])
  })
})
