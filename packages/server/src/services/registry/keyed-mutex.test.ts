import { expect, it } from 'vitest'
import { createKeyedMutex } from './keyed-mutex.js'

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('runs work for one key one at a time, in the order it was requested', async () => {
  const mutex = createKeyedMutex()
  const events: string[] = []
  const work = (name: string) => async (): Promise<string> => {
    events.push(`${name} begins`)
    await tick()
    events.push(`${name} ends`)
    return name
  }
  const done = await Promise.all(['a', 'b', 'c'].map((name) => mutex.run('agent', work(name))))
  expect(done).toEqual(['a', 'b', 'c'])
  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

it('does not block other keys', async () => {
  const mutex = createKeyedMutex()
  let release = (): void => undefined
  const held = mutex.run('one', () => new Promise<void>((resolve) => (release = resolve)))
  expect(await mutex.run('other', async () => 'done')).toBe('done')
  release()
  await held
})

it('continues after a failure, which is reported only to its own caller', async () => {
  const mutex = createKeyedMutex()
  const failing = mutex.run('agent', async () => {
    throw new Error('broken')
  })
  const next = mutex.run('agent', async () => 'done')
  await expect(failing).rejects.toThrow('broken')
  expect(await next).toBe('done')
})
