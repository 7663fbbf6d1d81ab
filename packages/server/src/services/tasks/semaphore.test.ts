import { describe, expect, it } from 'vitest'
import { createSemaphore } from './semaphore.js'

const signal = new AbortController().signal

/** Jobs that run until `end` is called with their name. */
function createJobs(size: { all: number; each: number }) {
  const semaphore = createSemaphore(size)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const run = (key: string, name: string): Promise<string | undefined> =>
    semaphore(
      key,
      async () => {
        started.push(name)
        await new Promise<void>((resolve) => ends.set(name, resolve))
        return name
      },
      signal,
    )
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { semaphore, started, run, end }
}

describe('createSemaphore', () => {
  it('limits the jobs of one key, and starts jobs of other keys in the meantime', async () => {
    const { started, run, end } = createJobs({ all: 3, each: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) run('a', name)
    run('b', 'b1')
    expect(started).toEqual(['a1', 'a2', 'b1'])
    await end('b1')
    expect(started).toHaveLength(3)
    await end('a1')
    await end('a3')
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  })

  it('limits all jobs, and starts them in the order they were added', async () => {
    const { started, run, end } = createJobs({ all: 1, each: 1 })
    for (const key of ['a', 'b', 'c']) run(key, key)
    for (const key of ['a', 'b', 'c']) await end(key)
    expect(started).toEqual(['a', 'b', 'c'])
  })

  it('skips a job that was aborted while it waited, and continues after one that failed', async () => {
    const { semaphore, started, run, end } = createJobs({ all: 1, each: 1 })
    const aborted = new AbortController()
    const failing = semaphore('a', () => Promise.reject(new Error('no')), signal)
    const skipped = semaphore('b', async () => started.push('b'), aborted.signal)
    aborted.abort()
    await expect(failing).rejects.toThrow('no')
    expect(await skipped).toBeUndefined()
    run('c', 'c')
    await end('c')
    expect(started).toEqual(['c'])
  })
})
