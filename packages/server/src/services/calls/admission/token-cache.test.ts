import { describe, expect, it } from 'vitest'
import type { IssuedToken } from './request-token.js'
import { createTokenCache } from './token-cache.js'

const LIFETIME_MS = 600_000

/** A cache with a clock, and an endpoint that issues "1", "2", … or fails. */
function setup() {
  let at = 0
  let count = 0
  let failure: Error | undefined
  const cache = createTokenCache({ monotonic: () => at, random: () => 0.5 })
  const request = async (): Promise<IssuedToken> => {
    count += 1
    if (failure) throw failure
    return { token: String(count), lifetimeMs: LIFETIME_MS }
  }
  return {
    cache,
    get: (key = 'k') => cache.get(key, request),
    pass: (ms: number) => {
      at += ms
    },
    fail: (error: Error | undefined) => {
      failure = error
    },
    requests: () => count,
  }
}

describe('cached tokens', () => {
  it('are requested once for all concurrent callers, and apart for each key', async () => {
    const { get, requests } = setup()
    expect(await Promise.all([get(), get(), get()])).toEqual(['1', '1', '1'])
    expect(await get('other')).toBe('2')
    expect(requests()).toBe(2)
  })

  it('are refreshed in the background before they expire', async () => {
    const { get, pass, requests } = setup()
    await get()
    pass(LIFETIME_MS * 0.8)
    expect(await get()).toBe('1')
    expect(requests()).toBe(1)
    pass(LIFETIME_MS * 0.1)
    expect(await Promise.all([get(), get()])).toEqual(['1', '1'])
    expect(requests()).toBe(2)
    expect(await get()).toBe('2')
  })

  it('are used until they expire if a refresh fails, and never after', async () => {
    const { get, pass, fail } = setup()
    await get()
    pass(LIFETIME_MS * 0.9)
    fail(new Error('endpoint down'))
    expect(await get()).toBe('1')
    pass(LIFETIME_MS * 0.09)
    await expect(get()).rejects.toThrow('endpoint down')
  })

  it('are not requested again right after a failure', async () => {
    const { get, pass, fail, requests } = setup()
    fail(new Error('endpoint down'))
    await expect(get()).rejects.toThrow('endpoint down')
    fail(undefined)
    await expect(get()).rejects.toThrow('endpoint down')
    expect(requests()).toBe(1)
    pass(5001)
    expect(await get()).toBe('2')
  })

  it('are replaced once if the agent rejects them', async () => {
    const { cache, get, pass } = setup()
    await get()
    cache.reject('k', '1')
    cache.reject('k', '1')
    expect(await get()).toBe('2')
    cache.reject('k', '2')
    expect(await get()).toBe('2')
    pass(60_001)
    cache.reject('k', '2')
    expect(await get()).toBe('3')
  })
})
