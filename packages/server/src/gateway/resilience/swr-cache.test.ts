import { describe, expect, it } from 'vitest'
import { createSwrCache, type SwrCacheOptions } from './swr-cache.js'

function start(changes: Partial<SwrCacheOptions<string>> = {}) {
  let at = 0
  const asked: string[] = []
  const remembered = createSwrCache<string>({
    now: () => at,
    freshMs: 10,
    usableMs: 100,
    failedMs: 20,
    limit: 100,
    ...changes,
  })
  return {
    asked,
    pass: (ms: number) => {
      at += ms
    },
    get: (key: string, answer: () => Promise<string> = async () => `${key}${asked.length}`) =>
      remembered.get(key, () => {
        asked.push(key)
        return answer()
      }),
  }
}
const fails = (): Promise<string> => Promise.reject(new Error('no'))

describe('what outsiders told', () => {
  it('is asked for once while it is fresh', async () => {
    const { get, pass, asked } = start()
    expect([await get('a'), await get('a')]).toEqual(['a1', 'a1'])
    pass(9)
    expect(await get('a')).toBe('a1')
    expect(asked).toEqual(['a'])
  })

  it('is asked for once by all who come at the same time', async () => {
    const { get, asked } = start()
    expect(await Promise.all([get('a'), get('a'), get('a')])).toEqual(['a1', 'a1', 'a1'])
    expect(asked).toEqual(['a'])
  })

  it('is used while it is asked for again, and then is new', async () => {
    const { get, pass } = start()
    await get('a')
    pass(50)
    expect(await get('a')).toBe('a1')
    await Promise.resolve()
    expect(await get('a')).toBe('a2')
  })

  it('is waited for when it is too old to be used', async () => {
    const { get, pass } = start()
    await get('a')
    pass(100)
    expect(await get('a')).toBe('a2')
  })

  it('stays when asking again fails, and nobody is asked for a while', async () => {
    const { get, pass, asked } = start()
    await get('a')
    pass(50)
    expect(await get('a', fails)).toBe('a1')
    expect(await get('a', fails)).toBe('a1')
    expect(asked).toEqual(['a', 'a'])
    pass(20)
    await get('a')
    expect(asked).toEqual(['a', 'a', 'a'])
  })

  it('is a failure for a while if nothing was told', async () => {
    const { get, pass, asked } = start()
    await expect(get('a', fails)).rejects.toThrow('no')
    await expect(get('a')).rejects.toThrow('no')
    expect(asked).toEqual(['a'])
    pass(20)
    expect(await get('a')).toBe('a2')
  })

  it('is forgotten for what was used later, by number and by size', async () => {
    const few = start({ limit: 2 })
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await few.get(key)
    expect(few.asked).toEqual(['a', 'b', 'c', 'b'])
    const small = start({ size: (value) => value.length, maxSize: 10 })
    const long = async (): Promise<string> => '12345'
    for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await small.get(key, long)
    expect(small.asked).toEqual(['a', 'b', 'c', 'a'])
  })

  it('that is larger than all there is room for is told, and not kept', async () => {
    const { get, asked } = start({ size: () => 11, maxSize: 10 })
    expect([await get('a'), await get('a')]).toEqual(['a1', 'a2'])
    expect(asked).toEqual(['a', 'a'])
  })
})
