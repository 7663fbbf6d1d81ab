import { describe, expect, it } from 'vitest'
import { observeStream } from './observe-stream.js'

/** A stream of two numbers that logs what happens to it. */
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
  const iterator = observeStream(numbers(), {
    onCancel: () => void events.push('cancel'),
    onEnd: (error) => void events.push(error === undefined ? 'end' : `end: ${error}`),
  })
  return { events, iterator }
}

describe('observeStream', () => {
  it('yields all values and reports the end once', async () => {
    const { events, iterator } = counting()
    const values: number[] = []
    for await (const value of iterator) values.push(value)
    await iterator.return?.()
    expect(values).toEqual([1, 2])
    expect(events).toEqual(['finally', 'end', 'cancel'])
  })

  it('runs onCancel before the generator is closed when the reader stops', async () => {
    const { events, iterator } = counting()
    for await (const _ of iterator) break
    expect(events).toEqual(['cancel', 'finally', 'end'])
  })

  it('runs the hooks when the reader stops before the first value', async () => {
    const { events, iterator } = counting()
    await iterator.return?.()
    expect(events).toEqual(['cancel', 'end'])
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it('runs onCancel while a value is awaited, so that the wait can end', async () => {
    let release = (): void => {}
    const wait = new Promise<void>((resolve) => {
      release = resolve
    })
    async function* waiting(): AsyncGenerator<number, void> {
      await wait
      yield 1
    }
    const iterator = observeStream(waiting(), { onCancel: () => release() })
    const pending = iterator.next()
    await iterator.return?.()
    expect(await pending).toEqual({ done: false, value: 1 })
  })

  it('waits for an asynchronous onCancel', async () => {
    const events: string[] = []
    async function* none(): AsyncGenerator<number, void> {}
    const iterator = observeStream(none(), {
      onCancel: async () => {
        await Promise.resolve()
        events.push('cancelled')
      },
    })
    await iterator.return?.()
    expect(events).toEqual(['cancelled'])
  })

  it('reports an error of the stream to onEnd and to the reader', async () => {
    const failures: unknown[] = []
    const broken = new Error('broken')
    async function* failing(): AsyncGenerator<number, void> {
      yield 1
      throw broken
    }
    const iterator = observeStream(failing(), { onEnd: (error) => void failures.push(error) })
    await iterator.next()
    await expect(iterator.next()).rejects.toBe(broken)
    expect(failures).toEqual([broken])
  })
})
