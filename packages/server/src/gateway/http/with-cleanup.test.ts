import { describe, expect, it } from 'vitest'
import { withCleanup } from './with-cleanup.js'

/** Numbers, and what happened to them. */
function counting() {
  const events: string[] = []
  async function* numbers(): AsyncGenerator<number, void> {
    try {
      yield 1
      yield 2
    } finally {
      events.push('finally')
    }
  }
  const cleanup = (): void => void events.push('cleanup')
  return { events, iterator: withCleanup(numbers(), cleanup) }
}

describe('withCleanup', () => {
  it('gives all values, and cleans nothing up that ended by itself', async () => {
    const { events, iterator } = counting()
    const values: number[] = []
    for await (const value of iterator) values.push(value)
    expect(values).toEqual([1, 2])
    expect(events).toEqual(['finally'])
  })

  it('cleans up before the generator when the reader stops', async () => {
    const { events, iterator } = counting()
    for await (const _ of iterator) break
    expect(events).toEqual(['cleanup', 'finally'])
  })

  it('cleans up before the first value, when the generator has not begun', async () => {
    const { events, iterator } = counting()
    await iterator.return?.()
    expect(events).toEqual(['cleanup'])
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it('cleans up while a value is awaited, so that the wait can end', async () => {
    let release = (): void => {}
    const wait = new Promise<void>((resolve) => {
      release = resolve
    })
    async function* waiting(): AsyncGenerator<number, void> {
      await wait
      yield 1
    }
    const iterator = withCleanup(waiting(), () => release())
    const pending = iterator.next()
    await iterator.return?.()
    expect(await pending).toEqual({ done: false, value: 1 })
  })

  it('waits for a cleanup that takes time', async () => {
    const { events } = counting()
    async function* none(): AsyncGenerator<number, void> {}
    const iterator = withCleanup(none(), async () => {
      await Promise.resolve()
      events.push('cleaned up')
    })
    await iterator.return?.()
    expect(events).toEqual(['cleaned up'])
  })
})
