import { describe, expect, it } from 'vitest'
import { createSemaphore } from './semaphore.js'

const signal = new AbortController().signal

/** Works that go on until they are told to end. */
function createWorks(size: { all: number; each: number }) {
  const turns = createSemaphore(size)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const enter = (who: string, name: string): Promise<string | undefined> =>
    turns(
      who,
      async () => {
        begun.push(name)
        await new Promise<void>((resolve) => ends.set(name, resolve))
        return name
      },
      signal,
    )
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { turns, begun, enter, end }
}

describe('a turnstile', () => {
  it('lets so many of one through, and others past those who wait', async () => {
    const { begun, enter, end } = createWorks({ all: 3, each: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) enter('a', name)
    enter('b', 'b1')
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    await end('b1')
    expect(begun).toHaveLength(3)
    await end('a1')
    await end('a3')
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  })

  it('lets so many through in all, in the order in which they came', async () => {
    const { begun, enter, end } = createWorks({ all: 1, each: 1 })
    for (const who of ['a', 'b', 'c']) enter(who, who)
    for (const who of ['a', 'b', 'c']) await end(who)
    expect(begun).toEqual(['a', 'b', 'c'])
  })

  it('passes over who no longer wants to, and lets the next in after one that failed', async () => {
    const { turns, begun, enter, end } = createWorks({ all: 1, each: 1 })
    const gone = new AbortController()
    const failing = turns('a', () => Promise.reject(new Error('no')), signal)
    const left = turns('b', async () => begun.push('b'), gone.signal)
    gone.abort()
    await expect(failing).rejects.toThrow('no')
    expect(await left).toBeUndefined()
    enter('c', 'c')
    await end('c')
    expect(begun).toEqual(['c'])
  })
})
