import { expect, it } from 'vitest'
import { createTurns } from './turns.js'

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('does one thing at a time for a name, in the order of asking', async () => {
  const turns = createTurns()
  const events: string[] = []
  const work = (name: string) => async (): Promise<string> => {
    events.push(`${name} begins`)
    await tick()
    events.push(`${name} ends`)
    return name
  }
  const done = await Promise.all(['a', 'b', 'c'].map((name) => turns.take('agent', work(name))))
  expect(done).toEqual(['a', 'b', 'c'])
  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

it('lets other names go on meanwhile', async () => {
  const turns = createTurns()
  let release = (): void => undefined
  const held = turns.take('one', () => new Promise<void>((resolve) => (release = resolve)))
  expect(await turns.take('other', async () => 'done')).toBe('done')
  release()
  await held
})

it('goes on after a failure, which only its own caller hears of', async () => {
  const turns = createTurns()
  const failing = turns.take('agent', async () => {
    throw new Error('broken')
  })
  const next = turns.take('agent', async () => 'done')
  await expect(failing).rejects.toThrow('broken')
  expect(await next).toBe('done')
})
